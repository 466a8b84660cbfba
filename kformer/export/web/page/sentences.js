"use strict";
// Splits lines into sentences, with the browser's own rules.

// Intl.Segmenter does not know abbreviations. After these, a sentence mostly goes on:
const ABBREVIATION = /(?<![\p{L}\p{N}])(?:\p{L}|[DFHJMNS][rst]|Mrs|Prof|bzw|vgl|usw)\.\s*$/u;
const NUMBER = /(?<![\p{L}\p{N}.,])\p{Nd}{1,2}\.\s*$/u;
// Languages that write "3." for "third":
const ORDINALS = new Set("bs cs da de et fi fo hr hu is lb lv nb nn no sk sl sr tr".split(" "));

/**
 * Returns a function that splits a line into sentences with the white space around them: joined,
 * they are the line. A browser without Intl.Segmenter gets the whole line.
 * @param {string | undefined} language The code of the language; the browser's own by default.
 */
function sentenceSplitter(language) {
  if (!Intl.Segmenter) return (line) => [line];
  const code = isLanguage(language) ? language : undefined;
  const segmenter = new Intl.Segmenter(code, { granularity: "sentence" });
  const ordinals = ORDINALS.has(code?.toLowerCase().split(/[-_]/)[0]);
  const goesOn = (text) => ABBREVIATION.test(text) || (ordinals && NUMBER.test(text));
  return (line) => {
    const sentences = [];
    for (const { segment } of segmenter.segment(line)) {
      if (goesOn(sentences.at(-1) ?? "")) sentences.push(sentences.pop() + segment);
      else sentences.push(segment);
    }
    return sentences;
  };
}

function isLanguage(code) {
  try {
    return Boolean(code && Intl.getCanonicalLocales(code));
  } catch {
    return false;
  }
}
