// Translates sentences in a worker, which litert-worker.js describes.

import { hasRelaxedSimd } from "./relaxed-simd.js";
import { TranslatorError } from "./translator-error.js";

/**
 * Starts a worker and has it load a translator.
 * @param {URL} url Of a .tflite file.
 * @param {{onProgress: function({stage, loaded, total}), signal: AbortSignal}} options
 */
export function openEngine(url, { onProgress, signal }) {
  signal?.throwIfAborted();
  const worker = startWorker();
  return new Promise((resolve, reject) => {
    const end = (reason) => {
      worker.terminate();
      reject(reason);
    };
    signal?.addEventListener("abort", () => end(signal.reason), { once: true });
    worker.onerror = (event) => {
      event.preventDefault?.();
      end(new TranslatorError("no start"));
    };
    worker.onmessage = ({ data }) => {
      if (data.type === "progress") onProgress?.({ stage: data.stage, loaded: data.loaded, total: data.total });
      if (data.type === "failed") end(new TranslatorError(data.code, data.values));
      if (data.type === "ready") resolve(new WorkerEngine(worker, data));
    };
    worker.postMessage({ type: "load", url: String(url) });
  });
}

// A bundler finds the workers by these two expressions.
function startWorker() {
  return hasRelaxedSimd()
    ? new Worker(new URL("./worker.js", import.meta.url), { type: "module" })
    : new Worker(new URL("./worker-compat.js", import.meta.url), { type: "module" });
}

class WorkerEngine {
  #worker;
  #texts = new Map(); // id -> what waits for the text.
  #newest = 0;
  #ended = null; // Why it translates nothing any more.

  constructor(worker, { metadata, examples, size }) {
    Object.assign(this, { metadata, examples, size });
    this.#worker = worker;
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = () => this.#end(new TranslatorError("no start"));
  }

  /** As of `TextTranslator`. */
  translateSentences(sentences, { target, signal, onSentence }) {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = (this.#newest += 1);
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#texts.delete(id);
        this.#worker.postMessage({ type: "cancel", id });
        reject(signal.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      const settle = (how) => (value) => {
        this.#texts.delete(id);
        signal?.removeEventListener("abort", cancel);
        how(value);
      };
      this.#texts.set(id, { onSentence, resolve: settle(resolve), reject: settle(reject) });
      this.#worker.postMessage({ type: "translate", id, sentences, target });
    });
  }

  close() {
    this.#worker.terminate();
    this.#end(new TranslatorError("closed"));
  }

  #receive(data) {
    const text = this.#texts.get(data.id);
    if (!text) return; // It was cancelled.
    if (data.type === "sentence") text.onSentence(data.index, data.found);
    if (data.type === "translated") text.resolve({ milliseconds: data.milliseconds, runs: data.runs });
    if (data.type === "failed") text.reject(new TranslatorError(data.code, data.values));
  }

  #end(reason) {
    this.#ended ??= reason;
    for (const text of [...this.#texts.values()]) text.reject(reason);
  }
}
