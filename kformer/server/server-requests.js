// Requests of the page to its server, with a key where the server needs one.

import { keepKey, keptKey, newKey } from "./server-key.js";
import { TranslatorError } from "./translator-error.js";

const FULL = 429;
const MOST_WAITS = 20; // How often a full server is asked again.

/** Returns what a path of the server is called from here, wherever a proxy puts the page. */
export function addressOf(path) {
  return new URL(path, import.meta.url);
}

/**
 * Returns the JSON that the server answers; waits for a key, or while the server is full.
 * @param {string} path
 * @param {Object | FormData | null} body An object is sent as JSON; null asks by GET.
 * @param {AbortSignal} signal
 */
export async function ask(path, body, signal) {
  for (let waits = 0; ; ) {
    const key = keptKey();
    const isSent = /^[!-~]*$/.test(key); // No header can hold others.
    const response = isSent ? await request(path, body, key, signal) : { status: 401 };
    if (response.status === 401 || response.status === 403) {
      await newKey(key);
      continue;
    }
    keepKey(key);
    const seconds = Number(response.headers.get("Retry-After"));
    if (response.status === FULL && seconds && waits < MOST_WAITS) {
      waits += 1;
      await pause(1000 * seconds, signal);
      continue;
    }
    const answer = await response.json();
    if (response.ok) return answer;
    const message = answer.error?.message ?? answer.error ?? response.statusText;
    throw new TranslatorError("unknown", { message });
  }
}

async function request(path, body, key, signal) {
  const options = { signal, headers: key ? { Authorization: `Bearer ${key}` } : {} };
  if (body) {
    options.method = "POST";
    options.body = body instanceof FormData ? body : JSON.stringify(body);
    if (options.body !== body) options.headers["Content-Type"] = "application/json";
  }
  try {
    return await fetch(addressOf(path), options);
  } catch (error) {
    signal?.throwIfAborted();
    throw new TranslatorError("no connection", { file: path });
  }
}

/** Waits; rejects at once when the signal aborts. */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
