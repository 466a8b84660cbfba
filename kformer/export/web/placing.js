// Puts the marks of a sentence into its translation, by aligning their words.
//
// It is `kformer.documents.word_places` for marks, which begin and end at words.

import { alignPairs, sumOf } from "./aligning.js";

const LONGEST = 200; // Words of a sentence that is aligned; of longer ones, they are counted.
const SHARE = 0.5; // A word is in a mark if more of its weight is at the words of the mark.

const MARKED_WORDS =
  /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[\p{L}\p{N}])+(?:['’.\-][\p{L}\p{N}]+)*/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Returns the marks of each translation. A mark that has no words there is dropped.
 * @param {{source: string, marks: object[], translation: string}[]} sentences `marks` of the source;
 *     nested, the outer ones first. All sentences together show which words belong together.
 */
export function placedMarks(sentences) {
  const spans = sentences.map(({ source, translation }) => [source, translation].map(wordSpans));
  const isAligned = spans.map((both) => both.every(({ length }) => length && length <= LONGEST));
  const words = (text, ofText) => ofText.map((span) => text.slice(...span));
  const pairs = sentences.map(({ source, translation }, i) => ({
    source: words(source, spans[i][0]),
    target: words(translation, spans[i][1]),
  }));
  const aligned = alignPairs(pairs.filter((_, i) => isAligned[i]));
  return sentences.map(({ source, marks, translation }, i) => {
    const weights = isAligned[i] ? aligned.shift() : null;
    const placed = [];
    resolveMarks(treeOfMarks(marks), 0, translation.length, placed, (mark) =>
      placeOfMark(mark, source, translation, ...spans[i], weights),
    );
    return placed;
  });
}

/** Returns the start and end of each word of a text, without punctuation. */
function wordSpans(text) {
  return Array.from(text.matchAll(MARKED_WORDS), ({ index, 0: word }) => [index, index + word.length]);
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
function placeOfMark({ start, end, name }, source, translation, words, translated, weights) {
  const marked = source.slice(start, end);
  const text = marked.trim();
  if (!text) return [0, 0];
  const copy = onlyPlace(start + marked.length - marked.trimStart().length, text, source, translation);
  if (copy !== null) return [copy, copy + text.length];
  if (name === "code") return [0, 0]; // The model has translated it, so it is code no more.
  if (text === source.trim()) return [0, translation.length];
  const first = words.filter(([, wordEnd]) => wordEnd <= start).length;
  const last = words.filter(([wordStart]) => wordStart < end).length;
  if (first >= last || !translated.length) return [0, 0];
  if (weights) {
    const [begin, stop] = heaviest(weights.map((row) => sumOf(row.slice(first, last)) - SHARE));
    return [translated[begin][0], translated[stop][1]];
  }
  const ratio = translated.length / words.length;
  const begin = Math.min(Math.floor(first * ratio), translated.length - 1);
  const stop = Math.max(begin, Math.ceil(last * ratio) - 1);
  return [translated[begin][0], translated[stop][1]];
}

/** Returns the first and last place of the neighbours with the greatest sum: Kadane's algorithm. */
function heaviest(gains) {
  let [best, begin, stop] = [-Infinity, 0, 0];
  let [total, start] = [0, 0];
  gains.forEach((gain, place) => {
    if (total <= 0) [total, start] = [0, place];
    total += gain;
    if (total > best) [best, begin, stop] = [total, start, place];
  });
  return [begin, stop];
}

/** Returns where the translation has a text that both have once; null if it has no such place. */
function onlyPlace(start, text, source, translation) {
  const cuts = cutsAt(source, start, text.length);
  const [own, places] = [source, translation].map((within) => placesOf(text, within, cuts));
  return own.length === 1 && own[0] === start && places.length === 1 ? places[0] : null;
}

/** Returns where a text is that is cut off from longer words at most at the same sides. */
function placesOf(text, within, cuts) {
  const places = [];
  for (let place = within.indexOf(text); place >= 0; place = within.indexOf(text, place + 1)) {
    if (cutsAt(within, place, text.length).every((cut, side) => !cut || cuts[side])) places.push(place);
  }
  return places;
}

/** Returns whether the start and the end of a part of a text are within words. */
function cutsAt(text, start, length) {
  return [start, start + length].map((place) => {
    const before = Array.from(text.slice(Math.max(place - 2, 0), place)).at(-1) ?? "";
    return LETTER_OR_DIGIT.test(before) && LETTER_OR_DIGIT.test(String.fromCodePoint(text.codePointAt(place) ?? 0));
  });
}
