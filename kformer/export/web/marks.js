// Parts of a text that are kept as they are, as in `kformer.text.paragraphs.marks`.

import { abbreviationsOf, isOrdinalBefore, SMALL } from "./abbreviations.js";

// Each of these may be followed by others, as in "> - 1. a)".
const LIST_MARK = new RegExp(
  [
    "#{1,6}END", // A heading of Markdown.
    ">+(?:END|(?=[\\p{L}\\p{Nl}\\p{No}]))", // A quotation of mail.
    "(?:[-–—―]{1,3}|[*+·~])END",
    "[–—―](?=[\\p{L}\\p{Nl}\\p{No}]|[¿¡\"“„«])", // Direct speech.
    "[•‣⁃∙・※◦▪▫●○■□◆◇►▶]\\s*",
    "\\[[ xX]?\\]END",
    "[\\u2460-\\u249b\\u24ea-\\u24ff\\u2776-\\u2793\\u3220-\\u3229\\u3280-\\u3289]\\s*",
    "\\p{Nd}\\ufe0f?\\u20e3\\s*",
    "\\(?[\\p{L}\\p{Nl}\\p{No}][)）]END",
    "\\(?(?:[ivx]{2,5}|[IVX]{2,5})\\)END",
    "[一二三四五六七八九十百]{1,3}[、．)）]\\s*",
    "[(（][一二三四五六七八九十]{1,3}[)）]\\s*",
  ]
    .join("|")
    .replaceAll("END", "(?:\\s+|$)"),
  "uy",
);
const NUMBER_MARK = new RegExp(
  [
    "\\p{Nd}{1,3}(?:\\.\\p{Nd}{1,3}){0,4}[.)]END",
    "\\p{Nd}{1,3}\\.\\)END",
    "\\p{Nd}{1,2}(?:\\.\\p{Nd}{1,2}){2,4}\\s+", // A heading such as "1.2.3 Results".
    "\\p{Nd}{1,3}[-–](?:\\s+(?![a-z])|$)", // A list in Arabic.
    "\\p{Nd}{1,3}[.)](?=[\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff])",
    "\\p{Nd}{1,3}[、．）]\\s*",
    "[(（\\[]\\p{Nd}{1,3}[)）\\]]\\s*",
    "(?=[IVXL])(?:XL|X{0,3})(?:IX|IV|V?I{0,3})\\.END",
    "(?=[ivxl])(?:xl|x{0,3})(?:ix|iv|v?i{0,3})\\.END",
  ]
    .join("|")
    .replaceAll("END", "(?:\\s+|$)"),
  "uy",
);
const LETTER_MARK = /(\p{L})\.(?:\s+|$)(?![\p{L}\p{Nl}\p{No}]\.)/uy;
const INNER_MARK = /\p{Nd}{1,3}(?:[.)](?:\s+|$)|[、．）]\s*)/uy; // Of a list within a line.
// An emoji, an arrow or the like.
const SYMBOL =
  "(?:(?![\\u0000-\\u218f\\u3200-\\u33ff])[\\p{So}\\p{Sm}\\p{Sk}]|\\p{L}(?=\\ufe0f))" +
  "[\\u200d\\u20e3\\ufe0f\\u{e0020}-\\u{e007f}]*";
const LEADING_SYMBOL = new RegExp(`${SYMBOL}\\s*`, "uy");
const DOTS = /(?<=[.!?…])\s+(?:\.{2,}|…)$/u; // Behind a sentence.
const TRAILING = new RegExp(`(?:${SYMBOL}|\\s)+$`, "u");

/** Returns whether there is a letter of any script; an emoji such as "ℹ️" is none. */
function hasLetter(text) {
  return /\p{L}(?!\ufe0f)/u.test(text);
}

/** Takes off white space, list marks and, at both ends, symbols such as emoji. */
export function pieceOf(sentence, beginsLine, known) {
  const start = markEnd(sentence, beginsLine, known);
  const source = sentence.slice(start).replace(TRAILING, "").replace(DOTS, "");
  if (!hasLetter(source)) return { before: sentence, source: "", after: "" };
  return { before: sentence.slice(0, start), source, after: sentence.slice(start + source.length) };
}

/** Takes a part of a sentence that was too long as `pieceOf` takes a sentence. */
export function pieceOfPart(part) {
  return pieceOf(part, false, abbreviationsOf(""));
}

/** Returns where the white space and the marks at the beginning of a text end. */
export function markEnd(text, beginsLine, known) {
  let end = text.length - text.trimStart().length;
  for (let found; (found = endOfMark(text, end, beginsLine, known)); ) end = found;
  return end;
}

function endOfMark(text, start, beginsLine, known) {
  const matched = (pattern) => {
    pattern.lastIndex = start;
    return pattern.exec(text);
  };
  const endOf = (found) => start + found[0].length;
  let found = matched(LEADING_SYMBOL);
  if (found) return endOf(found);
  if (!beginsLine) {
    found = matched(INNER_MARK);
    return found && !isDate(text, endOf(found), found[0], known) ? endOf(found) : 0;
  }
  found = matched(LIST_MARK);
  if (found) return endOf(found);
  found = matched(NUMBER_MARK);
  if (found) return isDate(text, endOf(found), found[0], known) ? 0 : endOf(found);
  found = matched(LETTER_MARK);
  const isMark =
    found && SMALL.test(found[1]) && !known.always.has(found[1]) && !known.number.has(found[1]);
  return isMark ? endOf(found) : 0;
}

/** Returns whether a number is an ordinal: "3. Mai", "1. FC" and "24.12. ist". */
function isDate(text, end, mark, known) {
  if (!known.ordinals.size) return false;
  const following = text.slice(end);
  if (/^\p{Nd}+\.\p{Nd}+\.\s*$/u.test(mark) && SMALL.test(following)) return true;
  return isOrdinalBefore(following, known);
}
