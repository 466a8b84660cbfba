"use strict";
// The lines of the translation, finished and pending, and their flags.

const FLAGS = {
  "source cut": (whose) => `${whose.text} is too long: only its beginning was translated.`,
  "translation cut": (whose) => `There was no room for the end of ${whose.translation}.`,
  "length limit": (whose) => `${capital(whose.translation)} reached its length limit without an end.`,
  loop: (whose) => `${capital(whose.translation)} repeats itself over and over.`,
  "length ratio": (whose) => `${capital(whose.translation)} has an unlikely length.`,
};

/** Shows and counts the lines of one text's translation in `element`, as they arrive. */
class Lines {
  constructor(element) {
    this.element = element;
    this.known = new Map(); // Source line of the shown text -> {text, flags}.
    this.sources = [];
  }

  /** Begins a text: lines of the previous text are reused; the others are pending. */
  begin(sources) {
    const before = this.known;
    this.known = new Map();
    for (const line of sources) {
      if (before.has(line)) this.known.set(line, before.get(line));
    }
    this.sources = sources;
    const awaited = sources.filter((line) => !this.known.has(line)).length;
    // While one line is typed, its last translation stays dimmed, which avoids flicker.
    const dimmed = awaited === 1 ? [...this.element.children].map((line) => line.textContent) : [];
    this.element.replaceChildren(
      ...sources.map((line, i) => {
        const found = this.known.get(line);
        return found ? translated(found) : pending(dimmed[i] ?? "");
      }),
    );
  }

  /** Puts the translation {text, flags} of line `index` into its place. */
  put(index, found) {
    this.known.set(this.sources[index], found);
    this.element.children[index].replaceWith(translated(found));
  }

  clear() {
    this.known.clear();
    this.sources = [];
    this.element.replaceChildren();
  }

  /** The whole translation as text. */
  get text() {
    return [...this.element.children].map((line) => line.textContent).join("\n");
  }

  /** A sentence for each flag of a translated line. */
  get notices() {
    const several = this.sources.length > 1;
    return this.sources.flatMap((line, i) => {
      const whose = several
        ? { text: `Line ${i + 1}`, translation: `the translation of line ${i + 1}` }
        : { text: "The text", translation: "the translation" };
      return (this.known.get(line)?.flags ?? []).map((flag) => FLAGS[flag](whose));
    });
  }
}

function translated({ text, flags }) {
  const line = paragraph(text);
  line.classList.toggle("flagged", flags.length > 0);
  return line;
}

function pending(text) {
  const line = paragraph(text);
  line.classList.add("pending");
  return line;
}

function paragraph(text) {
  const line = document.createElement("p");
  line.dir = "auto";
  line.textContent = text;
  return line;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
