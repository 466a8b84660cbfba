// The page: loads the translator, and has its fields translate what is typed.

import { readAddress, writeAddress } from "./address.js";
import { Translator } from "./browser-translator.js";
import { AUTO, fillMenu, nameOf, reverseOf } from "./directions.js";
import { factsOf, megabytes } from "./facts.js";
import { Fields } from "./fields.js";
import { LANGUAGE, messageOf, messageOfError, nameOfLanguage } from "./messages.js";
import { keepForOffline } from "./offline.js";

const element = (id) => document.getElementById(id);
const status = element("status");
let translator = null;
let isStarted = false; // Whether the fields have a direction of it.
const fields = new Fields(
  {
    source: element("source"),
    mirror: element("mirror"),
    translation: element("translation"),
    notice: element("notice"),
  },
  {
    onStatus(state, text) {
      showFailure("");
      element("copy").disabled = element("swap").disabled = state === "translating";
      say(state, text);
    },
    onChange() {
      element("clear").hidden = !fields.text;
      showExamples();
      if (isStarted && !fields.text) name(fields.direction); // Of no text the language is not detected.
      remember();
    },
    onTranslated() {
      element("copy").hidden = !fields.translation.trim();
    },
    onFailure: (error) => fail("not translated", error),
    onDetected(code) {
      element("source-label").textContent = messageOf("detected", { language: nameOfLanguage(code) });
    },
  },
);

element("clear").addEventListener("click", () => {
  fields.text = "";
  element("source").focus();
});
element("copy").addEventListener("click", copy);
element("swap").addEventListener("click", swap);
element("again").addEventListener("click", () => (translator ? fields.retry() : load()));
addEventListener("hashchange", () => {
  follow(readAddress());
});
localize();
fields.write(readAddress().text ?? "", readAddress().marks ?? []);
load();

/** Writes the strings of the page in the language of the interface. */
function localize() {
  document.documentElement.lang = LANGUAGE;
  const places = { text: "textContent", label: "ariaLabel", placeholder: "placeholder" };
  for (const [name, property] of Object.entries(places)) {
    for (const shown of document.querySelectorAll(`[data-${name}]`)) {
      shown[property] = messageOf(shown.dataset[name]);
    }
  }
}

async function load() {
  showFailure("");
  say("loading", messageOf("loading"));
  element("progress").hidden = false;
  try {
    translator = await Translator.load(undefined, { onProgress });
    introduce();
  } catch (error) {
    fail("not loaded", error);
    return;
  }
  element("offline").hidden = !(await keepForOffline().catch(() => false));
}

function onProgress({ stage, loaded, total }) {
  if (stage === "starting") {
    say("loading", messageOf("starting"));
    element("progress").removeAttribute("value");
    return;
  }
  const sizes = { loaded: megabytes(loaded), total: megabytes(total) };
  say("loading", messageOf(total ? "loading share" : "loading part", sizes));
  if (total) Object.assign(element("progress"), { max: total, value: loaded });
}

/** Shows what the translator is, and translates what was typed while it was loaded. */
function introduce() {
  const { metadata, size, directions, examples } = translator;
  element("progress").hidden = true;
  showFailure("");
  say("ready", messageOf("ready"));
  status.setAttribute("aria-live", "off"); // From now on a screen reader announces only translations.
  element("facts").textContent = factsOf(metadata, size).join(" · ");
  fillMenu(element("directions"), directions, choose);
  choose(directionOf(readAddress()));
  offer(examples, directions[0].source);
}

/** Returns the direction of an address; the first one if the translator lacks it. */
function directionOf({ source, target }) {
  try {
    return translator.direction({ source, target });
  } catch {
    return translator.directions[0];
  }
}

/** Translates in a direction from now on. */
function choose(direction) {
  element("directions").value = translator.directions.indexOf(direction);
  element("swap").hidden = !reverseOf(direction, translator.directions);
  name(direction);
  if (isStarted) fields.direction = direction;
  else fields.start(translator, direction);
  isStarted = true;
}

/** Translates the translation back. */
function swap() {
  const { translation } = fields;
  const back = reverseOf(fields.direction, translator.directions);
  fields.write(translation, []);
  choose(back);
  element("source").focus();
}

/** Shows what an address names that was opened in this page. */
function follow({ text, marks, source, target }) {
  if (!translator || text === undefined) return;
  fields.write(text, marks ?? []);
  choose(directionOf({ source, target }));
}

/** Keeps the text and the languages in the address. */
function remember() {
  const { text, marks, direction } = fields;
  const isNamed = isStarted && translator.directions.length > 1;
  const { source, target } = isNamed ? direction : readAddress();
  writeAddress({ text, marks, source, target });
}

/** Shows the languages of a direction. */
function name(direction) {
  const [from, to] = [direction.source, direction.target].map(nameOfLanguage);
  element("source-label").textContent = (direction.source !== AUTO && from) || messageOf("text");
  element("translation-label").textContent = to || messageOf("translation");
  document.title = from && to ? nameOf({ ...direction, isTrained: true }) : messageOf("title");
  element("title").textContent = document.title;
}

/** Shows an error instead of a translation. */
function fail(what, error) {
  say("failed", messageOf(what));
  element("progress").hidden = true;
  element("copy").hidden = true;
  showFailure(messageOfError(error));
}

/** Shows a message, with a button to try again; "" for none. */
function showFailure(message) {
  element("failure").textContent = message;
  element("failure").hidden = element("again").hidden = !message;
}

function offer(examples, language) {
  const buttons = examples.slice(0, 3).map((example) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", dir: "auto", lang: language ?? "", textContent: example });
    button.addEventListener("click", () => (fields.text = example));
    return button;
  });
  element("examples").replaceChildren(...buttons);
  showExamples();
}

/** Shows the examples until there is a text. */
function showExamples() {
  const examples = element("examples");
  examples.hidden = !examples.children.length || Boolean(fields.text);
}

async function copy() {
  const message = await fields.copy().then(
    () => messageOf("copied"),
    () => messageOf("copy refused"),
  );
  element("copy").textContent = element("announcement").textContent = message;
  setTimeout(() => {
    element("copy").textContent = messageOf("copy");
    element("announcement").textContent = "";
  }, 1500);
}

function say(state, text) {
  status.dataset.state = state;
  status.textContent = text;
}
