"use strict";
// The page: what is typed goes to the worker, one text at a time, and always the newest.

const element = (id) => document.getElementById(id);
const source = element("source");
const translation = element("translation");
const status = element("status");

const NEEDS_A_SERVER =
  "A page on its own file system may not start the translator. Serve this folder, for example by " +
  "python3 -m http.server, and open http://localhost:8000.";

let worker = null;
let ready = false;
let asked = null; // {id, text} that the worker is at.
let shown = ""; // The text whose translation is shown.
let count = 0;

source.addEventListener("input", update);
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
  ready({ manifest, examples, size }) {
    ready = true;
    element("progress").hidden = true;
    say("ready", "Ready");
    status.setAttribute("aria-live", "off"); // From now on a screen reader reads translations.
    introduce(manifest, size);
    offer(examples);
    update();
  },
  translated({ lines, milliseconds, runs }) {
    shown = asked.text;
    asked = null;
    element("failure").hidden = true;
    translation.replaceChildren(...lines.map(paragraph));
    element("copy").hidden = !lines.some((line) => line.text);
    notice(lines);
    say("ready", runs ? `Translated in ${time(milliseconds)}` : "Ready");
    update();
  },
  failed({ id, message }) {
    if (id === null) {
      fail(message);
      return;
    }
    shown = asked.text;
    asked = null;
    fail(message);
    update();
  },
};

/** Asks for a translation of what the text is now, unless the worker is busy or has done it. */
function update() {
  const text = source.value;
  element("clear").hidden = !text;
  translation.setAttribute("aria-busy", String(ready && text !== shown));
  if (!ready || asked || text === shown) return;
  count += 1;
  asked = { id: count, text };
  say("translating", "Translating");
  worker.postMessage({ id: count, lines: text.split("\n") });
}

function paragraph({ text, truncated }) {
  const line = document.createElement("p");
  line.dir = "auto";
  line.textContent = text;
  line.classList.toggle("truncated", truncated > 0);
  return line;
}

/** Says which lines were not translated whole. */
function notice(lines) {
  const said = lines.flatMap(({ truncated }, i) => {
    const line = lines.length > 1 ? `Line ${i + 1}` : "The text";
    const which = lines.length > 1 ? `of line ${i + 1} ` : "";
    if (!truncated) return [];
    if (truncated & 1) return [`${line} is too long: only its beginning was translated.`];
    return [`There was no room for the end of the translation ${which}`.trim() + "."];
  });
  element("notice").textContent = said.join("\n");
  element("notice").hidden = !said.length;
}

/** Shows an error instead of a translation. */
function fail(message) {
  say("failed", ready ? "Not translated" : "The translator could not be loaded");
  element("progress").hidden = true;
  element("copy").hidden = true;
  element("notice").hidden = true;
  translation.replaceChildren();
  element("failure").textContent = message;
  element("failure").hidden = false;
}

function introduce(manifest, size) {
  const from = language(manifest.source_language);
  const to = language(manifest.target_language);
  if (from) element("source-label").textContent = from;
  if (to) element("translation-label").textContent = to;
  if (from && to) element("title").textContent = document.title = `${from} to ${to}`;
  if (manifest.source_language) source.lang = manifest.source_language;
  if (manifest.target_language) translation.lang = manifest.target_language;
  const search = manifest.beam_size > 1 ? `${manifest.beam_size} beams` : "greedy search";
  const parameters = manifest.parameters.toLocaleString("en", {
    notation: "compact",
    compactDisplay: "long",
    maximumFractionDigits: 1,
  });
  const facts = [
    `${megabytes(size)}, ${parameters} parameters, ${manifest.precision}, ${search}`,
    `kformer ${manifest.kformer}`,
    manifest.licence && `Licence: ${manifest.licence}`,
    manifest.citation,
  ];
  element("facts").textContent = facts.filter(Boolean).join(" · ");
}

/** The English name of a language; where its code is none, what was given. */
function language(code) {
  try {
    return code && new Intl.DisplayNames("en", { type: "language" }).of(code);
  } catch {
    return code;
  }
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
  update();
}

async function copy() {
  const text = [...translation.children].map((line) => line.textContent).join("\n");
  const button = element("copy");
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

function say(state, text) {
  status.dataset.state = state;
  status.textContent = text;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function time(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(1, Math.round(milliseconds))} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
