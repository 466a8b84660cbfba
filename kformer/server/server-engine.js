// Asks the server for translations, in place of worker-engine.js of the export.

import { keepKey, keptKey, newKey } from "./server-key.js";
import { TranslatorError } from "./translator-error.js";

const KEPT = 10_000; // Maximum number of cached translations.

/** Opens the first translator of the server. */
export async function openEngine(_url, { signal }) {
  const { data } = await ask("v1/models", null, signal);
  const model = data.find(({ kind }) => kind === "translator");
  if (!model) throw new TranslatorError("no model");
  return new ServerEngine(model);
}

class ServerEngine {
  #remembered = new Map();

  constructor(model) {
    this.metadata = model;
    this.examples = [];
    this.size = 0;
  }

  /** As of `TextTranslator`; of a sentence with marks, its HTML is translated. */
  async translateSentences(sentences, { markups, source, target, signal, onSentence }) {
    const began = performance.now();
    const remembered = this.#remembered;
    if (remembered.size > KEPT) remembered.clear();
    // The HTML of one sentence may look like the text of another one.
    const keys = sentences.map((sentence, i) => JSON.stringify([sentence, markups?.[i] ?? null, source, target]));
    const missing = new Set(keys.filter((key) => !remembered.has(key)));
    const forms = ["text", "html"].map((form) => this.#remember(missing, form, source, target, signal));
    await Promise.all(forms);
    for (const [index, key] of keys.entries()) onSentence(index, remembered.get(key));
    return { milliseconds: performance.now() - began, runs: missing.size };
  }

  close() {
    this.#remembered.clear();
  }

  /** Asks for the sentences of a format in a direction, and remembers the answers. */
  async #remember(keys, format, source, target, signal) {
    const chosen = [...keys].map((key) => [key, ...JSON.parse(key)]);
    const asked = chosen.filter(([, , markup]) => (markup === null) === (format === "text"));
    if (!asked.length) return;
    const input = asked.map(([, sentence, markup]) => markup ?? sentence);
    const request = { model: this.metadata.id, input, format };
    if (source) request.source_language = source;
    if (target) request.target_language = target;
    const { data } = await ask("v1/translations", request, signal);
    data.forEach(({ text, flags, quality }, i) => {
      const shown = format === "html" ? { markup: text } : { text };
      this.#remembered.set(asked[i][0], { ...shown, flags, quality });
    });
  }
}

/** Returns the answer of the server; waits for a key where it needs one. */
async function ask(path, body, signal) {
  for (;;) {
    const key = keptKey();
    const isSent = /^[!-~]*$/.test(key); // No header can hold others.
    const response = isSent ? await request(path, body, key, signal) : { status: 401 };
    if (response.status !== 401 && response.status !== 403) {
      keepKey(key);
      const answer = await response.json();
      if (response.ok) return answer;
      const message = answer.error?.message ?? answer.error ?? response.statusText;
      throw new TranslatorError("unknown", { message });
    }
    await newKey(key);
  }
}

async function request(path, body, key, signal) {
  const options = { signal, headers: key ? { Authorization: `Bearer ${key}` } : {} };
  if (body) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  try {
    return await fetch(new URL(path, import.meta.url), options);
  } catch (error) {
    signal?.throwIfAborted();
    throw new TranslatorError("no connection", { file: path });
  }
}
