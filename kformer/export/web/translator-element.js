// `<kformer-translator>`: the two fields of the page, to be put into another page.

import { Translator } from "./browser-translator.js";
import { Fields } from "./fields.js";
import { messageOf, messageOfError, nameOfLanguage } from "./messages.js";

const STYLES = new URL("./fields.css", import.meta.url);
const CONTENT = `
  <div class="sides">
    <section class="side">
      <div class="head"><label for="source"></label></div>
      <div class="field">
        <div id="mirror" class="mirror" dir="auto" aria-hidden="true"></div>
        <textarea id="source" dir="auto" rows="4" disabled aria-describedby="notice"></textarea>
      </div>
    </section>
    <section class="side" aria-labelledby="translation-label">
      <div class="head">
        <h2 id="translation-label"></h2>
        <button id="copy" type="button" hidden></button>
      </div>
      <output id="translation" for="source" tabindex="0" aria-live="polite" aria-atomic="false" aria-labelledby="translation-label"></output>
    </section>
  </div>
  <div id="notice" class="notice" role="status" hidden></div>
  <p id="failure" class="failure" role="alert" hidden></p>`;

/**
 * Attributes: `src`, the address of a .tflite file, by default the one beside this module; `source`
 * and `target`, the codes of the languages, by default those of the first direction.
 *
 * Events: "ready" with the translator loaded, "translated" with each text translated, "error".
 */
export class TranslatorElement extends HTMLElement {
  static observedAttributes = ["src", "source", "target"];

  #fields;
  #translator = null;
  #loaded = null; // The `src` of the translator.

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.innerHTML = CONTENT;
    root.prepend(Object.assign(document.createElement("link"), { rel: "stylesheet", href: STYLES.href }));
    const part = (id) => root.getElementById(id);
    part("source").placeholder = messageOf("loading");
    part("copy").textContent = messageOf("copy");
    this.#label(null, null);
    this.#fields = new Fields(
      {
        source: part("source"),
        mirror: part("mirror"),
        translation: part("translation"),
        notice: part("notice"),
      },
      {
        onStatus: () => (part("failure").hidden = true),
        onChange: () => {},
        onTranslated: () => {
          part("copy").hidden = !this.translation.trim();
          this.dispatchEvent(new Event("translated"));
        },
        onFailure: (error) => this.#fail(error),
      },
    );
    part("copy").addEventListener("click", () => this.#copy(part("copy")));
  }

  /** The text to translate. */
  get value() {
    return this.#fields.text;
  }

  set value(text) {
    this.#fields.text = String(text);
  }

  /** The translation as text. */
  get translation() {
    return this.#fields.translation;
  }

  /** The `Translator`, or null until the event "ready". */
  get translator() {
    return this.#translator;
  }

  connectedCallback() {
    this.#load();
  }

  disconnectedCallback() {
    // An element that is only moved is connected again at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.#close();
    });
  }

  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === "src") this.#load();
    else if (this.#translator) this.#choose();
  }

  async #load() {
    const src = this.getAttribute("src") ?? undefined;
    if (this.#loaded !== null && this.#loaded.src === src) return;
    this.#close();
    const loaded = { src, stop: new AbortController() };
    this.#loaded = loaded;
    try {
      const translator = await Translator.load(src, { signal: loaded.stop.signal });
      if (this.#loaded !== loaded) {
        translator.close();
        return;
      }
      this.#translator = translator;
      this.#choose();
      const source = this.shadowRoot.getElementById("source");
      Object.assign(source, { disabled: false, placeholder: messageOf("placeholder") });
      this.dispatchEvent(new Event("ready"));
    } catch (error) {
      if (this.#loaded === loaded) this.#fail(error);
    }
  }

  #close() {
    this.#loaded?.stop.abort();
    this.#translator?.close();
    this.#loaded = this.#translator = null;
  }

  #choose() {
    try {
      const chosen = (name) => this.getAttribute(name) ?? undefined;
      const direction = this.#translator.direction({ source: chosen("source"), target: chosen("target") });
      this.#label(direction.source, direction.target);
      this.#fields.start(this.#translator, direction);
    } catch (error) {
      this.#fail(error);
    }
  }

  #label(source, target) {
    const root = this.shadowRoot;
    root.querySelector("label").textContent = nameOfLanguage(source) ?? messageOf("text");
    root.getElementById("translation-label").textContent = nameOfLanguage(target) ?? messageOf("translation");
  }

  #fail(error) {
    const failure = this.shadowRoot.getElementById("failure");
    failure.textContent = messageOfError(error);
    failure.hidden = false;
    this.dispatchEvent(Object.assign(new Event("error"), { error }));
  }

  async #copy(button) {
    button.textContent = await this.#fields.copy().then(
      () => messageOf("copied"),
      () => messageOf("copy refused"),
    );
    setTimeout(() => (button.textContent = messageOf("copy")), 1500);
  }
}
