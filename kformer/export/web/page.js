"use strict";
// The page: sends typed text to the worker at once; the newest text replaces all others.

const element = (id) => document.getElementById(id);
const source = element("source");
const translation = element("translation");
const status = element("status");
const lines = new Lines(translation);
let piecesOf = null; // Splits a line.

const NEEDS_A_SERVER =
  "A page on its own file system may not start the translator. Serve this folder, for example by " +
  "python3 -m http.server, and open http://localhost:8000.";

let worker = null;
let ready = false;
let asked = { id: 0, text: "", marks: "[]", target: null }; // Its translation is shown or pending.
let chosen = { source: null, target: null }; // Codes of the languages.
let current = { text: "", marks: [] }; // The text, with the marks of what was pasted.

source.addEventListener("input", edited);
source.addEventListener("paste", paste);
element("clear").addEventListener("click", () => {
  write("");
  source.focus();
});
element("copy").addEventListener("click", copy);
begin();

function begin() {
  try {
    worker = new Worker("worker.js");
  } catch {
    fail(NEEDS_A_SERVER);
    return;
  }
  worker.onmessage = ({ data }) => answers[data.type](data);
  worker.onerror = (event) => {
    fail(event.message || "The translator did not start.");
  };
}

const answers = {
  loading({ loaded, total }) {
    const of = total ? ` of ${megabytes(total)}` : "";
    say("loading", `Loading the translator: ${megabytes(loaded)}${of}`);
    if (total) Object.assign(element("progress"), { max: total, value: loaded });
  },
  starting() {
    say("loading", "Starting LiteRT");
    element("progress").removeAttribute("value");
  },
  ready({ metadata, examples, size }) {
    ready = true;
    element("progress").hidden = true;
    say("ready", "Ready");
    status.setAttribute("aria-live", "off"); // From now on a screen reader announces only translations.
    element("facts").textContent = factsOf(metadata, size).join(" · ");
    const directions = directionsOf(metadata);
    fillMenu(element("directions"), directions, (direction) => {
      translateIn(direction);
      edited();
    });
    translateIn(directions[0]);
    asked.target = chosen.target; // Of the blank text, which needs no translation.
    offer(examples);
    edited();
    keep();
  },
  sentence({ id, index, found }) {
    if (id !== asked.id) return; // The text was replaced.
    lines.put(index, found);
    const count = lines.sentences.length;
    if (count > 1) say("translating", `Translated ${index + 1} of ${count} sentences`);
  },
  translated({ id, milliseconds, runs }) {
    if (id !== asked.id) return;
    lines.placeMarks();
    finish();
    element("copy").hidden = !lines.text.trim();
    notice(lines.notices);
    say("ready", runs ? `Translated in ${time(milliseconds)}` : "Ready");
  },
  failed({ id, message }) {
    if (id === null || id === asked.id) fail(message);
  },
};

/** Moves the marks with the text, and has it translated. */
function edited() {
  const text = source.value;
  const { start, end, length } = difference(current.text, text);
  current = { text, marks: marksAfterEdit(current.marks, start, end, length) };
  update();
}

/** Pastes rich text: the text into the field, and its marks beside it. */
function paste(event) {
  const html = event.clipboardData.getData("text/html");
  const pasted = html && richText(html);
  if (!pasted?.marks.length) return; // The browser pastes plain text.
  event.preventDefault();
  const { selectionStart: start, selectionEnd: end } = source;
  const { text, marks } = pasted;
  const moved = marks.map((mark) => ({ ...mark, start: mark.start + start, end: mark.end + start }));
  const whole = source.value.slice(0, start) + text + source.value.slice(end);
  const others = marksAfterEdit(current.marks, start, end, text.length);
  current = { text: whole, marks: [...others, ...moved].sort(byNesting) };
  // As typed text, it can be undone.
  if (!document.execCommand("insertText", false, text) || source.value !== whole) {
    source.value = whole;
    update();
  }
}

/** Requests a translation of the current text, even if the worker is busy. */
function update() {
  const { text, marks } = current;
  const { source: from, target } = chosen;
  const written = JSON.stringify(marks);
  element("clear").hidden = !text;
  const isAsked = text === asked.text && written === asked.marks && target === asked.target;
  if (!ready || isAsked) return;
  asked = { id: asked.id + 1, text, marks: written, target };
  const starts = lineStarts(text);
  const ends = starts.map((start) => (text.indexOf("\n", start) + 1 || text.length + 1) - 1);
  lines.begin(
    starts.map((start, i) => withMarks(piecesOf(text.slice(start, ends[i])), start)),
    starts.map((start, i) => blockOf(marks, start, ends[i])),
  );
  translation.setAttribute("aria-busy", "true");
  element("copy").disabled = true;
  element("failure").hidden = true;
  notice([]);
  say("translating", "Translating");
  const { sources: sentences, markups } = lines;
  worker.postMessage({ id: asked.id, sentences, markups, source: from, target });
}

function lineStarts(text) {
  return [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
}

/** Returns the pieces of a line with their marks and HTML; the line begins at `start`. */
function withMarks(pieces, start) {
  return pieces.map((piece) => {
    const begin = start + piece.before.length;
    const end = begin + piece.source.length;
    start = end + piece.after.length;
    const marks = marksWithin(current.marks, begin, end);
    return marks.length ? { ...piece, marks, markup: markupOf(piece.source, marks) } : piece;
  });
}

function finish() {
  translation.setAttribute("aria-busy", "false");
  element("copy").disabled = false;
}

function notice(sentences) {
  element("notice").textContent = sentences.join("\n");
  element("notice").hidden = !sentences.length;
}

/** Shows an error instead of a translation. */
function fail(message) {
  say("failed", ready ? "Not translated" : "The translator could not be loaded");
  lines.clear();
  finish();
  notice([]);
  element("progress").hidden = true;
  element("copy").hidden = true;
  element("failure").textContent = message;
  element("failure").hidden = false;
}

/** Has the page translate in a direction from now on, and shows its languages. */
function translateIn(direction) {
  chosen = direction;
  const [from, to] = [direction.source, direction.target].map(language);
  element("source-label").textContent = from || "Text";
  element("translation-label").textContent = to || "Translation";
  document.title = from && to ? `${from} to ${to}` : "Translator";
  element("title").textContent = document.title;
  source.lang = direction.source || "";
  translation.lang = direction.target || "";
  piecesOf = sentenceSplitter(direction.source);
}

/** Stores the page for offline use, and shows whether that worked. */
async function keep() {
  const kept = await keepForOffline().catch(() => false);
  element("offline").hidden = !kept;
}

function offer(examples) {
  const buttons = examples.slice(0, 3).map((example) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dir = "auto";
    button.lang = source.lang;
    button.textContent = example;
    button.addEventListener("click", () => write(example));
    return button;
  });
  element("examples").replaceChildren(...buttons);
  element("examples").hidden = !buttons.length;
}

function write(text) {
  source.value = text;
  current = { text, marks: [] };
  update();
}

async function copy() {
  const button = element("copy");
  try {
    await (lines.isRich && self.ClipboardItem ? copyRich() : navigator.clipboard.writeText(lines.text));
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

function copyRich() {
  const forms = { "text/plain": lines.text, "text/html": markupOfLines(lines.element.children) };
  const blobs = Object.entries(forms).map(([type, text]) => [type, new Blob([text], { type })]);
  return navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
}

function say(state, text) {
  status.dataset.state = state;
  status.textContent = text;
}
