// Translates sentences with LiteRT.js and a .tflite file: in a worker, or in the thread of Node.js.

import { filesAtTheEnd } from "./archive.js";
import { halves } from "./clauses.js";
import { translationFlags } from "./flags.js";
import { joined, withSources } from "./joining.js";
import { loadAndCompile, loadLiteRt, Tensor } from "./litert/index.js";
import { prepareLibrary } from "./litert-library.js";
import { pieceOfPart } from "./marks.js";
import { checkedAnswer, readingOf } from "./readings.js";
import { Stages } from "./stages.js";
import { TranslatorError } from "./translator-error.js";

const NEWEST_FORMAT = 2;
const SIGNATURE = "translate";
const [SOURCE_CUT, TRANSLATION_CUT] = [1, 2]; // Bits of the output `truncated`.
const KEPT = 10_000; // Maximum number of cached translations.

let loading = null; // LiteRT is loaded once.
let turn = Promise.resolve(); // When LiteRT has nothing to do.
const failures = []; // LiteRT's messages on failed operations; run() does not throw.

/** A build of LiteRT: its script, and how to get its compiled code. */
export function loadLibrary({ createModule, compiled }) {
  loading ??= start(createModule, compiled).catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function start(createModule, compiled) {
  await prepareLibrary(createModule, await compiled(), (line) => {
    if (/ERROR/.test(line)) failures.push(line);
  });
  await loadLiteRt("prepared.js");
}

/** Translates sentences one by one; the caller waits for one text before it gives the next. */
export class LiteRtEngine {
  #stages;
  #special;
  #remembered = new Map();

  /**
   * @param {Uint8Array} bytes A whole .tflite file.
   * @param {Promise} library From `loadLibrary`.
   */
  static async load(bytes, library) {
    library.catch(() => {}); // Awaited below; until then not an unhandled rejection.
    const files = archiveOf(bytes);
    const metadata = files["kformer.json"];
    if (!(metadata?.format >= 2)) throw new TranslatorError("no translator");
    if (metadata.format > NEWEST_FORMAT) {
      throw new TranslatorError("newer model", { format: metadata.format });
    }
    await checkWhole(bytes, metadata);
    await library;
    const stages = new Stages(bytes, SIGNATURE, metadata, compile);
    const engine = new LiteRtEngine(stages, files, bytes.length);
    try {
      await engine.#run("", Object.keys(metadata.target_languages ?? {})[0] ?? null); // The first run is slow.
    } catch (error) {
      engine.close();
      throw error;
    }
    return engine;
  }

  constructor(stages, files, size) {
    this.#stages = stages;
    this.metadata = files["kformer.json"];
    this.examples = (files["test_vectors.json"] ?? []).map(({ text }) => text);
    this.size = size;
    const { padding_id: padding, target_end_id, end_id } = this.metadata;
    this.#special = { padding, end: target_end_id ?? end_id };
  }

  /** Frees the memory of the model, after what is being done. */
  close() {
    this.#remembered.clear();
    const stages = this.#stages;
    this.#stages = null;
    if (stages) inTurn(() => stages.delete());
  }

  /**
   * Translates sentences in their order.
   * @param {string[]} sentences
   * @param {?string} target Code of the language, for a file with several.
   * @param {function(number, object)} onSentence Receives each index and its {text, flags, quality}.
   * @param {function(): boolean} isCancelled Asked before each sentence.
   * @returns {Promise<?{milliseconds: number, runs: number}>} null if it was cancelled.
   */
  async translate(sentences, target, onSentence, isCancelled) {
    const spent = { milliseconds: 0, runs: 0 };
    for (const [index, sentence] of sentences.entries()) {
      const found = await this.#whole(sentence, target, spent, isCancelled);
      if (!found) return null;
      onSentence(index, found);
    }
    return spent;
  }

  /**
   * Returns the translation of a sentence, remembered or new; null if it was cancelled. What does
   * not fit the file is halved at a clause, until it does.
   */
  async #whole(sentence, target, spent, isCancelled) {
    const key = JSON.stringify([target, sentence]);
    if (this.#remembered.has(key)) return this.#remembered.get(key);
    await messagesAreIn();
    if (isCancelled()) return null;
    const before = performance.now();
    const reading = readingOf(sentence, this.metadata);
    let found = checkedAnswer(sentence, reading, await this.#run(reading.read, target));
    spent.milliseconds += performance.now() - before;
    spent.runs += 1;
    const isCut = found.flags.includes("source cut") || found.flags.includes("translation cut");
    const pieces = withSources(((isCut && halves(sentence)) || []).map(pieceOfPart));
    if (pieces.length) {
      const parts = [];
      for (const piece of pieces) {
        const part = await this.#whole(piece.source, target, spent, isCancelled);
        if (!part) return null;
        parts.push(part);
      }
      const flags = new Set(["source split", ...parts.flatMap((part) => part.flags)]);
      const quality = lowest(parts.map((part) => part.quality));
      found = { text: joined(pieces, parts.map((part) => part.text)), flags: [...flags], quality };
    }
    if (this.#remembered.size >= KEPT) {
      this.#remembered.delete(this.#remembered.keys().next().value);
    }
    this.#remembered.set(key, found);
    return found;
  }

  /**
   * Runs the file once.
   * @returns {Promise<{text: string, flags: string[], quality: number | undefined}>} `flags` are
   *     those that the ids show, as in Python, and "translation cut" if the end of the translation
   *     did not fit; `quality` is undefined for a file without an estimate.
   */
  async #run(line, target) {
    const { metadata } = this;
    const bytes = new Uint8Array(metadata.max_source_bytes);
    line = line.replace(/\0+$/, ""); // Zeros at the end are padding.
    // Writes whole characters only; lone surrogates become U+FFFD.
    const { read, written } = new TextEncoder().encodeInto(line, bytes);
    const inputs = { source: new Tensor(bytes, [bytes.length]) };
    if (metadata.target_languages) {
      const id = new Int32Array([metadata.target_languages[target]]);
      inputs.target_language = new Tensor(id, [1]);
    }
    const stages = this.#stages;
    const isLong = stages.isLong(written);
    let found = await answer(stages, isLong, inputs);
    if (!isLong && !stages.isShort(this.#count(found))) {
      for (const tensor of Object.values(found)) tensor.delete();
      found = await answer(stages, true, inputs);
    }
    const translation = found.translation.toTypedArray();
    const [truncated] = found.truncated.toTypedArray();
    const quality = found.quality?.toTypedArray()[0];
    const ids = [found.source_ids, found.ids].map((tensor) => Array.from(tensor.toTypedArray()));
    const end = translation.indexOf(0);
    const text = new TextDecoder().decode(translation.slice(0, end < 0 ? undefined : end));
    for (const tensor of [...Object.values(inputs), ...Object.values(found)]) tensor.delete();
    const cut = read < line.length || (truncated & SOURCE_CUT) > 0;
    const flags = translationFlags(...ids, cut, this.#special);
    if (truncated & TRANSLATION_CUT) flags.push("translation cut");
    if (quality < metadata.quality_estimate?.threshold) flags.push("unsure");
    return { text, flags, quality };
  }

  /** Returns the number of ids of the source. */
  #count({ source_ids: ids }) {
    const { padding } = this.#special;
    return ids.toTypedArray().reduce((count, id) => count + Number(id !== padding), 0);
  }
}

function archiveOf(bytes) {
  try {
    return filesAtTheEnd(bytes);
  } catch {
    throw new TranslatorError("broken model");
  }
}

/** Throws if the model is not the one of its metadata. Files of kformer 0.1 have no checksum. */
async function checkWhole(bytes, { sha256, model_bytes: size }) {
  if (!sha256 || !globalThis.crypto?.subtle) return; // Only local and encrypted pages have it.
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.subarray(0, size)));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== sha256) throw new TranslatorError("changed model");
}

/** Runs a stage, which is compiled first if it is new. */
async function answer(stages, isWhole, inputs) {
  const signature = await stages.signature(isWhole);
  return inTurn(() => signature.run(inputs));
}

function compile(bytes) {
  return inTurn(() => loadAndCompile(bytes, { accelerator: "wasm" }));
}

/** Does something with LiteRT after all that is being done, so that its failures are its own. */
function inTurn(work) {
  const result = turn.then(async () => {
    failures.length = 0;
    const returned = await work();
    if (failures.length) {
      throw new TranslatorError("failed operation", { lines: failures.splice(0).join("\n") });
    }
    return returned;
  });
  turn = result.catch(() => {});
  return result;
}

/** Waits until pending messages are handled, because a run blocks this thread. */
function messagesAreIn() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Returns the lowest of the numbers, or undefined if there are none. */
function lowest(numbers) {
  const known = numbers.filter((number) => number !== undefined);
  return known.length ? Math.min(...known) : undefined;
}
