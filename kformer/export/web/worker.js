"use strict";
// Translates outside the page's thread, so that typing never waits.
//
// To the page:   {type: "loading", loaded, total}, {type: "starting"},
//                {type: "ready", metadata, examples, size},
//                {type: "sentence", id, index, found: {text, flags, quality}}, for each sentence,
//                {type: "translated", id, milliseconds, runs} after the last,
//                {type: "failed", message, id}: id is null if the translator did not start.
// From the page: {id, sentences, markups, source, target}, with the codes of both languages; the HTML
// of sentences is for workers that translate it as a whole, so not for this one. A newer text
// replaces the one before, between two sentences.
//
// This is a classic worker: LiteRT.js loads its builds with importScripts, which modules lack.

importScripts("archive.js", "flags.js", "languages.js", "abbreviations.js", "marks.js");
importScripts("joining.js", "clauses.js");

const MODEL = "translator.tflite";
const NEWEST_FORMAT = 2;
const [SOURCE_CUT, TRANSLATION_CUT] = [1, 2]; // Bits of the output `truncated`.
const KEPT = 10_000; // Maximum number of cached translations.

const failures = []; // LiteRT's messages on failed operations; run() does not throw.
self.Module = {
  locateFile: (name) => new URL(`litert/${name}`, self.location.href).href,
  printErr: (line) => {
    if (/ERROR/.test(line)) failures.push(line);
  },
};

let translator = null;
const remembered = new Map();

let wanted = null; // The newest text, {id, sentences, target}; null when it is done.
let working = false;

self.onmessage = ({ data }) => {
  wanted = data;
  if (!working) work();
};

async function work() {
  working = true;
  while (wanted) {
    const text = wanted;
    await translateAll(text);
    if (wanted === text) wanted = null;
  }
  working = false;
}

start().catch((error) => postMessage({ type: "failed", id: null, message: messageOf(error) }));

async function start() {
  const litert = await import(new URL("litert/index.js", self.location.href).href);
  const loading = litert.loadLiteRt(new URL("litert/", self.location.href).href);
  loading.catch(() => {}); // Awaited below; until then not an unhandled rejection.
  const bytes = await fetchModel();
  const files = filesAtTheEnd(bytes);
  const metadata = files["kformer.json"];
  if (!metadata || !(metadata.format >= 2)) {
    throw new Error("The .tflite file has no metadata of a translator from text to text.");
  }
  if (metadata.format > NEWEST_FORMAT) {
    throw new Error(`The .tflite file is newer than this page: format ${metadata.format}.`);
  }
  postMessage({ type: "starting" });
  await checkWhole(bytes, metadata);
  await loading;
  const model = await litert.loadAndCompile(bytes, { accelerator: "wasm" });
  complainOfFailures();
  const special = {
    padding: metadata.padding_id,
    end: metadata.target_end_id ?? metadata.end_id,
  };
  translator = { litert, signature: model.signatures.translate, metadata, special };
  if (!translator.signature) {
    throw new Error("The .tflite file has no signature `translate`.");
  }
  const [target = null] = Object.keys(metadata.target_languages ?? {});
  await translate("", target); // The first run is slow, and fails if anything is wrong.
  const examples = (files["test_vectors.json"] || []).map((vector) => vector.text);
  postMessage({ type: "ready", metadata, examples, size: bytes.length });
}

/** Throws if the model is not the one of its metadata. Files of kformer 0.1 have no checksum. */
async function checkWhole(bytes, { sha256, model_bytes: size }) {
  if (!sha256 || !crypto.subtle) return; // Only pages of this machine and encrypted ones have it.
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.subarray(0, size)));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== sha256) {
    throw new Error("The .tflite file was damaged or changed: its SHA-256 is another.");
  }
}

/** Fetches the .tflite file and posts the progress. */
async function fetchModel() {
  const response = await fetch(MODEL);
  if (!response.ok) {
    throw new Error(`${MODEL} could not be fetched: the server says ${response.status}.`);
  }
  const compressed = response.headers.has("content-encoding");
  const total = compressed ? 0 : Number(response.headers.get("content-length"));
  const parts = [];
  let loaded = 0;
  postMessage({ type: "loading", loaded, total });
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    loaded += value.length;
    postMessage({ type: "loading", loaded, total });
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Posts the translation of each sentence when it is ready; stops if a newer text has arrived. */
async function translateAll(text) {
  const spent = { milliseconds: 0, runs: 0 };
  try {
    for (const [index, sentence] of text.sentences.entries()) {
      const found = await translateWhole(sentence, text, spent);
      if (!found) return;
      postMessage({ type: "sentence", id: text.id, index, found });
    }
    postMessage({ type: "translated", id: text.id, ...spent });
  } catch (error) {
    postMessage({ type: "failed", id: text.id, message: messageOf(error) });
  }
}

/**
 * Returns the translation of a sentence, remembered or new; null if a newer text has arrived. What
 * does not fit the file is halved at a clause, until it does.
 */
async function translateWhole(sentence, text, spent) {
  const key = JSON.stringify([text.target, sentence]);
  if (remembered.has(key)) return remembered.get(key);
  await messagesAreIn();
  if (wanted !== text) return null;
  const before = performance.now();
  let found = await translate(sentence, text.target);
  spent.milliseconds += performance.now() - before;
  spent.runs += 1;
  const isCut = found.flags.includes("source cut") || found.flags.includes("translation cut");
  const pieces = withSources(((isCut && halves(sentence)) || []).map(pieceOfPart));
  if (pieces.length) {
    const parts = [];
    for (const piece of pieces) {
      const part = await translateWhole(piece.source, text, spent);
      if (!part) return null;
      parts.push(part);
    }
    const flags = new Set(["source split", ...parts.flatMap((part) => part.flags)]);
    const quality = lowest(parts.map((part) => part.quality));
    found = { text: joined(pieces, parts.map((part) => part.text)), flags: [...flags], quality };
  }
  if (remembered.size >= KEPT) remembered.delete(remembered.keys().next().value);
  remembered.set(key, found);
  return found;
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

/**
 * Runs the file once.
 * @param {string} line
 * @param {?string} target - Code of the language, for a file with several.
 * @returns {{text: string, flags: string[], quality: number | undefined}} `flags` are those of
 *     `PocketTranslator` in Python, and "translation cut" if the end of the translation did not
 *     fit; `quality` is undefined for a file without an estimate.
 */
async function translate(line, target) {
  const { litert, signature, metadata, special } = translator;
  const bytes = new Uint8Array(metadata.max_source_bytes);
  line = line.replace(/\0+$/, ""); // Zeros at the end are padding.
  // Writes whole characters only; lone surrogates become U+FFFD.
  const { read } = new TextEncoder().encodeInto(line, bytes);
  const source = new litert.Tensor(bytes, [bytes.length]);
  const inputs = { source };
  if (metadata.target_languages) {
    const id = new Int32Array([metadata.target_languages[target]]);
    inputs.target_language = new litert.Tensor(id, [1]);
  }
  failures.length = 0;
  const found = await signature.run(inputs);
  const translation = found.translation.toTypedArray();
  const [truncated] = found.truncated.toTypedArray();
  const quality = found.quality?.toTypedArray()[0];
  const ids = [found.source_ids, found.ids].map((tensor) => Array.from(tensor.toTypedArray()));
  const end = translation.indexOf(0);
  const text = new TextDecoder().decode(translation.slice(0, end < 0 ? undefined : end));
  for (const tensor of [...Object.values(inputs), ...Object.values(found)]) tensor.delete();
  complainOfFailures();
  const cut = read < line.length || (truncated & SOURCE_CUT) > 0;
  const flags = translationFlags(...ids, cut, special);
  if (truncated & TRANSLATION_CUT) flags.push("translation cut");
  if (quality < metadata.quality_estimate?.threshold) flags.push("unsure");
  return { text, flags, quality };
}

/** Returns the lowest of the numbers, or undefined if there are none. */
function lowest(numbers) {
  const known = numbers.filter((number) => number !== undefined);
  return known.length ? Math.min(...known) : undefined;
}

function complainOfFailures() {
  if (failures.length) throw new Error(failures.splice(0).join("\n"));
}

function messageOf(error) {
  return [...failures.splice(0), error?.message || String(error)].join("\n");
}
