// The signature of a translator, compiled in two stages: first for short sentences, which a page
// answers sooner; the rest when a longer one comes.

import { keepGraphs } from "./graphs.js";
import { TranslatorError } from "./translator-error.js";

const LARGE = 10_000_000; // Bytes from which two stages are worth a second copy of the file.
const SHORT = 32; // Most ids of a sentence of the first stage.
const BYTES_PER_ID = 3; // Fewer than most languages have, so that few sentences are run twice.

export class Stages {
  #bytes;
  #compile;
  #lengths;
  #models = [];

  /**
   * @param {Uint8Array} bytes A .tflite file, which is changed.
   * @param {string} name Of the signature.
   * @param {{lengths: number[] | undefined}} metadata
   * @param {function(Uint8Array): Promise} compile Resolves to a model of LiteRT.
   */
  constructor(bytes, name, { lengths }, compile) {
    this.#bytes = bytes;
    this.name = name;
    this.#compile = compile;
    const hasStages = bytes.length >= LARGE && lengths?.length > 2 && lengths.includes(SHORT);
    this.#lengths = hasStages ? lengths : [];
  }

  /** Returns whether sentences of so many bytes are likely to need the second stage. */
  isLong(bytes) {
    return bytes > SHORT * BYTES_PER_ID;
  }

  /** Returns whether a sentence of so many ids fits the first stage. */
  isShort(ids) {
    return !this.#lengths.length || ids <= SHORT;
  }

  /**
   * Returns the signature of a stage, compiled when it is first needed.
   * @param {boolean} isWhole Of the stage for sentences of all lengths.
   */
  async signature(isWhole) {
    const stage = isWhole && this.#lengths.length ? 1 : 0;
    this.#models[stage] ??= await this.#compile(this.#graphs(stage));
    return this.#models[stage].signatures[this.name];
  }

  /** Deletes the models. */
  delete() {
    for (const model of this.#models.splice(0)) model?.delete();
  }

  #graphs(stage) {
    const isFirst = this.#lengths.length && !stage;
    const bytes = isFirst ? this.#bytes.slice() : this.#bytes;
    const isKept = isFirst ? (length) => length === SHORT : (length) => length > SHORT;
    let hasSignature;
    try {
      hasSignature = keepGraphs(bytes, this.name, this.#lengths, isKept);
    } catch {
      throw new TranslatorError("broken model");
    }
    if (!hasSignature) throw new TranslatorError("no translator");
    if (!isFirst) this.#bytes = null;
    return bytes;
  }
}
