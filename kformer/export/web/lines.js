// The lines of the translation, their sentences, finished and pending, and their flags.

import { between } from "./joining.js";
import { messageOf, messageOfFlag, messageOfLines } from "./messages.js";
import { placedMarks } from "./placing.js";
import { nodesOf, nodesOfMarkup } from "./rich-text.js";

// Sum of the squares of lengths of sentences that are aligned together: 90 of 150 characters.
const MOST_ALIGNED = 2_000_000;

/** Shows and counts the sentences of one text's translation in `element`, as they arrive. */
export class Lines {
  constructor(element) {
    this.element = element;
    this.known = new Map(); // Source sentence of the shown text -> {text, flags, quality}.
    this.clear();
  }

  /**
   * Begins a text: sentences of the previous text are reused; the others are pending.
   * @param {object[][]} lines The pieces {before, source, after} of each line; with `marks` and
   *     `markup` those that have any.
   * @param {string[]} blocks The name of the block of each line, such as "p" or "ul".
   */
  begin(lines, blocks) {
    const before = this.known;
    const shown = this.sentences.map(({ span }) => span.textContent);
    this.known = new Map();
    this.sentences = [];
    let number = 0; // In a numbered list.
    const shownLines = lines.map((line, i) => {
      number = blocks[i] === "ol" ? number + 1 : 0;
      return this.#line(line, blocks[i], number);
    });
    this.element.replaceChildren(...shownLines);
    for (const { piece } of this.sentences) {
      const found = before.get(keyOf(piece));
      if (found) this.known.set(keyOf(piece), found);
    }
    const awaited = this.sentences.filter(({ piece }) => !this.known.has(keyOf(piece))).length;
    this.sentences.forEach((sentence, i) => {
      const found = this.known.get(keyOf(sentence.piece));
      // While one sentence is typed, its last translation stays dimmed, which avoids flicker.
      if (found) fill(sentence, found);
      else sentence.span.textContent = awaited === 1 ? (shown[i] ?? "") : "";
    });
    this.sentences.forEach((_, i) => this.#separate(i));
  }

  /** The sentences to translate, in the order of the text. */
  get sources() {
    return this.sentences.map(({ piece }) => piece.source);
  }

  /** The HTML of each of them, null for those without marks. */
  get markups() {
    return this.sentences.map(({ piece }) => piece.markup ?? null);
  }

  /** Whether the translation has marks or blocks. */
  get isRich() {
    return Boolean(this.element.querySelector(":not(p, span)"));
  }

  /** Puts the translation {text, flags, markup, quality} of sentence `index` into its place. */
  put(index, found) {
    this.known.set(keyOf(this.sentences[index].piece), found);
    fill(this.sentences[index], found);
    this.#separate(index);
    if (index + 1 < this.sentences.length) this.#separate(index + 1);
  }

  /** Places the marks of all sentences again, where more sentences show what belongs together. */
  placeMarks() {
    const found = ({ piece }) => this.known.get(keyOf(piece));
    const placed = this.sentences.filter((sentence) => found(sentence)?.text !== undefined);
    const marked = placed.filter(({ piece }) => piece.marks);
    if (!marked.length) return;
    const others = placed.filter(({ piece }) => !piece.marks);
    let size = 0;
    const chosen = [...marked, ...others].filter(({ piece: { source } }) => {
      size += source.length ** 2;
      return size <= MOST_ALIGNED;
    });
    place(chosen, chosen.map((sentence) => found(sentence).text));
  }

  clear() {
    this.known.clear();
    this.sentences = []; // Of each one its piece, and where it is shown: {piece, line, gap, span}.
    this.element.replaceChildren();
  }

  /** The whole translation as text. */
  get text() {
    return [...this.element.children].map((line) => line.textContent).join("\n");
  }

  /** {message, indices} for each flag: the numbers of its lines, and its sentences. */
  get notices() {
    const lines = [...this.element.children];
    const found = new Map(); // Flag -> numbers of lines and indices of sentences.
    for (const [index, { piece, line }] of this.sentences.entries()) {
      for (const flag of this.known.get(keyOf(piece))?.flags ?? []) {
        if (!found.has(flag)) found.set(flag, { numbers: new Set(), indices: [] });
        found.get(flag).numbers.add(lines.indexOf(line) + 1);
        found.get(flag).indices.push(index);
      }
    }
    return [...found].map(([flag, { numbers, indices }]) => {
      const message = messageOfFlag(flag);
      return { message: lines.length > 1 ? messageOfLines([...numbers], message) : message, indices };
    });
  }

  /** Returns the paragraph of a line, or the item of a list, with a place for each sentence. */
  #line(pieces, block, number) {
    const line = document.createElement(block === "ul" || block === "ol" ? "li" : block);
    line.dataset.block = block;
    if (block === "ol") line.value = number;
    line.dir = "auto";
    for (const piece of pieces) {
      const gap = document.createTextNode(piece.before);
      line.append(gap);
      if (!piece.source) continue;
      const span = document.createElement("span");
      span.classList.add("pending");
      line.append(span);
      this.sentences.push({ piece, line, gap, span });
    }
    line.append(pieces.at(-1)?.after ?? "");
    return line;
  }

  /** Fills the gap before sentence `index`. */
  #separate(index) {
    const { piece, line, gap, span } = this.sentences[index];
    const before = this.sentences[index - 1];
    if (before?.line !== line) return;
    const texts = [before.span.textContent, span.textContent];
    gap.textContent = between(before.piece, texts[0], piece, texts[1]);
  }
}

/** Returns what tells sentences apart: one may stand in a text with marks and without. */
function keyOf({ source, markup }) {
  return markup === undefined ? source : `\0${markup}`;
}

/** Shows a translation; marks are in its HTML, or else placed here. */
function fill({ piece, span }, { text, flags, markup, quality }) {
  if (!piece.marks) span.textContent = text;
  else if (markup !== undefined) span.replaceChildren(...nodesOfMarkup(markup));
  else place([{ piece, span }], [text]);
  span.classList.remove("pending");
  span.classList.toggle("flagged", flags.length > 0);
  span.title = titleOf(flags, quality);
}

/** Returns what a sentence is underlined for, and its quality as chrF, which is of 100. */
function titleOf(flags, quality) {
  const estimated = quality !== undefined && messageOf("quality", { quality: Math.round(100 * quality) });
  return [...flags.map(messageOfFlag), estimated].filter(Boolean).join("\n");
}

/** Shows translations with the marks of their sentences, whose words are aligned together. */
function place(sentences, translations) {
  const placed = placedMarks(
    sentences.map(({ piece: { source, marks = [] } }, i) => {
      return { source, marks, translation: translations[i] };
    }),
  );
  sentences.forEach(({ piece, span }, i) => {
    if (piece.marks) span.replaceChildren(...nodesOf(translations[i], placed[i]));
  });
}
