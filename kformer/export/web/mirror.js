// The lines and sentences of the text, behind the field in which it is typed.
//
// A text area has no elements inside. Its mirror has the same text in the same places: it gives the
// field its height, numbers its lines, and shows which sentence is pointed at.

/** Shows a text in `element`, whose own text is transparent. */
export class Mirror {
  constructor(element) {
    this.element = element;
    this.sentences = []; // Of each one its element, and where it begins and ends in the text.
  }

  /** Shows lines of pieces {before, source, after}. */
  show(lines) {
    this.sentences = [];
    let place = 0;
    const shown = lines.map((pieces) => {
      const line = document.createElement("div");
      for (const { before, source, after } of pieces) {
        line.append(before);
        if (source) {
          const span = document.createElement("span");
          span.textContent = source;
          line.append(span);
          const start = place + before.length;
          this.sentences.push({ span, start, end: start + source.length });
        }
        line.append(after);
        place += before.length + source.length + after.length;
      }
      place += 1; // The line break.
      return line;
    });
    this.element.replaceChildren(...shown);
  }
}
