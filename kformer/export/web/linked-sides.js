// Links the text with its translation: what one side points at or scrolls to, the other one shows.

/** Links a field, which scrolls a `Mirror` and a text area, with the `Lines` of its translation. */
export class LinkedSides {
  #mirror;
  #lines;
  #source;
  #scrollers;
  #linked = []; // The elements of the sentence that is pointed at.
  #expected = new Map(); // Scroller -> its place, where the other one has brought it.

  constructor(source, mirror, lines) {
    this.#source = source;
    this.#mirror = mirror;
    this.#lines = lines;
    this.#scrollers = [mirror.element.parentElement, lines.element];
    for (const [i, scroller] of this.#scrollers.entries()) {
      scroller.addEventListener("scroll", () => this.#follow(scroller, this.#scrollers[1 - i]), { passive: true });
      scroller.addEventListener("pointermove", (event) => this.#point(event));
      scroller.addEventListener("pointerleave", () => this.#link(null));
    }
    lines.element.addEventListener("keydown", (event) => {
      const isAll = event.key === "a" && (event.ctrlKey || event.metaKey);
      if (!isAll) return;
      event.preventDefault(); // The whole page would be selected.
      getSelection().selectAllChildren(lines.element);
    });
  }

  /** Selects a sentence of the text, and shows it and its translation. */
  select(index) {
    const { start, end, span } = this.#mirror.sentences[index];
    this.#source.focus({ preventScroll: true });
    this.#source.setSelectionRange(start, end);
    this.#link(index);
    span.scrollIntoView({ block: "nearest" });
    this.#lines.sentences[index].span.scrollIntoView({ block: "nearest" });
  }

  #point({ clientX, clientY }) {
    const under = this.#source.getRootNode().elementsFromPoint(clientX, clientY);
    const of = ({ span }) => under.includes(span);
    const index = Math.max(this.#mirror.sentences.findIndex(of), this.#lines.sentences.findIndex(of));
    this.#link(index < 0 ? null : index);
  }

  #link(index) {
    for (const span of this.#linked) span.classList.remove("linked");
    const both = index === null ? [] : [this.#mirror.sentences[index], this.#lines.sentences[index]];
    this.#linked = both.filter(Boolean).map(({ span }) => span);
    for (const span of this.#linked) span.classList.add("linked");
  }

  /** Scrolls the other side to the same line. */
  #follow(scroller, other) {
    const isOwn = Math.abs((this.#expected.get(scroller) ?? -9) - scroller.scrollTop) <= 1;
    this.#expected.delete(scroller);
    if (isOwn) return;
    const [from, to] = scroller === this.#scrollers[0] ? [this.#mirror, this.#lines] : [this.#lines, this.#mirror];
    const before = other.scrollTop;
    other.scrollTop = placeOf(scroller, other, from.element.children, to.element.children);
    if (other.scrollTop !== before) this.#expected.set(other, other.scrollTop);
  }
}

/** Returns where the line at the top of one side is in the other one, at the same share of its height. */
function placeOf(scroller, other, lines, otherLines) {
  const top = scroller.scrollTop;
  if (top <= 0) return 0;
  if (top >= scroller.scrollHeight - scroller.clientHeight - 1) return other.scrollHeight;
  const [first, otherFirst] = [lines[0]?.offsetTop ?? 0, otherLines[0]?.offsetTop ?? 0];
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (lines[middle].offsetTop - first <= top) low = middle;
    else high = middle - 1;
  }
  const [line, otherLine] = [lines[low], otherLines[low]];
  if (!line || !otherLine) return other.scrollTop;
  const share = (top - (line.offsetTop - first)) / line.offsetHeight;
  return otherLine.offsetTop - otherFirst + share * otherLine.offsetHeight;
}
