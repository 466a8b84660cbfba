// The page: loads the translator, and has its fields translate what is typed.

import { Translator } from "./browser-translator.js";
import { fillMenu, nameOf } from "./directions.js";
import { factsOf, megabytes } from "./facts.js";
import { Fields } from "./fields.js";
import { LANGUAGE, messageOf, messageOfError, nameOfLanguage } from "./messages.js";
import { keepForOffline } from "./offline.js";

const element = (id) => document.getElementById(id);
const status = element("status");
const fields = new Fields(
  {
    source: element("source"),
    translation: element("translation"),
    notice: element("notice"),
  },
  {
    onStatus(state, text) {
      element("failure").hidden = true;
      element("copy").disabled = state === "translating";
      say(state, text);
    },
    onChange() {
      element("clear").hidden = !element("source").value;
    },
    onTranslated() {
      element("copy").hidden = !fields.translation.trim();
    },
    onFailure: (error) => fail("not translated", error),
  },
);

element("clear").addEventListener("click", () => {
  fields.text = "";
  element("source").focus();
});
element("copy").addEventListener("click", copy);
localize();
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
  try {
    const translator = await Translator.load(undefined, { onProgress });
    introduce(translator);
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
function introduce(translator) {
  const { metadata, size, directions, examples } = translator;
  element("progress").hidden = true;
  element("failure").hidden = true;
  say("ready", messageOf("ready"));
  status.setAttribute("aria-live", "off"); // From now on a screen reader announces only translations.
  element("facts").textContent = factsOf(metadata, size).join(" · ");
  fillMenu(element("directions"), directions, (direction) => {
    name(direction);
    fields.direction = direction;
  });
  name(directions[0]);
  offer(examples, directions[0].source);
  fields.start(translator, directions[0]);
}

/** Shows the languages of a direction. */
function name(direction) {
  const [from, to] = [direction.source, direction.target].map(nameOfLanguage);
  element("source-label").textContent = from || messageOf("text");
  element("translation-label").textContent = to || messageOf("translation");
  document.title = from && to ? nameOf({ ...direction, isTrained: true }) : messageOf("title");
  element("title").textContent = document.title;
}

/** Shows an error instead of a translation. */
function fail(what, error) {
  say("failed", messageOf(what));
  element("progress").hidden = true;
  element("copy").hidden = true;
  element("failure").textContent = messageOfError(error);
  element("failure").hidden = false;
}

function offer(examples, language) {
  const buttons = examples.slice(0, 3).map((example) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", dir: "auto", lang: language ?? "", textContent: example });
    button.addEventListener("click", () => (fields.text = example));
    return button;
  });
  element("examples").replaceChildren(...buttons);
  element("examples").hidden = !buttons.length;
}

async function copy() {
  const button = element("copy");
  button.textContent = await fields.copy().then(
    () => messageOf("copied"),
    () => messageOf("copy refused"),
  );
  setTimeout(() => (button.textContent = messageOf("copy")), 1500);
}

function say(state, text) {
  status.dataset.state = state;
  status.textContent = text;
}
