// Two fields: a text, and its translation, which follows what is typed; the newest text replaces all
// others. The page and the element `<kformer-translator>` show them.

import { AUTO } from "./directions.js";
import { Lines } from "./lines.js";
import { LinkedSides } from "./linked-sides.js";
import { messageOf } from "./messages.js";
import { Mirror } from "./mirror.js";
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

const MOST_UNNUMBERED = 5; // Lines that are counted at a glance.

export class Fields {
  #elements;
  #report;
  #lines;
  #mirror;
  #sides;
  #translator = null;
  #direction = { source: null, target: null };
  #asked = { text: "", marks: "[]", target: null }; // Its translation is shown or pending.
  #current = { text: "", marks: [] }; // The text, with the marks of what was pasted.
  #stop = new AbortController(); // Of the text that is being translated.

  /**
   * @param {{source, mirror, translation, notice}} elements A text area, a place of the same size
   *     under it, an output, and a place for notices.
   * @param {{onStatus, onChange, onTranslated, onFailure, onDetected}} report `onStatus` receives "translating"
   *     or "ready" with a message, `onChange` each new text, `onFailure` an error, `onDetected` the
   *     code of the text's language.
   */
  constructor(elements, report) {
    this.#elements = elements;
    this.#report = report;
    this.#lines = new Lines(elements.translation);
    this.#mirror = new Mirror(elements.mirror);
    this.#sides = new LinkedSides(elements.source, this.#mirror, this.#lines);
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
    source.lang = direction.source === AUTO ? "" : (direction.source ?? "");
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

  /** Translates the text again, after a failure. */
  retry() {
    this.#update();
  }

  /** Shows that there is no translation. */
  fail(error) {
    this.#asked = { ...this.#asked, text: null }; // The same text may be asked again.
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
    const lines = this.#linesOf(text, marks);
    this.#mirror.show(lines);
    this.#elements.mirror.closest(".sides").classList.toggle("numbered", lines.length > MOST_UNNUMBERED);
    const isAsked = text === this.#asked.text && written === this.#asked.marks && target === this.#asked.target;
    if (!this.#translator || isAsked) return;
    this.#asked = { text, marks: written, target };
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#begin(lines);
    const { sources, markups } = this.#lines;
    const onSentence = (index, found) => {
      this.#lines.put(index, found);
      const [count, total] = [index + 1, sources.length];
      if (total > 1) this.#report.onStatus("translating", messageOf("translated part", { count, total }));
    };
    try {
      const onDetected = (code) => this.#report.onDetected(code);
      const options = { markups, source, target, signal, onSentence, onDetected };
      const spent = await this.#translator.translateSentences(sources, options);
      if (!signal.aborted) this.#end(spent);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  /** Returns the lines of a text: the pieces of each one, in which `block` is that of the line. */
  #linesOf(text, marks) {
    let start = 0;
    return text.split("\n").map((line) => {
      const pieces = this.#translator?.pieces(line, this.#elements.source.lang) ?? [];
      const whole = pieces.length ? pieces : [{ before: line, source: "", after: "" }];
      const block = blockOf(marks, start, start + line.length);
      const marked = Object.assign(withMarks(whole, start, marks), { block });
      start += line.length + 1;
      return marked;
    });
  }

  #begin(lines) {
    this.#lines.begin(lines, lines.map(({ block }) => block));
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

  /** Lists notices, each of which shows one of its sentences after the other. */
  #notice(notices) {
    const list = document.createElement("ul");
    for (const { message, indices } of notices) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: message });
      let next = 0;
      button.addEventListener("click", () => {
        this.#sides.select(indices[next]);
        next = (next + 1) % indices.length;
      });
      const item = document.createElement("li");
      item.append(button);
      list.append(item);
    }
    this.#elements.notice.replaceChildren(...(notices.length ? [list] : []));
    this.#elements.notice.hidden = !notices.length;
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
