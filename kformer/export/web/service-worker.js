"use strict";
// Serves the page's files from a cache, so that it works offline.
//
// The export writes all files and their checksums (SHA-256) into FILES. Each version is stored
// completely, in a cache of its own, or not at all; files of two versions are never mixed. Of the
// two builds of LiteRT only the one that runs here is stored: the page registers this script with
// the parameter "build", which is "relaxed-simd" or "compat".

const FILES = {}; // Written by the export: path -> checksum.
const VERSION = ""; // Written by the export: the checksum of all.

const PREFIX = `kformer ${self.registration.scope} `; // Other pages of this site keep their caches.
const BUILD = new URLSearchParams(self.location.search).get("build");
const OTHER_BUILD =
  BUILD === "compat" ? /^(?:worker|litert\/litert_wasm_internal)\./ : /^(?:worker-|litert\/litert_wasm_)compat/;
const CACHE = `${PREFIX}${VERSION} ${BUILD}`;

self.addEventListener("install", (event) => event.waitUntil(store()));
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (Object.hasOwn(FILES, path)) event.respondWith(answer(path, event.request));
});
self.addEventListener("message", (event) => {
  if (event.data === "activate") self.skipWaiting();
});

/** Fetches and stores all files, or none if one is missing or of another version. */
async function store() {
  try {
    const cache = await caches.open(CACHE);
    for (const [path, checksum] of Object.entries(FILES)) {
      if (OTHER_BUILD.test(path)) continue;
      await cache.put(path, await fetched(path, checksum));
    }
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

async function fetched(path, checksum) {
  // A server that dates changes by the second may validate an old copy; "reload" bypasses it.
  for (const cache of ["no-cache", "reload"]) {
    const response = await fetch(path, { cache });
    const content = await response.arrayBuffer();
    if (response.ok && (await sha256(content)) === checksum) {
      const type = response.headers.get("content-type") ?? "application/octet-stream";
      const headers = { "content-type": type, "content-length": String(content.byteLength) };
      return new Response(content, { headers });
    }
  }
  throw new Error(`${path} is not that of version ${VERSION}.`);
}

async function takeOver() {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
  }
  await self.clients.claim();
}

async function answer(path, request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(path)) ?? fetch(request); // The browser may drop cached files.
}

/** Returns a request's path below the page's folder; the folder itself is index.html. */
function pathOf({ url, method }) {
  const { scope } = self.registration;
  const [address] = url.split(/[?#]/);
  if (method !== "GET" || !address.startsWith(scope)) return null;
  return address.slice(scope.length) || "index.html";
}

async function sha256(content) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
