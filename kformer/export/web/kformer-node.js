// The module for Node.js, version 20.16 or newer: a translator, in the thread that loads it.

import { LiteRtEngine, loadLibrary } from "./litert-engine.js";
import { hasRelaxedSimd } from "./relaxed-simd.js";
import { TextTranslator } from "./translator.js";
import { TranslatorError } from "./translator-error.js";

export { TranslatorError };

const { readFile } = process.getBuiltinModule("node:fs/promises");
const { pathToFileURL } = process.getBuiltinModule("node:url");

/** Translates in this thread; between two sentences others have their turn. */
export class Translator extends TextTranslator {
  /**
   * @param {string | URL} url A path or an address of a .tflite file; by default the one beside
   *     this module.
   * @param {{signal: AbortSignal}} options
   * @returns {Promise<Translator>}
   */
  static async load(url = new URL("./translator.tflite", import.meta.url), { signal } = {}) {
    signal?.throwIfAborted();
    const bytes = await read(URL.canParse(url) ? new URL(url) : pathToFileURL(url));
    return new Translator(new ThreadEngine(await LiteRtEngine.load(bytes, loadBuild())));
  }
}

/** Loads the build of LiteRT that runs in this version of Node.js. */
async function loadBuild() {
  const build = new URL(`./litert/litert_wasm${hasRelaxedSimd() ? "" : "_compat"}_internal`, import.meta.url);
  const { default: createModule } = await import(`${build.href}.js`);
  const compiled = async () => WebAssembly.compile(await readFile(new URL(`${build.href}.wasm`)));
  return loadLibrary({ createModule, compiled });
}

async function read(url) {
  if (url.protocol === "file:") return new Uint8Array(await readFile(url));
  const response = await fetch(url);
  if (!response.ok) throw new TranslatorError("missing model", { file: url.href, status: response.status });
  return new Uint8Array(await response.arrayBuffer());
}

class ThreadEngine {
  #engine;
  #done = Promise.resolve(); // When the texts before are translated.

  constructor(engine) {
    this.#engine = engine;
    const { metadata, examples, size } = engine;
    Object.assign(this, { metadata, examples, size });
  }

  /** As of `TextTranslator`. */
  translateSentences(sentences, { target, signal, onSentence }) {
    const isCancelled = () => Boolean(signal?.aborted);
    const result = this.#done.then(() => {
      if (!this.#engine) throw new TranslatorError("closed");
      return this.#engine.translate(sentences, target, onSentence, isCancelled);
    });
    this.#done = result.catch(() => {});
    return result.then((spent) => spent ?? Promise.reject(signal.reason));
  }

  close() {
    const engine = this.#engine;
    this.#engine = null;
    if (engine) this.#done.then(() => engine.close());
  }
}
