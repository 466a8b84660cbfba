// The text and its languages in the address of the page, and kept over a reload.
//
// "#source=de&target=en&text=Hallo" is an address of a text; "?text=Hallo" is one, too, but a server
// reads it. A text that is too long for an address, and the marks of rich text, are in the state of
// the browser's history, which a reload keeps.

const MOST = 4_000; // Characters of a text in an address.
const NAMES = ["text", "source", "target"];
const DELAY = 300; // Milliseconds between two changes, of which browsers refuse too many.

let waiting = null; // What is to be written next.
let written = -DELAY; // When something was written.

/** Returns {text, marks, source, target} of the address; what it does not have is undefined. */
export function readAddress() {
  const kept = history.state?.translator ?? {};
  const [inHash, inQuery] = [location.hash.slice(1), location.search].map((part) => new URLSearchParams(part));
  const found = NAMES.map((name) => [name, inHash.get(name) ?? inQuery.get(name) ?? undefined]);
  const { text = kept.text, source, target } = Object.fromEntries(found);
  return { text, marks: text === kept.text ? kept.marks : [], source, target };
}

/** Puts {text, marks, source, target} into the address, at once or soon. */
export function writeAddress(content) {
  const timer = waiting?.timer ?? setTimeout(write, Math.max(0, written + DELAY - performance.now()));
  waiting = { content, timer };
}

addEventListener("pagehide", write);

function write() {
  if (!waiting) return;
  clearTimeout(waiting.timer);
  const { text, marks, source, target } = waiting.content;
  waiting = null;
  written = performance.now();
  const query = new URLSearchParams(location.search);
  for (const name of NAMES) query.delete(name);
  const hash = new URLSearchParams();
  if (source) hash.set("source", source);
  if (target) hash.set("target", target);
  if (text && text.length <= MOST) hash.set("text", text);
  const parts = [location.pathname, query.size ? `?${query}` : "", hash.size ? `#${hash}` : ""];
  history.replaceState({ translator: { text, marks } }, "", parts.join(""));
}
