// The functions that TextRules.swift calls, beside those of the page.

const LINE_BREAK = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/gu;

/** Returns the pieces {before, source, after} of a text of many lines; `language` may be null. */
function piecesOfText(text, language) {
  const split = sentenceSplitter(language ?? "en");
  const pieces = [];
  let start = 0;
  for (const { 0: lineBreak, index } of text.matchAll(LINE_BREAK)) {
    pieces.push(...split(text.slice(start, index)), { before: lineBreak, source: "", after: "" });
    start = index + lineBreak.length;
  }
  return withSources([...pieces, ...split(text.slice(start))]);
}

/** Returns the pieces of the two parts of a sentence that is too long; none if it has none. */
function piecesOfHalves(sentence) {
  return withSources((halves(sentence) ?? []).map(pieceOfPart));
}
