"use strict";
// Asks the server for translations; speaks with the page as worker.js of the export does.

const KEPT = 10_000; // Maximum number of cached translations.
const remembered = new Map();
let model = null;
let key = ""; // Of the server, if it needs one.
let wanted = null; // The newest text, {id, sentences, markups, source, target}; null when it is done.
let working = false;

class KeyNeeded extends Error {}

self.onmessage = ({ data }) => {
  if ("key" in data) {
    key = data.key;
    begin();
    return;
  }
  wanted = data;
  if (!working) work();
};

begin();

/** Starts; goes on with a text that was refused for want of a key. */
async function begin() {
  try {
    await start();
  } catch (error) {
    failed(error, null);
    return;
  }
  if (wanted && !working) work();
}

function failed(error, id) {
  if (error instanceof KeyNeeded) postMessage({ type: "key", refused: key !== "" });
  else postMessage({ type: "failed", id, message: error.message });
}

async function start() {
  const { data } = await ask("v1/models");
  model = data.find(({ kind }) => kind === "translator");
  if (!model) throw new Error("This server has no translator.");
  postMessage({ type: "ready", metadata: model, examples: [], size: null });
}

async function work() {
  working = true;
  while (wanted) {
    const text = wanted;
    try {
      await translate(text);
    } catch (error) {
      failed(error, text.id);
      if (error instanceof KeyNeeded) break;
    }
    if (wanted === text) wanted = null;
  }
  working = false;
}

/** Posts the translation of each sentence of a text, unless a newer text arrives. */
async function translate(text) {
  const began = performance.now();
  if (remembered.size > KEPT) remembered.clear();
  // Of those with marks their HTML is translated, which may look like the text of another one.
  const { markups, source, target } = text;
  const keys = text.sentences.map((sentence, i) =>
    JSON.stringify([sentence, markups[i], source, target]),
  );
  const missing = new Set(keys.filter((key) => !remembered.has(key)));
  await Promise.all(["text", "html"].map((format) => remember(missing, format, source, target)));
  if (wanted !== text) return;
  for (const [index, key] of keys.entries()) {
    postMessage({ type: "sentence", id: text.id, index, found: remembered.get(key) });
  }
  const milliseconds = performance.now() - began;
  postMessage({ type: "translated", id: text.id, milliseconds, runs: missing.size });
}

/** Asks for the sentences of a format in a direction, and remembers the answers. */
async function remember(keys, format, source, target) {
  const chosen = [...keys].map((key) => [key, ...JSON.parse(key)]);
  const asked = chosen.filter(([, , markup]) => (markup === null) === (format === "text"));
  if (!asked.length) return;
  const input = asked.map(([, sentence, markup]) => markup ?? sentence);
  const request = { model: model.id, input, format };
  if (source) request.source_language = source;
  if (target) request.target_language = target;
  const { data } = await ask("v1/translations", request);
  data.forEach(({ text, flags, quality }, i) => {
    const shown = format === "html" ? { markup: text } : { text };
    remembered.set(asked[i][0], { ...shown, flags, quality });
  });
}

async function ask(path, body) {
  if (!/^[!-~]*$/.test(key)) throw new KeyNeeded(); // No header can hold it.
  const options = { headers: key ? { Authorization: `Bearer ${key}` } : {} };
  if (body) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  if (response.status === 401 || response.status === 403) throw new KeyNeeded();
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? answer.error ?? response.statusText);
  return answer;
}
