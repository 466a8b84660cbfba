// Asks the server for translations, in place of worker-engine.js of the export.

import { AUTO, codesOf } from "./directions.js";
import { offerFiles } from "./server-files.js";
import { offerApi } from "./server-api.js";
import { ask } from "./server-requests.js";
import { TranslatorError } from "./translator-error.js";

const KEPT = 10_000; // Maximum number of cached translations.
// A long text is sent in portions, which are shown as they come. Each should take about so long:
const [QUICK, SLOW] = [300, 1000]; // Milliseconds.
const [FIRST, MOST] = [4, 128]; // Sentences of a portion.
const MOST_CHARACTERS = 10_000; // Of a portion, or a single sentence.
const MOST_DETECTED = 3_000; // Characters whose language is detected.

/** Opens the translators of the server: its first one, or all of them, by their languages. */
export async function openEngine(_url, { signal }) {
  const { data } = await ask("v1/models", null, signal);
  const translators = data.filter(({ kind }) => kind === "translator");
  if (!translators.length) throw new TranslatorError("no model");
  const directions = [...new Set(translators.flatMap((each) => each.directions))];
  const isOne = translators.length === 1 || !directions.length;
  const model = isOne ? translators[0] : { ...translators[0], id: undefined, target_languages: [], directions };
  offerFiles();
  offerApi(model);
  return new ServerEngine(model);
}

class ServerEngine {
  #remembered = new Map();

  constructor(model) {
    this.metadata = { ...model, detects: true };
    this.examples = model.examples;
    this.size = 0;
  }

  /** As of `TextTranslator`; of a sentence with marks, its HTML is translated. */
  async translateSentences(sentences, { markups, source: chosen, target, signal, onSentence, onDetected }) {
    const began = performance.now();
    const isDetected = chosen === AUTO && sentences.length;
    const source = isDetected ? await this.#detect(sentences, target, signal, onDetected) : chosen;
    const remembered = this.#remembered;
    if (remembered.size > KEPT) remembered.clear();
    // The HTML of one sentence may look like the text of another one.
    const keys = sentences.map((sentence, i) => JSON.stringify([sentence, markups?.[i] ?? null, source, target]));
    const missing = [...new Set(keys.filter((key) => !remembered.has(key)))];
    let [done, shown, size] = [0, 0, FIRST];
    const show = () => {
      for (; shown < keys.length && remembered.has(keys[shown]); shown += 1) onSentence(shown, remembered.get(keys[shown]));
    };
    for (show(); done < missing.length; show()) {
      const portion = firstOf(missing, done, size);
      const start = performance.now();
      const forms = ["text", "html"].map((form) => this.#remember(portion, form, source, target, signal));
      await Promise.all(forms);
      done += portion.length;
      const spent = performance.now() - start;
      if (spent < QUICK) size = Math.min(MOST, 2 * size);
      if (spent > SLOW) size = Math.max(1, size >> 1);
    }
    return { milliseconds: performance.now() - began, runs: missing.length };
  }

  /** Returns the language of sentences; undefined if the server is to take the most similar one. */
  async #detect(sentences, target, signal, onDetected) {
    const candidates = await ask("detect", { q: sentences.join("\n").slice(0, MOST_DETECTED) }, signal);
    const codes = candidates.filter(({ confidence }) => confidence).map(({ language }) => language);
    if (codes.length) onDetected?.(codes[0]);
    const sources = this.metadata.directions.map(codesOf).filter(([, into]) => into === target);
    return sources.some(([from]) => from === codes[0]) ? codes[0] : undefined;
  }

  close() {
    this.#remembered.clear();
  }

  /** Asks for the sentences of a format in a direction, and remembers the answers. */
  async #remember(keys, format, source, target, signal) {
    const chosen = keys.map((key) => [key, ...JSON.parse(key)]);
    const asked = chosen.filter(([, , markup]) => (markup === null) === (format === "text"));
    if (!asked.length) return;
    const input = asked.map(([, sentence, markup]) => markup ?? sentence);
    const request = { model: this.metadata.id, input, format }; // Without a model, languages choose one.
    if (source) request.source_language = source;
    if (target) request.target_language = target;
    const { data } = await ask("v1/translations", request, signal);
    data.forEach(({ text, flags, quality }, i) => {
      const shown = format === "html" ? { markup: text } : { text };
      this.#remembered.set(asked[i][0], { ...shown, flags, quality });
    });
  }
}

/** Returns the next keys: at most `size`, with a bound of characters; at least one. */
function firstOf(keys, start, size) {
  let [end, characters] = [start, 0];
  while (end < keys.length && end - start < size) {
    characters += keys[end].length;
    if (end > start && characters > MOST_CHARACTERS) break;
    end += 1;
  }
  return keys.slice(start, end);
}
