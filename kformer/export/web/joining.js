// Translations in the places of their sources, as in `kformer.text.paragraphs.joining`.

// Characters of Chinese and Japanese, which have no spaces between sentences.
const HAN_AND_KANA =
  "\\u2e80-\\u312f\\u31a0-\\u31bf\\u31f0-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uff9f" +
  "\\u{20000}-\\u{3ffff}";
const UNSPACED = new RegExp(`[${HAN_AND_KANA}]`, "gu");
const OTHER_WORDS = new RegExp(`(?:(?![${HAN_AND_KANA}])\\p{L})+`, "gu");
// With Thai, Lao, Tibetan, Burmese and Khmer, which have none between words.
const UNSPACED_WORDS = new RegExp(
  `[${HAN_AND_KANA}\\u0e00-\\u0fff\\u1000-\\u109f\\u1780-\\u17ff]`,
  "u",
);
// Spaces between sentences; tabs and line breaks belong to the layout of a text.
const SPACES = /^[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*$/u;

/** Returns pieces that all have a source, but the only one of a text without any. */
export function withSources(pieces) {
  let kept = "";
  const found = [];
  for (const { before, source, after } of pieces) {
    if (source) {
      found.push({ before: kept + before, source, after });
      kept = "";
    } else {
      kept += before + after;
    }
  }
  if (kept) {
    const { before, source, after } = found.pop() ?? { before: "", source: "", after: "" };
    found.push({ before, source, after: after + kept });
  }
  return found;
}

/**
 * Returns what separates the translations of two pieces of a text that follow each other: no space
 * between sentences of Chinese and Japanese, one between others, and all else as in the source.
 */
export function between(piece, translation, nextPiece, nextTranslation) {
  const gap = piece.after + nextPiece.before;
  if (!translation || !nextTranslation || !SPACES.test(gap)) return gap;
  if (isUnspaced(translation + nextTranslation)) return gap.includes("\u3000") ? "\u3000" : "";
  const touches = (before, after) => UNSPACED_WORDS.test(lastOf(before) + firstOf(after));
  if (!gap && touches(piece.source, nextPiece.source)) {
    return touches(translation, nextTranslation) ? "" : " ";
  }
  return gap.replaceAll("\u3000", " ");
}

/** Returns whether most of a text is Chinese or Japanese: a character counts as a word. */
function isUnspaced(text) {
  const characters = text.match(UNSPACED)?.length ?? 0;
  return characters > 0 && characters >= (text.match(OTHER_WORDS)?.length ?? 0);
}

function firstOf(text) {
  return text ? String.fromCodePoint(text.codePointAt(0)) : "";
}

function lastOf(text) {
  return [...text.slice(-2)].at(-1) ?? "";
}

/** Returns the text of pieces with their translations in place of their sources. */
export function joined(pieces, translations) {
  let text = "";
  pieces.forEach((piece, i) => {
    text += i ? between(pieces[i - 1], translations[i - 1], piece, translations[i]) : piece.before;
    text += translations[i];
  });
  return text + (pieces.at(-1)?.after ?? "");
}
