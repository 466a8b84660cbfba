"use strict";
// Asks the server for translations; speaks with the page as worker.js of the export does.

const KEPT = 10_000; // Maximum number of cached translations.
const remembered = new Map();
let model = null;
let key = ""; // Of the server, if it needs one.
let wanted = null; // The newest text, {id, sentences}; null when it is done.
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
  const metadata = {
    ...model,
    target_language: model.target_languages[0] ?? null,
  };
  postMessage({ type: "ready", metadata, examples: [], size: null });
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
  const missing = [...new Set(text.sentences)].filter((sentence) => !remembered.has(sentence));
  if (missing.length) {
    const request = { model: model.id, input: missing };
    if (model.target_languages.length > 1) request.target_language = model.target_languages[0];
    const { data } = await ask("v1/translations", request);
    if (remembered.size > KEPT) remembered.clear();
    data.forEach((found, i) => remembered.set(missing[i], { text: found.text, flags: found.flags }));
  }
  if (wanted !== text) return;
  for (const [index, sentence] of text.sentences.entries()) {
    postMessage({ type: "sentence", id: text.id, index, found: remembered.get(sentence) });
  }
  const milliseconds = performance.now() - began;
  postMessage({ type: "translated", id: text.id, milliseconds, runs: missing.length });
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
