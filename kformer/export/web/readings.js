// Texts as a model reads them, and its answers as they are given, as in
// `kformer.inference.readings` and `kformer.inference.capitals`.

import { isForeign, isWordless, sureFlags } from "./sure-checks.js";

const LEAST_IN_CAPITALS = { words: 2, letters: 6 }; // A single word may be an acronym.

/**
 * Returns how a model reads a text.
 * @param {string} text
 * @param {{scripts: ?string[], reads_capitals: ?boolean}} metadata Of a `.tflite` file.
 * @returns {{read: string, isRaised: boolean, isKept: boolean}} `isRaised`: it is in capitals, and
 *     read in small letters; `isKept`: the model cannot spell any of its letters, and reads nothing.
 */
export function readingOf(text, { scripts, reads_capitals: readsCapitals }) {
  if (scripts && isForeign(text, scripts)) return { read: "", isRaised: false, isKept: true };
  const isRaised = readsCapitals === false && isInCapitals(text);
  return { read: isRaised ? inSmallLetters(text) : text, isRaised, isKept: false };
}

/**
 * Returns an answer to a text as it is given, with the flags that its text shows.
 * @param {string} text
 * @param {object} reading Of `readingOf`.
 * @param {{text: string, flags: string[], quality: number | undefined}} answer Of the model.
 */
export function checkedAnswer(text, reading, answer) {
  const hasQuality = answer.quality !== undefined;
  if (reading.isKept) return { text, flags: ["unknown characters"], quality: hasQuality ? 0 : undefined };
  const raised = sureFlags(reading.read, answer.text);
  const isPlain = hasQuality && !raised.length && isWordless(reading.read);
  const isUnsure = answer.flags.includes("unsure") && !isPlain;
  const flags = new Set([...answer.flags.filter((flag) => flag !== "unsure"), ...raised]);
  if (isUnsure) flags.add("unsure");
  return {
    text: reading.isRaised ? answer.text.toUpperCase() : answer.text,
    flags: [...flags],
    quality: isPlain ? 1 : answer.quality,
  };
}

/** Returns whether a sentence of several words has no small letter. */
export function isInCapitals(sentence) {
  if (!hasCapitalsOnly(sentence)) return false;
  const words = sentence.split(/[\t-\r\x1c-\x20\x85\p{Z}]/u).filter(hasCapitalsOnly);
  const letters = sentence.match(/\p{Uppercase}/gu).length;
  return words.length >= LEAST_IN_CAPITALS.words && letters >= LEAST_IN_CAPITALS.letters;
}

/** Returns a sentence in small letters, with a capital at its beginning. */
export function inSmallLetters(sentence) {
  const small = sentence.toLowerCase();
  const first = /\p{L}/u.test(small) ? /\p{L}/u : /^./su;
  return small.replace(first, (letter) => letter.toUpperCase());
}

function hasCapitalsOnly(text) {
  return /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
}
