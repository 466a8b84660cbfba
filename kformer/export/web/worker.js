"use strict";
// Translates, apart from the page, so that typing never waits.
//
// To the page:   {type: "loading", loaded, total}, {type: "starting"},
//                {type: "ready", manifest, examples, size, milliseconds},
//                {type: "translated", id, lines: [{text, truncated}], milliseconds, runs},
//                {type: "failed", message, id}: id is null where nothing can be translated any more.
// From the page: {id, lines}, one at a time.
//
// A classic worker: LiteRT.js loads its builds by importScripts, which module workers lack.

importScripts("archive.js");

const MODEL = "translator.tflite";
const NEWEST_FORMAT = 2;
const KEPT = 500; // Lines whose translations are remembered.

const failures = []; // What LiteRT wrote of operations that fail; run() says nothing of them.
self.Module = {
  locateFile: (name) => new URL(`litert/${name}`, self.location.href).href,
  printErr: (line) => {
    if (/ERROR/.test(line)) failures.push(line);
  },
};

let translator = null;
const remembered = new Map();

self.onmessage = async ({ data: { id, lines } }) => {
  try {
    postMessage({ type: "translated", id, ...(await translateAll(lines)) });
  } catch (error) {
    postMessage({ type: "failed", id, message: messageOf(error) });
  }
};

start().catch((error) => postMessage({ type: "failed", id: null, message: messageOf(error) }));

async function start() {
  const litert = await import(new URL("litert/index.js", self.location.href).href);
  const loading = litert.loadLiteRt(new URL("litert/", self.location.href).href);
  loading.catch(() => {}); // It is awaited below; until then it must not count as unhandled.
  const bytes = await fetchModel();
  const files = filesAtTheEnd(bytes);
  const manifest = files["kformer.json"];
  if (!manifest || !(manifest.format >= 2)) {
    throw new Error("The .tflite file has no manifest of a translator that takes text.");
  }
  if (manifest.format > NEWEST_FORMAT) {
    throw new Error(`The .tflite file is newer than this page: format ${manifest.format}.`);
  }
  postMessage({ type: "starting" });
  await loading;
  const model = await litert.loadAndCompile(bytes, { accelerator: "wasm" });
  complainOfFailures();
  translator = { litert, signature: model.signatures.translate, manifest };
  if (!translator.signature) {
    throw new Error("The .tflite file has no signature `translate`.");
  }
  await translate(""); // The first run is slow, and shows what is wrong.
  const examples = (files["test_vectors.json"] || []).map((vector) => vector.text);
  postMessage({ type: "ready", manifest, examples, size: bytes.length });
}

/** Fetches the .tflite file, and says how far that is. */
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

/** Translates each line, those that are remembered without running. */
async function translateAll(lines) {
  const translated = [];
  let milliseconds = 0;
  let runs = 0;
  for (const line of lines) {
    if (!remembered.has(line)) {
      const before = performance.now();
      const translation = await translate(line);
      milliseconds += performance.now() - before;
      runs += 1;
      if (remembered.size >= KEPT) remembered.delete(remembered.keys().next().value);
      remembered.set(line, translation);
    }
    translated.push(remembered.get(line));
  }
  return { lines: translated, milliseconds, runs };
}

/**
 * Runs the file once.
 * @param {string} line
 * @returns {{text: string, truncated: number}} `truncated` as the file has it: 1 where only the
 *     beginning of the line was read, 2 where the end of the translation found no room, 3 for both.
 */
async function translate(line) {
  const { litert, signature, manifest } = translator;
  const bytes = new Uint8Array(manifest.max_source_bytes);
  line = line.replace(/\0+$/, ""); // Zeros at the end are padding.
  // Whole characters only; half of a surrogate pair becomes U+FFFD.
  const { read } = new TextEncoder().encodeInto(line, bytes);
  const source = new litert.Tensor(bytes, [bytes.length]);
  failures.length = 0;
  const found = await signature.run({ source });
  const translation = found.translation.toTypedArray();
  const [truncated] = found.truncated.toTypedArray();
  const end = translation.indexOf(0);
  const text = new TextDecoder().decode(translation.slice(0, end < 0 ? undefined : end));
  for (const tensor of [source, ...Object.values(found)]) tensor.delete();
  complainOfFailures();
  return { text, truncated: truncated | (read < line.length ? 1 : 0) };
}

function complainOfFailures() {
  if (failures.length) throw new Error(failures.splice(0).join("\n"));
}

function messageOf(error) {
  return [...failures.splice(0), error?.message || String(error)].join("\n");
}
