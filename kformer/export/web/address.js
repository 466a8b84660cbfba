// The text and its languages in the address of the page, and kept over a reload.
//
// "#source=de&target=en&text=Hallo" is an address of a text; "?text=Hallo" is one, too, but a server
// reads it. While a text is typed, only the state of the browser's history has it, which a reload
// keeps: browsers fetch the icon of a page again at each new address. The address follows when the
// window or the page is left, such as for the address bar.

const MOST = 4_000; // Characters of a text in an address.
const NAMES = ["text", "source", "target"];
const DELAY = 300; // Milliseconds between two changes, of which browsers refuse too many.

let newest = null; // The newest content.
let timer = null;
let kept = -DELAY; // When the state was written.

/** Returns {text, marks, source, target}, as far as they are known. */
export function readAddress() {
  if (history.state?.translator) return history.state.translator;
  const parts = [location.hash.slice(1), location.search].map((part) => new URLSearchParams(part));
  const found = NAMES.map((name) => [name, parts[0].get(name) ?? parts[1].get(name) ?? undefined]);
  return { ...Object.fromEntries(found), marks: [] };
}

/** Keeps {text, marks, source, target}, at once or soon. */
export function writeAddress(content) {
  newest = content;
  timer ??= setTimeout(writeState, Math.max(0, kept + DELAY - performance.now()));
}

for (const name of ["blur", "visibilitychange"]) addEventListener(name, writeUrl);

function writeState() {
  clearTimeout(timer);
  timer = null;
  kept = performance.now();
  history.replaceState({ translator: newest }, "");
}

function writeUrl() {
  if (!newest) return;
  writeState();
  const { text, source, target } = newest;
  const query = new URLSearchParams(location.search);
  for (const name of NAMES) query.delete(name);
  const hash = new URLSearchParams();
  if (source) hash.set("source", source);
  if (target) hash.set("target", target);
  if (text && text.length <= MOST) hash.set("text", text);
  const parts = [location.pathname, query.size ? `?${query}` : "", hash.size ? `#${hash}` : ""];
  const url = new URL(parts.join(""), location.href).href;
  if (url !== location.href) history.replaceState({ translator: newest }, "", url);
}
