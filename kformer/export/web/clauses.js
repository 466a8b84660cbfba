// Splits a sentence that is too long for the file, as `kformer.text.paragraphs.sentence_splitting` does.

const ENDS = [
  /[,;:!?…–—\u060c\u061b\u0964]["'”’»)\]]?\s+|[\u3001\u3002\uff0c\uff1a\uff1b]\s*/gu, // Of clauses.
  /\s+/gu, // Of words.
];
const MARK = /[\p{M}\u{1f3fb}-\u{1f3ff}]/u; // Is one character with what is before it.
const JOINER = "\u200d";

/**
 * Returns the two parts of a sentence, which joined are the sentence; null if it has none.
 *
 * The first part ends in the middle half of the sentence, as near to its middle as it can: with a
 * clause; if none ends there, with a word; else with a character that users would call one.
 */
export function halves(sentence) {
  const characters = [...sentence];
  const middle = characters.length / 2;
  const most = middle / 2;
  const distance = (end) => Math.abs(end - middle);
  const nearest = (ends) => ends.sort((a, b) => distance(a) - distance(b));
  const parted = (end) => [characters.slice(0, end).join(""), characters.slice(end).join("")];
  const places = placesOf(characters);
  for (const pattern of ENDS) {
    const all = [...sentence.matchAll(pattern)].map((found) => places[found.index + found[0].length]);
    const ends = nearest(all.filter((end) => distance(end) <= most));
    if (ends.length) return parted(ends[0]);
  }
  const ends = [];
  const first = Math.max(1, Math.ceil(middle - most));
  for (let end = first; end <= Math.floor(middle + most); end += 1) ends.push(end);
  const end = nearest(ends).find((end) => !isJoined(characters[end - 1], characters[end]));
  return end === undefined ? null : parted(end);
}

/** Returns the number of characters before each UTF-16 unit at which a character begins. */
function placesOf(characters) {
  const places = [];
  let unit = 0;
  for (const [place, character] of characters.entries()) {
    places[unit] = place;
    unit += character.length;
  }
  places[unit] = characters.length;
  return places;
}

function isJoined(before, after) {
  return MARK.test(after) || before === JOINER || after === JOINER;
}
