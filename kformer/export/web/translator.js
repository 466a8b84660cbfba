// Translates a text with an engine that translates sentences.

import { directionsOf } from "./directions.js";
import { joined } from "./joining.js";
import { sentenceSplitter } from "./sentences.js";

/**
 * A translator of text. kformer.js has the one for browsers, kformer-node.js the one for Node.js.
 *
 * An engine has `metadata`, `examples` and `size` of a file, translates sentences, and is closed.
 */
export class TextTranslator {
  #engine;
  #splitters = new Map();

  constructor(engine) {
    this.#engine = engine;
    this.metadata = engine.metadata;
    this.examples = engine.examples;
    this.size = engine.size;
    this.directions = directionsOf(engine.metadata);
  }

  /** Returns the translation of a text; line breaks and what has no letter stay as they are. */
  async translate(text, options = {}) {
    return (await this.translation(text, options)).text;
  }

  /**
   * Returns the translation of a text with that of each sentence.
   * @param {string} text
   * @param {{source: string, target: string, signal: AbortSignal}} options The codes of both
   *     languages, by default of the first direction; `signal` stops it between two sentences.
   * @returns {Promise<{text: string, flags: string[], lines: {text: string, sentences: object[]}[]}>}
   */
  async translation(text, { source, target, signal } = {}) {
    if (typeof text !== "string") {
      throw new TypeError(`A text must be a string. Received: ${typeof text}.`);
    }
    const direction = this.direction({ source, target });
    const lines = text.split("\n").map((line) => this.pieces(line, direction.source));
    const pieces = lines.map((line) => line.filter((piece) => piece.source));
    const sentences = pieces.flat().map((piece) => piece.source);
    const found = [];
    const onSentence = (index, sentence) => (found[index] = sentence);
    await this.translateSentences(sentences, { ...direction, signal, onSentence });
    let done = 0;
    const translated = lines.map((line, i) => {
      const own = found.slice(done, (done += pieces[i].length));
      const texts = own.length ? own.map((sentence) => sentence.text) : line.map(() => "");
      const withTheirs = own.map((sentence, n) => ({ source: pieces[i][n].source, ...sentence }));
      return { text: joined(line, texts), sentences: withTheirs };
    });
    const flags = [...new Set(found.flatMap((sentence) => sentence.flags))];
    return { text: translated.map((line) => line.text).join("\n"), flags, lines: translated };
  }

  /**
   * Translates sentences one by one.
   * @param {string[]} sentences
   * @param {object} options `source` and `target` of a direction; `signal`; `onSentence`, which
   *     receives each index with its {text, flags, quality}; `markups`, the HTML of sentences, for
   *     an engine that translates it as a whole.
   * @returns {Promise<{milliseconds: number, runs: number}>} Of those that were not remembered.
   */
  translateSentences(sentences, options) {
    options.signal?.throwIfAborted();
    return this.#engine.translateSentences(sentences, options);
  }

  /** Returns the pieces {before, source, after} of a line in a language: joined, they are the line. */
  pieces(line, language) {
    if (!this.#splitters.has(language)) this.#splitters.set(language, sentenceSplitter(language));
    return this.#splitters.get(language)(line);
  }

  /** Returns the first direction with the given languages; both may be left out. */
  direction({ source, target }) {
    const fits = (direction) =>
      (source === undefined || direction.source === null || direction.source === source) &&
      (target === undefined || direction.target === target);
    const found = this.directions.find(fits);
    if (!found) {
      const known = this.directions.map((each) => `${each.source ?? "any"}-${each.target}`).join(", ");
      throw new RangeError(
        `This translator has the directions ${known}. Received: ${source ?? "any"}-${target ?? "any"}.`,
      );
    }
    return found;
  }

  /** Frees the memory of the translator, which translates nothing any more. */
  close() {
    this.#engine.close();
  }
}
