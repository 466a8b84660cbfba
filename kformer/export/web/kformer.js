// The module for browsers and bundlers: a translator, and an element that shows one.
//
//   import { Translator } from "./kformer.js";
//   const translator = await Translator.load();
//   await translator.translate("Ein Hund läuft.");

import { TranslatorElement } from "./translator-element.js";

export { Translator } from "./browser-translator.js";
export { TranslatorError } from "./translator-error.js";
export { TranslatorElement };

if (!customElements.get("kformer-translator")) customElements.define("kformer-translator", TranslatorElement);
