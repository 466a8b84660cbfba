"use strict";
// Asks the server for translations; speaks with the page as worker.js of the export does.

const KEPT = 10_000; // Maximum number of cached translations.
const remembered = new Map();
let model = null;
let wanted = null; // The newest text, {id, sentences}; null when it is done.
let working = false;

self.onmessage = ({ data }) => {
  wanted = data;
  if (!working) work();
};

start().catch((error) => postMessage({ type: "failed", id: null, message: error.message }));

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
    await translate(text).catch(({ message }) =>
      postMessage({ type: "failed", id: text.id, message }),
    );
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
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? answer.error ?? response.statusText);
  return answer;
}
