// Translates outside the page's thread, so that typing never waits.
//
// To the page:   {type: "progress", stage, loaded, total}, whose stage is "loading" or "starting",
//                {type: "ready", metadata, examples, size},
//                {type: "sentence", id, index, found: {text, flags, quality}}, for each sentence,
//                {type: "translated", id, milliseconds, runs} after the last,
//                {type: "failed", id, code, values}: id is null if the translator did not start.
// From the page: {type: "load", url} once; {type: "translate", id, sentences, target}, which are done
//                one after the other; {type: "cancel", id}, which is looked at between two sentences.

import { LiteRtEngine, loadLibrary } from "./litert-engine.js";
import { TranslatorError } from "./translator-error.js";

let engine = null;
let done = Promise.resolve(); // When the texts before are translated.
const cancelled = new Set();

/**
 * Answers the messages of the page with a build of LiteRT.
 * @param {function} createModule The default export of the build's script.
 * @param {URL} wasm The address of its code.
 */
export function answerMessages(createModule, wasm) {
  const actions = {
    load: ({ url }) => load(url, createModule, wasm),
    translate: (text) => (done = done.then(() => translate(text))),
    cancel: ({ id }) => cancelled.add(id),
  };
  self.onmessage = ({ data }) => actions[data.type](data);
}

async function load(url, createModule, wasm) {
  try {
    const library = loadLibrary({ createModule, compiled: () => fetchCode(wasm) });
    library.catch(() => {}); // The engine awaits it.
    const bytes = await fetchModel(url);
    postMessage({ type: "progress", stage: "starting" });
    engine = await LiteRtEngine.load(bytes, library);
    const { metadata, examples, size } = engine;
    postMessage({ type: "ready", metadata, examples, size });
  } catch (error) {
    fail(null, error);
  }
}

async function translate({ id, sentences, target }) {
  try {
    const spent = await engine.translate(
      sentences,
      target,
      (index, found) => postMessage({ type: "sentence", id, index, found }),
      () => cancelled.has(id),
    );
    if (spent) postMessage({ type: "translated", id, ...spent });
  } catch (error) {
    fail(id, error);
  }
  cancelled.delete(id);
}

function fail(id, error) {
  const known = error instanceof TranslatorError;
  const { code, values } = known ? error : { code: "unknown", values: { message: String(error?.message ?? error) } };
  postMessage({ type: "failed", id, code, values });
}

/** Fetches and compiles the code of LiteRT. */
async function fetchCode(url) {
  const broken = () => new TranslatorError("broken library", { file: fileName(url) });
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) {
    throw new TranslatorError("missing library", { file: fileName(url), status: response?.status ?? 0 });
  }
  try {
    const isNamed = response.headers.get("content-type") === "application/wasm"; // Else not while it loads.
    if (isNamed) return await WebAssembly.compileStreaming(response);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch {
    throw broken();
  }
}

/** Fetches the .tflite file and posts the progress. */
async function fetchModel(url) {
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) {
    throw new TranslatorError("missing model", { file: fileName(url), status: response?.status ?? 0 });
  }
  const compressed = response.headers.has("content-encoding");
  const total = compressed ? 0 : Number(response.headers.get("content-length"));
  const parts = [];
  let loaded = 0;
  postMessage({ type: "progress", stage: "loading", loaded, total });
  for (const reader = response.body.getReader(); ; ) {
    const { done: isDone, value } = await reader.read();
    if (isDone) break;
    parts.push(value);
    loaded += value.length;
    postMessage({ type: "progress", stage: "loading", loaded, total });
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function fileName(url) {
  return String(url).split(/[?#]/)[0].split("/").at(-1);
}
