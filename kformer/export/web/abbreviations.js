// Decides where Intl.Segmenter ended a sentence too early, as `kformer.text.paragraphs.abbreviations`
// does, with its data: LANGUAGES, of languages.js.

import { LANGUAGES } from "./languages.js";

const ALIASES = { no: "nb", nn: "nb", bs: "hr", sr: "hr", lb: "de" };
const NEAR = 60; // UTF-16 units before an end that may decide about it.
const OPENING = /^["'«»„“”‘’‚‹›([{¿¡—–-]+/u;
const QUOTED = /["'«»„“”‘’‚‹›」』]$/u;
const CLOSING = /["'«»„“”‘’‚‹›)\]}]+$/u;
const NUMERAL = /^[IVXLC]+(?![\p{L}\p{N}_])/u;
const DECIMAL = /^\p{Nd}+$/u;
export const SMALL = /^\p{Ll}/u;
// A letter after these is a name, such as "Plan B", and no initial.
const LETTERED = new Set(
  (
    "plan vitamin vitamina vitamine vitamín type typ tipo class klasse classe clase group gruppe " +
    "groupe grupo gruppo part teil grade option section appendix hepatitis level team"
  ).split(" "),
);
// Words by which a sentence of Japanese or Korean goes on after a quotation.
const AFTER_QUOTATION =
  /^(?:と(?!ても|ころ|にか|りあ|もか|もだ|なり)|って|なんて|など|(?:하고|라고|이라고|라며|하며)(?![\p{L}\p{N}_]))/u;

/** Returns the abbreviations and ordinals of a language, such as "de". */
export function abbreviationsOf(language) {
  const lists = LANGUAGES[ALIASES[language] ?? language] ?? {};
  const words = (kind) => (lists[kind] ?? []).join(" ").split(" ").filter(Boolean);
  return {
    language,
    always: new Set(words("always")),
    number: new Set(words("number")),
    ordinals: new Set(words("ordinals")),
    beforeOrdinals: new Set(words("before_ordinals")),
    numberEnds: words("number").flatMap((one) => (one.startsWith("-") ? [one.slice(1)] : [])),
    ordinalBegins: words("ordinals").flatMap((one) => (one.endsWith("-") ? [one.slice(0, -1)] : [])),
  };
}

/** Returns whether `rest` belongs to the sentence that was ended before it. */
export function goesOn(sentence, rest, known) {
  const head = sentence.slice(-NEAR).trimEnd();
  let following = rest.trimStart();
  if (!head || !following) return true; // White space alone.
  if (goesOnAfterQuotation(head, following)) return true;
  if (!head.endsWith(".")) return false;
  following = following.replace(OPENING, "").slice(0, NEAR);
  if (SMALL.test(following)) return true;
  const words = head.trimStart().split(/\s+/u).map((word) => word.match(/[\p{L}\p{N}\p{M}.:]*$/u)[0]);
  const last = words.at(-1);
  if (/^\p{L}\.$/u.test(last) && /^\p{L}\./u.test(following)) return true; // "z." of "z. B."
  if (DECIMAL.test(withoutStop(last))) return isOrdinal(words, following, known);
  return isAbbreviation(words, following, known) || isInitial(words, known);
}

/** Returns whether a number before `following` is an ordinal, as in "3. Mai". */
export function isOrdinalBefore(following, known) {
  const word = following.match(/^\p{L}*/u)[0].toLowerCase();
  return known.ordinals.has(word) || known.ordinalBegins.some((one) => word.startsWith(one));
}

function goesOnAfterQuotation(head, following) {
  if (QUOTED.test(head) && AFTER_QUOTATION.test(following)) return true;
  const before = head.replace(CLOSING, "");
  const isClosed = before.length < head.length && /[!?….]$/u.test(before);
  // In French, white space stands before the quotation mark: "« Non ! » dit-il".
  const isClosedAfter = /^[»›]+\s/u.test(following);
  const next = isClosedAfter ? following.replace(/^[»›]+\s*/u, "") : following;
  return (isClosed || isClosedAfter) && SMALL.test(next);
}

function isOrdinal(words, following, known) {
  if (!known.ordinals.size) return false;
  if (/^\p{Nd}/u.test(following)) return true; // "3. 5. 2024"
  if ([...words.at(-1)].length > 3) {
    return known.language === "hu" && isOrdinalBefore(following, known); // "2024. május"
  }
  const before = (words.at(-2) ?? "").toLowerCase();
  return isOrdinalBefore(following, known) || known.beforeOrdinals.has(before);
}

function isAbbreviation(words, following, known) {
  const numbered = /^\p{Nd}/u.test(following) || NUMERAL.test(following);
  let joined = "";
  for (let place = 1; place <= Math.min(4, words.length); place += 1) {
    const word = words.at(-place);
    if (place > 1 && !word.endsWith(".")) break;
    joined = (word + joined).toLowerCase();
    const token = withoutStop(joined);
    const isNumbered = known.number.has(token) || known.numberEnds.some((one) => token.endsWith(one));
    if (numbered && isNumbered) return true;
    if (known.always.has(token)) {
      // "5 m." and "1799 г." are units.
      return place > 1 || token.length > 2 || !DECIMAL.test(words.at(-2) ?? "");
    }
  }
  return false;
}

/** Returns whether the last word is a capital and a full stop, as in "J. Bach" and "U.S.". */
function isInitial(words, known) {
  const word = words.at(-1);
  const before = words.at(-2) ?? "";
  if (/\..\.$/u.test(word)) return /\p{Lu}.$/u.test(word);
  if (!/^\p{Lu}\.$/u.test(word) || LETTERED.has(before.toLowerCase())) return false;
  const isPronoun = known.language === "en" && word === "I.";
  return !(isPronoun && /\p{Lowercase}/u.test(before) && before === before.toLowerCase());
}

function withoutStop(word) {
  return word.replace(/\.$/u, "");
}
