"use strict";
// Puts the marks of a sentence into its translation: at equal words, or else in proportion.
//
// It is `kformer.documents.word_places` without the alignment of words.

const MARKED_WORDS =
  /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[\p{L}\p{N}])+(?:['’.\-][\p{L}\p{N}]+)*/gu;

/**
 * Returns the marks of a translation. A mark that has no words there is dropped.
 * @param {string} source
 * @param {object[]} marks Of the source; nested, the outer ones first.
 * @param {string} translation
 */
function placedMarks(source, marks, translation) {
  const words = [source, translation].map((text) =>
    [...text.matchAll(MARKED_WORDS)].map(({ index, 0: word }) => [index, index + word.length]),
  );
  const placed = [];
  resolveMarks(treeOfMarks(marks), 0, translation.length, placed, (mark) =>
    placeOfMark(mark, source, translation, ...words),
  );
  return placed;
}

/** Returns marks as a tree of {mark, children}. */
function treeOfMarks(marks) {
  const roots = [];
  const open = [];
  for (const mark of marks) {
    while (open.length && open.at(-1).mark.end <= mark.start) open.pop();
    const node = { mark, children: [] };
    (open.at(-1)?.children ?? roots).push(node);
    open.push(node);
  }
  return roots;
}

/** Adds the marks of nodes to `placed`: between two places, and none over its neighbour. */
function resolveMarks(nodes, first, last, placed, placeOf) {
  const within = (place) => Math.min(Math.max(place, first), last);
  const places = nodes.map((node) => [...placeOf(node.mark).map(within), node]);
  places.sort(([a], [b]) => a - b);
  let done = first;
  places.forEach(([start, end, { mark, children }], i) => {
    start = Math.max(start, done);
    end = Math.max(end, start);
    const following = places[i + 1]?.[0];
    if (following > start) end = Math.min(end, following);
    done = end;
    if (start === end) return;
    placed.push({ ...mark, start, end });
    resolveMarks(children, start, end, placed, placeOf);
  });
}

/** Returns where the translation of a mark's words begins and ends; equal places for no words. */
function placeOfMark({ start, end, name }, source, translation, words, translated) {
  const text = source.slice(start, end).trim();
  if (!text) return [0, 0];
  if (occurrences(source, text) === 1 && occurrences(translation, text) === 1) {
    const place = translation.indexOf(text);
    return [place, place + text.length];
  }
  if (name === "code") return [0, 0]; // The model has translated it, so it is code no more.
  if (text === source.trim()) return [0, translation.length];
  const first = words.filter(([, wordEnd]) => wordEnd <= start).length;
  const last = words.filter(([wordStart]) => wordStart < end).length;
  if (first >= last || !translated.length) return [0, 0];
  const ratio = translated.length / words.length;
  const begin = Math.min(Math.floor(first * ratio), translated.length - 1);
  const stop = Math.max(begin, Math.ceil(last * ratio) - 1);
  return [translated[begin][0], translated[stop][1]];
}

function occurrences(text, part) {
  return text.split(part).length - 1;
}
