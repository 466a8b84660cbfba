// Splits lines into sentences, with the browser's own rules and what abbreviations.js and marks.js add.

import { abbreviationsOf, goesOn } from "./abbreviations.js";
import { withSources } from "./joining.js";
import { markEnd, pieceOf } from "./marks.js";

// Where the browser takes a mark that opens a quotation for one that closes the sentence before.
const OPENED = /(?:(?<=\s)["'«»„“”‘’(\[{¿¡]|[「『（《〈【])+$/u;

/**
 * Returns a function that splits a line into pieces {before, source, after}: joined, they are the
 * line. A browser without Intl.Segmenter gets the whole line.
 * @param {string | undefined} language The code of the language; the browser's own by default.
 */
export function sentenceSplitter(language) {
  const code = isLanguage(language) ? language : undefined;
  const known = abbreviationsOf((code ?? "en").toLowerCase().split(/[-_]/)[0]);
  const segmenter = Intl.Segmenter && new Intl.Segmenter(code, { granularity: "sentence" });
  return (line) =>
    withSources(
      sentencesOfLine(line, segmenter, known).map((sentence, i) => pieceOf(sentence, i === 0, known)),
    );
}

function sentencesOfLine(line, segmenter, known) {
  if (!segmenter || !line) return line ? [line] : [];
  const text = withCapitals(line);
  const first = markEnd(text, true, known);
  const sentences = [];
  let start = 0;
  let segmented = first;
  for (const { segment } of segmenter.segment(text.slice(first))) {
    segmented += segment.length;
    const opened = segmented < line.length ? (segment.match(OPENED)?.[0].length ?? 0) : 0;
    const end = segmented - opened;
    if (end <= Math.max(start, first)) continue;
    if (end === line.length || !goesOn(text.slice(Math.max(start, first), end), text.slice(end), known)) {
      sentences.push(line.slice(start, end));
      start = end;
    }
  }
  if (start < line.length) sentences.push(line.slice(start));
  return sentences;
}

/**
 * Returns a line without capitals with one at the beginning of each sentence, of equal length. A
 * small letter after a full stop is else a sign that the sentence goes on.
 */
function withCapitals(line) {
  if (/^[^\p{Lu}\p{Ll}]*(?:\p{Lu}|$)/u.test(line)) return line;
  return line.replace(/(?<=[.!?…][\s"'”’»)\]])(?:[([]?\d{1,3}[.)\]]\s)?[^\p{L}\p{N}_.!?…,;:]*\p{L}/gu, (found) => {
    const upper = found.toUpperCase();
    return upper.length === found.length ? upper : found;
  });
}

function isLanguage(code) {
  try {
    return Boolean(code && Intl.getCanonicalLocales(code));
  } catch {
    return false;
  }
}
