// Two fields: a text, and its translation, which follows what is typed; the newest text replaces all
// others. The page and the element `<kformer-translator>` show them.

import { Lines } from "./lines.js";
import { messageOf } from "./messages.js";
import {
  blockOf,
  byNesting,
  difference,
  markupOf,
  markupOfLines,
  marksAfterEdit,
  marksWithin,
  richText,
} from "./rich-text.js";

export class Fields {
  #elements;
  #report;
  #lines;
  #translator = null;
  #direction = { source: null, target: null };
  #asked = { text: "", marks: "[]", target: null }; // Its translation is shown or pending.
  #current = { text: "", marks: [] }; // The text, with the marks of what was pasted.
  #stop = new AbortController(); // Of the text that is being translated.

  /**
   * @param {{source, translation, notice}} elements A textarea, an output, and a place for notices.
   * @param {{onStatus, onChange, onTranslated, onFailure}} report `onStatus` receives "translating"
   *     or "ready" with a message, `onChange` each new text, `onFailure` an error.
   */
  constructor(elements, report) {
    this.#elements = elements;
    this.#report = report;
    this.#lines = new Lines(elements.translation);
    elements.source.addEventListener("input", () => this.#edited());
    elements.source.addEventListener("paste", (event) => this.#paste(event));
  }

  /** Translates with a translator from now on, in a direction of it. */
  start(translator, direction) {
    this.#translator = translator;
    this.#asked = { text: "", marks: "[]", target: direction.target }; // Blank text needs no translation.
    this.direction = direction;
  }

  get direction() {
    return this.#direction;
  }

  set direction(direction) {
    const { source, translation } = this.#elements;
    this.#direction = direction;
    source.lang = direction.source ?? "";
    translation.lang = direction.target ?? "";
    this.#edited();
  }

  get text() {
    return this.#current.text;
  }

  set text(text) {
    this.write(text, []);
  }

  /** The marks of rich text in the text. */
  get marks() {
    return this.#current.marks;
  }

  get translation() {
    return this.#lines.text;
  }

  /** Replaces the text by another one with marks. */
  write(text, marks) {
    this.#elements.source.value = text;
    this.#current = { text, marks };
    this.#update();
  }

  /** Copies the translation, with the marks that it has. */
  async copy() {
    const { text, isRich, element } = this.#lines;
    if (!isRich || !self.ClipboardItem) return navigator.clipboard.writeText(text);
    const forms = { "text/plain": text, "text/html": markupOfLines(element.children) };
    const blobs = Object.entries(forms).map(([type, form]) => [type, new Blob([form], { type })]);
    return navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
  }

  /** Shows that there is no translation. */
  fail(error) {
    this.#asked.text = null; // The same text may be asked again.
    this.#lines.clear();
    this.#notice([]);
    this.#elements.translation.setAttribute("aria-busy", "false");
    this.#report.onFailure(error);
  }

  /** Moves the marks with the text, and has it translated. */
  #edited() {
    const text = this.#elements.source.value;
    const { start, end, length } = difference(this.#current.text, text);
    this.#current = { text, marks: marksAfterEdit(this.#current.marks, start, end, length) };
    this.#update();
  }

  /** Pastes rich text: the text into the field, and its marks beside it. */
  #paste(event) {
    const { source } = this.#elements;
    const html = event.clipboardData.getData("text/html");
    const pasted = html && richText(html);
    if (!pasted?.marks.length) return; // The browser pastes plain text.
    event.preventDefault();
    const { selectionStart: start, selectionEnd: end } = source;
    const { text, marks } = pasted;
    const moved = marks.map((mark) => ({ ...mark, start: mark.start + start, end: mark.end + start }));
    const whole = source.value.slice(0, start) + text + source.value.slice(end);
    const others = marksAfterEdit(this.#current.marks, start, end, text.length);
    this.#current = { text: whole, marks: [...others, ...moved].sort(byNesting) };
    // As typed text, it can be undone.
    if (!document.execCommand("insertText", false, text) || source.value !== whole) {
      source.value = whole;
      this.#update();
    }
  }

  /** Translates the current text, even if another one is being translated. */
  async #update() {
    const { text, marks } = this.#current;
    const { source, target } = this.#direction;
    const written = JSON.stringify(marks);
    this.#report.onChange();
    const isAsked = text === this.#asked.text && written === this.#asked.marks && target === this.#asked.target;
    if (!this.#translator || isAsked) return;
    this.#asked = { text, marks: written, target };
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#begin(text, marks);
    const { sources, markups } = this.#lines;
    const onSentence = (index, found) => {
      this.#lines.put(index, found);
      const [count, total] = [index + 1, sources.length];
      if (total > 1) this.#report.onStatus("translating", messageOf("translated part", { count, total }));
    };
    try {
      const options = { markups, source, target, signal, onSentence };
      const spent = await this.#translator.translateSentences(sources, options);
      if (!signal.aborted) this.#end(spent);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  #begin(text, marks) {
    const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
    const ends = starts.map((start) => (text.indexOf("\n", start) + 1 || text.length + 1) - 1);
    const linesOfPieces = starts.map((start, i) => {
      const pieces = this.#translator.pieces(text.slice(start, ends[i]), this.#direction.source);
      return withMarks(pieces, start, marks);
    });
    this.#lines.begin(linesOfPieces, starts.map((start, i) => blockOf(marks, start, ends[i])));
    this.#elements.translation.setAttribute("aria-busy", "true");
    this.#notice([]);
    this.#report.onStatus("translating", messageOf("translating"));
  }

  #end({ milliseconds, runs }) {
    this.#lines.placeMarks();
    this.#elements.translation.setAttribute("aria-busy", "false");
    this.#notice(this.#lines.notices);
    const isNew = runs > 0;
    this.#report.onStatus("ready", isNew ? messageOf("translated", { time: time(milliseconds) }) : messageOf("ready"));
    this.#report.onTranslated();
  }

  #notice(sentences) {
    this.#elements.notice.textContent = sentences.join("\n");
    this.#elements.notice.hidden = !sentences.length;
  }
}

/** Returns the pieces of a line with their marks and HTML; the line begins at `start`. */
function withMarks(pieces, start, marks) {
  return pieces.map((piece) => {
    const begin = start + piece.before.length;
    const end = begin + piece.source.length;
    start = end + piece.after.length;
    const own = marksWithin(marks, begin, end);
    return own.length ? { ...piece, marks: own, markup: markupOf(piece.source, own) } : piece;
  });
}

function time(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(1, Math.round(milliseconds))} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
