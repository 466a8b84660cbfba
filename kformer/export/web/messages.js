// What the page and its module write for people, in the language of their browser.

import { STRINGS } from "./strings.js";

const MOST_RANGES = 8; // Of the numbers of lines in a message.

/** The code of the language of the interface. */
export const LANGUAGE = interfaceLanguage(globalThis.navigator?.languages ?? []);

/** Returns the first language of a list of codes that the interface has, or English. */
export function interfaceLanguage(codes) {
  const known = codes.map((code) => code.toLowerCase().split("-")[0]);
  return known.find((code) => Object.hasOwn(STRINGS, code)) ?? "en";
}

/**
 * Returns a message with its values, which stand in braces in strings.js.
 * @param {string} key
 * @param {Object} values
 * @param {string} language The code of a language of the interface.
 */
export function messageOf(key, values = {}, language = LANGUAGE) {
  return STRINGS[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Returns the sentence about a flag of a translation; a flag of a newer kformer is named as it is. */
export function messageOfFlag(flag) {
  return Object.hasOwn(STRINGS.en, `flag ${flag}`) ? messageOf(`flag ${flag}`) : flag;
}

/** Returns a message about lines of the text, with their numbers in ascending order. */
export function messageOfLines(numbers, message) {
  if (numbers.length === 1) return messageOf("line", { line: numbers[0], message });
  const ranges = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last.end + 1 === number) last.end = number;
    else ranges.push({ start: number, end: number });
  }
  const shown = ranges.flatMap(({ start, end }) => (end - start === 1 ? [start, end] : [start === end ? start : `${start}–${end}`]));
  const parts = shown.slice(0, MOST_RANGES).map(String);
  if (shown.length > MOST_RANGES) parts.push("…");
  return messageOf("lines", { lines: new Intl.ListFormat(LANGUAGE).format(parts), message });
}

/** Returns the sentence about a `TranslatorError`, or the message of another error. */
export function messageOfError({ code, values, message }) {
  return Object.hasOwn(STRINGS.en, `failure ${code}`) ? messageOf(`failure ${code}`, values) : message;
}

/** Returns the name of a language in that of the interface, or `code` if it is no language code. */
export function nameOfLanguage(code) {
  try {
    const name = code && new Intl.DisplayNames(LANGUAGE, { type: "language" }).of(code);
    return name && name[0].toLocaleUpperCase(LANGUAGE) + name.slice(1);
  } catch {
    return code;
  }
}
