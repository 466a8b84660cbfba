// A translator for browsers.

import { TextTranslator } from "./translator.js";
import { openEngine } from "./worker-engine.js";

/** Translates in a worker, so that the page never waits. */
export class Translator extends TextTranslator {
  /**
   * @param {string | URL} url A .tflite file, relative to the document; by default the one beside
   *     this module.
   * @param {{onProgress: function({stage, loaded, total}), signal: AbortSignal}} options `stage` is
   *     "loading", then "starting"; `total` is 0 if the server does not send it.
   * @returns {Promise<Translator>}
   */
  static async load(url = new URL("./translator.tflite", import.meta.url), options = {}) {
    return new Translator(await openEngine(new URL(url, document.baseURI), options));
  }
}
