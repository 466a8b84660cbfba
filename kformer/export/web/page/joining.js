"use strict";
// Translations in the places of their sources, as in `kformer.text.paragraphs.joining`.

// Characters of scripts that need no space between two sentences.
const UNSPACED =
  /[\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60\u{20000}-\u{3ffff}]/u;

/** Takes a text apart: {before, source, after}, with the white space before and after it. */
function pieceOf(text) {
  const source = text.trim();
  const start = text.length - text.trimStart().length;
  return { before: text.slice(0, start), source, after: text.slice(start + source.length) };
}

/**
 * Returns what separates the translations of two pieces of a text that follow each other: the white
 * space between the pieces, or a space if the script of the sources needs none, but that of the
 * translations does.
 */
function between(piece, translation, nextPiece, nextTranslation) {
  const space = piece.after + nextPiece.before;
  if (space || !translation || !nextTranslation) return space;
  const isUnspaced = (before, after) => UNSPACED.test(lastOf(before) + firstOf(after));
  const needed =
    isUnspaced(piece.source, nextPiece.source) && !isUnspaced(translation, nextTranslation);
  return needed ? " " : "";
}

function firstOf(text) {
  return text ? String.fromCodePoint(text.codePointAt(0)) : "";
}

function lastOf(text) {
  return [...text.slice(-2)].at(-1) ?? "";
}

/** Returns the text of pieces with their translations in place of their sources. */
function joined(pieces, translations) {
  let text = "";
  pieces.forEach((piece, i) => {
    text += i ? between(pieces[i - 1], translations[i - 1], piece, translations[i]) : piece.before;
    text += translations[i];
  });
  return text + (pieces.at(-1)?.after ?? "");
}
