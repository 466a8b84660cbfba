// Faults of a translation that its text shows, as in `kformer.inference.sure_checks`.
//
// For the classes of Python, which are Unicode's: a letter is [\p{L}\p{Nl}\p{No}], a character of a
// word [\p{L}\p{N}_], and white space [\t-\r\x1c-\x20\x85\p{Z}].

// Every repetition is bounded or ends at a character that it lacks: linear time.
const ADDRESS =
  /(?:https?|ftp):\/\/[^\t-\r\x1c-\x20\x85\p{Z}<>"'{}|\\^`]{0,1999}[\p{L}\p{N}_/]|www\.[\p{L}\p{N}_.\-]{1,253}\.[\p{L}\p{N}_]{2,63}|(?<![\p{L}\p{N}_.+\-])[\p{L}\p{N}_.+\-]{1,64}@[\p{L}\p{N}_\-]{1,63}(?:\.[\p{L}\p{N}_\-]{1,63}){1,8}/gu;
const PLACEHOLDER =
  /\{\{[^{}]{0,99}\}\}|[$#%]?\{[^{}]{0,99}\}|%(?:\p{Nd}{1,3}\$)?(?:\([\p{L}\p{N}_]{1,99}\))?[dsf@](?![\p{L}\p{N}_])|<\/?[A-Za-z][^<>]{0,999}>|`[^`]{1,999}`/gu;
const BRACKET = /[([（［【]/gu;
// Of names, such as "H1N1" and "A-380", and of ordinals, such as "19th", which others write "XIX".
const OTHER_DIGITS =
  /(?<![\p{L}\p{Nl}\p{No}])[\p{L}\p{Nl}\p{No}]+[-\u2010\u2011]?\p{Nd}[\p{L}\p{N}_.\-]*|(?<!\p{Nd})\p{Nd}+(?=[\p{L}\p{Nl}\p{No}])/gu;
const DIGITS = /\p{Nd}+/gu;
const [SPACES_IN_NUMBER, MARKS_IN_NUMBER] = [" \u00a0\u2009\u202f", ".,'’\u066b\u066c"];
// As `kformer.text.numbers.NUMBER`. (?=(…))\1 gives nothing back that it matched.
const NUMBER = new RegExp(
  [
    "(?<!D)(?<!DM)(?:",
    "(?=(D{1,3}(?:SD{3}(?!D)){1,6}(?:MD{1,20})?))\\1|",
    "(?=(D{1,20}(?:MD{1,20}){0,8}))\\2",
    ")(?!D)(?!MD)",
  ]
    .join("")
    .replaceAll("S", `[${SPACES_IN_NUMBER}]`)
    .replaceAll("M", `[${MARKS_IN_NUMBER}]`)
    .replaceAll("D", "\\p{Nd}"),
  "gu",
);
const MOST_DECIMALS = 2; // More digits behind a mark may be a group of a whole number.
const LEAST_LARGE = 13; // Whole numbers below it are also words, and hours.
const WORDS = /[\p{L}\p{Nl}\p{No}]+/gu;
const MOST_IN_A_ROW = 3; // Times that a word may stand behind itself: "ha ha ha".
const LEAST_COPIED = 3; // Words in small letters; a title or a list of names is rightly copied.
const [MANY_WORDS, MOSTLY] = [5, 0.8]; // A line of so many is copied, too, if it keeps this share.
const SCRIPTS = {
  Han: "\\u3005\\u3400-\\u9fff\\u{20000}-\\u{3ffff}",
  Kana: "\\u3041-\\u30ff",
  Hangul: "\\u1100-\\u11ff\\uac00-\\ud7af",
  Cyrillic: "\\u0400-\\u052f",
  Greek: "\\u0386-\\u03ff\\u1f00-\\u1fff",
  Arabic: "\\u0620-\\u06ff",
  Hebrew: "\\u05d0-\\u05ea",
  Indic: "\\u0900-\\u0dff",
  Thai: "\\u0e01-\\u0e5b",
  Emoji: "\\u2600-\\u27bf\\u{1f300}-\\u{1faff}",
  Latin: "A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff",
  Other: "\\p{L}\\p{Nl}\\p{No}",
};
const SCRIPT_NAMES = Object.keys(SCRIPTS);
const LETTER_OF_SCRIPT = new RegExp(SCRIPT_NAMES.map((name) => `([${SCRIPTS[name]}])`).join("|"), "gu");
const BEYOND_LATIN = /[\u0370-\u{10ffff}]/u;

/**
 * Returns the flags of a translation that its text shows, usually none: "number missed", "address
 * missed", "placeholder missed", "bracket missed", "unknown characters", "copied", "loop".
 */
export function sureFlags(source, target) {
  if (isBlank(source)) return [];
  const checks = {
    "number missed": () => lacksNumbers(source, target),
    "address missed": () => lacksMatches(ADDRESS, source, target),
    "placeholder missed": () => lacksMatches(PLACEHOLDER, source, target),
    "bracket missed": () => matchesOf(BRACKET, source).length > matchesOf(BRACKET, target).length,
    "unknown characters": () => lacksCharacters(source, target),
    "copied": () => isCopied(source, target),
    "loop": () => mostInARow(target) > Math.max(MOST_IN_A_ROW, mostInARow(source)),
  };
  return Object.keys(checks).filter((flag) => checks[flag]());
}

/** Returns whether a text has letters, and none of them of some scripts, given by name. */
export function isForeign(text, scripts) {
  const letters = lettersByScript(text);
  return letters.size > 0 && ![...letters.keys()].some((script) => scripts.includes(script));
}

/** Returns whether a text has nothing to translate: numbers, addresses and marks alone. */
export function isWordless(text) {
  return text.replace(ADDRESS, "").replace(PLACEHOLDER, "").search(WORDS) < 0;
}

function isBlank(text) {
  return /^[\t-\r\x1c-\x20\x85\p{Z}]*$/u.test(text);
}

function matchesOf(pattern, text) {
  return text.match(pattern) ?? [];
}

function lacksMatches(pattern, source, target) {
  return distinct(matchesOf(pattern, source)).some((match) => !target.includes(match));
}

function lacksNumbers(source, target) {
  if (source.search(DIGITS) < 0) return false;
  const bare = source.replace(ADDRESS, " ").replace(PLACEHOLDER, " ").replace(OTHER_DIGITS, " ");
  const parts = new Set(matchesOf(DIGITS, target)); // "7.55" may be "7h55", "380 000" two numbers.
  const missed = matchesOf(NUMBER, bare).filter((number) => !matchesOf(DIGITS, number).every((part) => parts.has(part)));
  if (!missed.length) return false;
  const values = numbersIn(target);
  const isMissed = (value) => isLarge(value) && !waysToWrite(value).some((way) => values.has(way));
  return missed.map(valueOf).some(isMissed);
}

/** Returns the numbers of a text, as `valueOf` writes them. */
function numbersIn(text) {
  const space = new RegExp(`[${SPACES_IN_NUMBER}]`, "u");
  // The space of "12 500 km" may also stand between two numbers.
  const written = matchesOf(NUMBER, text).flatMap((number) => [number, ...number.split(space)]);
  return new Set(written.map(valueOf));
}

/** Returns the digits of a number, with a point before those that can only be decimals. */
function valueOf(number) {
  const mark = new RegExp(`[${MARKS_IN_NUMBER}]`, "gu");
  const digits = number.replace(new RegExp(`[${SPACES_IN_NUMBER}]`, "gu"), "").replace(/\p{Nd}/gu, decimalOf);
  const marks = matchesOf(mark, digits);
  const parts = digits.split(mark);
  const isDecimal = marks.length && (parts.at(-1).length <= MOST_DECIMALS || new Set(marks).size > 1);
  const decimals = isDecimal ? parts.pop().replace(/(?<!0)0+$/, "") : "";
  const whole = parts.join("").replace(/^0+/, "") || "0";
  return decimals ? `${whole}.${decimals}` : whole;
}

/** Returns the value of a decimal digit of any script: they come in tens, from zero to nine. */
function decimalOf(digit) {
  const code = digit.codePointAt(0);
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (code - zero) % 10;
}

/** Returns the digits of a number as a translation may have them: 350000 is "350 thousand". */
function waysToWrite(value) {
  const ways = [value];
  while (value.endsWith("000")) ways.push((value = value.slice(0, -3)));
  return ways;
}

function isLarge(value) {
  return value.includes(".") || Number(value) >= LEAST_LARGE;
}

/** Returns whether letters of a foreign script, or emoji, were lost. */
function lacksCharacters(source, target) {
  if (!BEYOND_LATIN.test(source)) return false;
  const letters = lettersByScript(source);
  const known = new Set(["Latin", ...[letters, lettersByScript(target)].map(mainScript)]);
  known.delete("Emoji");
  if (known.has("Han") || known.has("Kana")) known.add("Han").add("Kana");
  const foreign = [...letters].filter(([script]) => !known.has(script));
  return foreign.some(([, own]) => distinct(own).some((letter) => !target.includes(letter)));
}

function distinct(parts) {
  return [...new Set(parts)];
}

/** Returns the letters of each script of a text, by its name. */
function lettersByScript(text) {
  const letters = new Map();
  for (const [letter, ...groups] of text.matchAll(LETTER_OF_SCRIPT)) {
    const script = SCRIPT_NAMES[groups.indexOf(letter)];
    if (letters.has(script)) letters.get(script).push(letter);
    else letters.set(script, [letter]);
  }
  return letters;
}

/** Returns the script with the most letters; undefined if there are none. */
function mainScript(letters) {
  const most = Math.max(...[...letters.values()].map((own) => own.length));
  return [...letters.keys()].find((script) => letters.get(script).length === most);
}

function isCopied(source, target) {
  const [first, second] = [source, target].map((text) => matchesOf(WORDS, text.replace(ADDRESS, " ")));
  const small = first.filter(isInSmallLetters);
  if (new Set(small).size < LEAST_COPIED) return false;
  if (first.length === second.length && first.every((word, i) => word === second[i])) return true;
  const known = new Set(second);
  const same = small.filter((word) => known.has(word)).length;
  return small.length >= MANY_WORDS && same >= MOSTLY * small.length;
}

/** Returns whether letters with two forms are all small, and there are some. */
function isInSmallLetters(word) {
  return /\p{Lowercase}/u.test(word) && !/[\p{Uppercase}\p{Lt}]/u.test(word);
}

/** Returns how many times the most repeated word stands behind itself, at least 1. */
function mostInARow(text) {
  let [most, times, before] = [1, 0, null];
  for (const word of matchesOf(WORDS, text.toLowerCase())) {
    times = word === before ? times + 1 : 1;
    before = word;
    most = Math.max(most, times);
  }
  return most;
}
