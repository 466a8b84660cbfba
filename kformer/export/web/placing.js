// Puts the marks of a sentence into its translation, by aligning their words.
//
// It is `kformer.documents.word_places` and `nested_spans` for marks, which begin and end at words.

import { alignPairs, sumOf } from "./aligning.js";

const LONGEST = 200; // Words of a sentence that is aligned; of longer ones, they are counted.
const MOST_STEPS = 20; // Words on each side of a place that a span without text may get.
const MOST_MARKS = 100; // Beside a word, that are looked at.
const SHARE = 0.5; // A word is in a mark if more of its weight is at the words of the mark.

const MARKED_WORDS =
  /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[\p{L}\p{N}])+(?:['’.\-][\p{L}\p{N}]+)*/gu;
const PUNCTUATION = /[^\s\p{L}\p{N}]/u;
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
    const found = spansOfMarks(marks, (mark) => placeOfMark(mark, source, translation, ...spans[i], weights));
    resolveMarks(found, 0, translation.length, spans[i][1], translation, placed);
    return placed;
  });
}

/** Returns the start and end of each word of a text, without punctuation. */
function wordSpans(text) {
  return Array.from(text.matchAll(MARKED_WORDS), ({ index, 0: word }) => [index, index + word.length]);
}

/** Returns marks as a tree of spans, each where the translation has the words of its mark. */
function spansOfMarks(marks, placeOf) {
  const roots = [];
  const open = [];
  for (const mark of marks) {
    while (open.length && open.at(-1).mark.end <= mark.start) open.pop();
    const [start, end] = placeOf(mark);
    const span = { mark, start, end, hasText: end > start, children: [] };
    (open.at(-1)?.children ?? roots).push(span);
    open.push(span);
  }
  roots.forEach(reach);
  return roots;
}

/** Has a span reach the spans in it that would have no text within it. */
function reach(span) {
  for (const child of span.children) {
    reach(child);
    if (child.start < child.end && (child.end <= span.start || child.start >= span.end)) {
      span.start = Math.min(span.start, child.start);
      span.end = Math.max(span.end, child.end);
    }
  }
}

/**
 * Adds the marks of spans to `placed`: between two places, and none over its neighbour. One that
 * would lose its text, such as a link, gets a word beside its place.
 */
function resolveMarks(spans, first, last, words, text, placed) {
  const within = (place) => Math.min(Math.max(place, first), last);
  for (const span of spans) {
    span.start = within(span.start);
    span.end = Math.max(within(span.end), span.start);
  }
  sortSpans(spans);
  let done = first;
  spans.forEach((span, i) => {
    span.start = Math.max(span.start, done);
    span.end = Math.max(span.end, span.start);
    const following = spans[i + 1];
    if (following && following.start > span.start) span.end = Math.min(span.end, following.start);
    done = span.end;
    while (span.start < span.end && /\s/u.test(text[span.start])) span.start++;
    while (span.start < span.end && /\s/u.test(text[span.end - 1])) span.end--;
  });
  if (spans.some(isBare)) {
    giveWords(spans, words.filter(([start, end]) => start >= first && end <= last));
  }
  for (const { mark, start, end, children } of spans) {
    if (start === end) continue;
    placed.push({ ...mark, start, end });
    resolveMarks(children, start, end, words, text, placed);
  }
}

/**
 * Sorts spans by their starts, those that begin together by their ends. A span with another one
 * inside of it begins behind that one if it keeps more text so.
 */
function sortSpans(spans) {
  spans.sort((a, b) => a.start - b.start);
  for (let first = 0, behind; first < spans.length; first = behind) {
    const { start } = spans[first];
    const places = [];
    for (behind = first; spans[behind]?.start === start; behind++) {
      if (spans[behind].end > start) places.push(behind);
    }
    const together = places.map((place) => spans[place]).sort((a, b) => a.end - b.end);
    places.forEach((place, i) => (spans[place] = together[i]));
  }
  for (let place = 0; place < spans.length - 1; place++) {
    for (let i = place; i < Math.min(place + MOST_STEPS, spans.length - 1); i++) {
      const [span, following] = [spans[i], spans[i + 1]];
      if (span.end - following.end <= following.start - span.start) break;
      [spans[i], spans[i + 1]] = [following, span];
      span.start = Math.max(span.start, following.end);
    }
  }
}

/** Returns whether the translation has no text for a span that had some. */
function isBare({ hasText, start, end, children }) {
  return hasText && start === end && !children.some((child) => child.hasText);
}

/** Gives each bare span a word that no other has, or the last one of its neighbour. */
function giveWords(spans, words) {
  const held = spans.filter(({ start, end }) => end > start);
  const holder = ([start, end]) => held.find((span) => span.start < end && span.end > start);
  for (const span of spans) {
    if (!isBare(span)) continue;
    const near = wordsNear(words, span.start);
    const word = near.find((each) => !holder(each)) ?? wordOfNeighbour(near, holder);
    if (!word) continue;
    [span.start, span.end] = word;
    held.push(span);
  }
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns some words, those nearest to a place first. */
function wordsNear(words, place) {
  const found = words.findIndex(([start]) => start >= place);
  const ahead = found < 0 ? words.length : found;
  const steps = Array.from({ length: MOST_STEPS }, (_, step) => [ahead + step, ahead - 1 - step]);
  return steps.flat().map((number) => words[number]).filter(Boolean);
}

/** Returns a word that a span with several gives away, its last or first one. */
function wordOfNeighbour(near, holder) {
  for (const word of near) {
    const neighbour = holder(word);
    const [start, end] = word;
    if (neighbour.start < start && neighbour.end <= end) {
      neighbour.end = start;
      return word;
    }
    if (start <= neighbour.start && end < neighbour.end) {
      neighbour.start = end;
      return word;
    }
  }
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
  const [begin, stop] = weights
    ? heaviest(weights.map((row) => sumOf(row.slice(first, last)) - SHARE))
    : inProportion(first, last, words.length, translated.length);
  const inner = [translated[begin][0], translated[stop][1]];
  return withPunctuation(source, start, end, words[first][0], words[last - 1][1], translation, inner);
}

/** Returns the first and last of `targets` words for the words from first to last of `sources`. */
function inProportion(first, last, sources, targets) {
  const begin = Math.floor((first * targets) / sources);
  return [begin, Math.max(begin, Math.floor((last * targets - 1) / sources))];
}

/** Returns a place of words with the punctuation, such as brackets, that the source has there. */
function withPunctuation(source, start, end, first, last, translation, [begin, stop]) {
  const before = source.slice(Math.max(start, first - MOST_MARKS), first).trimStart();
  if (before && translation.endsWith(before, begin)) begin -= before.length;
  else if (before) {
    const least = Math.max(0, begin - Math.min(MOST_MARKS, numberOf(before)));
    while (begin > least && PUNCTUATION.test(translation[begin - 1])) begin--;
  }
  const behind = source.slice(last, Math.min(end, last + MOST_MARKS)).trimEnd();
  if (behind && translation.startsWith(behind, stop)) stop += behind.length;
  else if (behind) {
    const most = Math.min(translation.length, stop + Math.min(MOST_MARKS, numberOf(behind)));
    while (stop < most && PUNCTUATION.test(translation[stop])) stop++;
  }
  return [begin, stop];
}

/** Returns how many marks, such as brackets, a translation may have for those of a text. */
function numberOf(marks) {
  return marks.replaceAll("…", "...").replace(/\s/gu, "").length;
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
