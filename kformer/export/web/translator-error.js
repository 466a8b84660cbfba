// The one kind of error that loading and translating throw, for people and for programs.

import { messageOf } from "./messages.js";

/** Why a text has no translation; `code` is a key of `failures` in messages.js. */
export class TranslatorError extends Error {
  /**
   * @param {string} code
   * @param {Object} values What the message names, such as {file, status}.
   */
  constructor(code, values = {}) {
    super(messageOf(`failure ${code}`, values, "en"));
    this.name = "TranslatorError";
    this.code = code;
    this.values = values;
  }
}
