// Rich text: lines of text with marks, such as links and emphasis, from pasted HTML and to nodes.
//
// A mark is {start, end, name, href}: two places in the text and the name of an element. Marks are
// nested, never crossing, the outer one first. The name of a block, such as "h2" or "ul", marks
// whole lines. Nodes are built here from these alone, so that no script of a page gets in.

const INLINE_MARKS = {
  A: "a", B: "b", STRONG: "strong", I: "i", EM: "em", U: "u", S: "s", CODE: "code",
  STRIKE: "s", DEL: "s", INS: "u", KBD: "code", SAMP: "code", TT: "code",
};
const MARK_NAMES = new Set(Object.values(INLINE_MARKS));
const LIST_MARKS = new Set(["ul", "ol"]);
const BLOCK_MARKS = new Set(["h1", "h2", "h3", "h4", "h5", "h6", ...LIST_MARKS]);
// Elements that begin a line; those of the second list have an empty line around them.
const LINES = elementNames(
  "ADDRESS ARTICLE ASIDE BLOCKQUOTE CAPTION DD DIV DL DT FIGCAPTION FIGURE FOOTER FORM H1 H2 H3 H4 H5 H6 " +
    "HEADER HR LI MAIN NAV OL P PRE SECTION TABLE TD TH TR UL",
);
const PARAGRAPHS = elementNames("BLOCKQUOTE DL H1 H2 H3 H4 H5 H6 HR OL P PRE TABLE UL");
const NO_TEXT = elementNames(
  "AUDIO CANVAS EMBED HEAD IFRAME MATH NOSCRIPT OBJECT SCRIPT SELECT STYLE SVG TEMPLATE TEXTAREA TITLE VIDEO",
);
const MOST_LEVELS = 200; // Elements that are deeper have no text here.
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

function elementNames(names) {
  return new Set(names.split(" "));
}

/**
 * Returns the text of pasted HTML and its marks. The parser runs no script and loads no image.
 * @param {string} html
 * @returns {{text: string, marks: object[]}}
 */
export function richText(html) {
  const reader = new RichTextReader();
  reader.read(new DOMParser().parseFromString(html, "text/html").body, 0);
  return reader.finish();
}

class RichTextReader {
  #text = "";
  #marks = [];
  #opened = []; // Marks whose end is not known yet.
  #breaks = 0; // Line breaks before the next character,
  #space = false; // or a space.

  read(parent, level, keepsSpaces = false) {
    for (const node of parent.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) this.#add(node.data, keepsSpaces);
      else if (node.nodeType === Node.ELEMENT_NODE && level < MOST_LEVELS) {
        this.#element(node, level + 1, keepsSpaces);
      }
    }
  }

  finish() {
    const marks = this.#marks.filter(({ start, end }) => start < end);
    return { text: this.#text, marks: marks.sort(byNesting) };
  }

  #element(element, level, keepsSpaces) {
    const name = element.tagName.toUpperCase();
    if (NO_TEXT.has(name)) return;
    if (name === "BR") {
      this.#breaks += 1;
      return;
    }
    const opened = marksOf(element, name);
    this.#begin(name);
    for (const mark of opened) {
      this.#marks.push(mark);
      this.#opened.push(mark);
    }
    this.read(element, level, keepsSpaces || name === "PRE");
    for (const mark of opened) this.#opened.splice(this.#opened.indexOf(mark), 1);
    this.#begin(name);
  }

  /** A line begins, or ends, at a tag of a block. */
  #begin(name) {
    if (LINES.has(name)) this.#breaks = Math.max(this.#breaks, PARAGRAPHS.has(name) ? 2 : 1);
  }

  #add(text, keepsSpaces) {
    if (keepsSpaces) {
      text.split(/\r\n?|\n/).forEach((line, i) => {
        if (i) this.#breaks += 1;
        if (line) this.#put(line);
      });
      return;
    }
    if (/^[ \t\n\r\f]/.test(text)) this.#space = true;
    const words = text.replace(/[ \t\n\r\f]+/g, " ").trim();
    if (words) this.#put(words);
    if (words && /[ \t\n\r\f]$/.test(text)) this.#space = true;
  }

  #put(text) {
    if (this.#text && this.#breaks) this.#text += "\n".repeat(this.#breaks);
    else if (this.#space && this.#text) this.#text += " ";
    this.#breaks = 0;
    this.#space = false;
    for (const mark of this.#opened) mark.start ??= this.#text.length;
    this.#text += text;
    for (const mark of this.#opened) mark.end = this.#text.length;
  }
}

/** Returns new marks for an element, by its name, its link and its style; often none. */
function marksOf(element, name) {
  const names = [];
  const href = name === "A" && allowedLink(element.getAttribute("href"));
  const own = INLINE_MARKS[name] ?? name.toLowerCase();
  const weight = styleOf(element, "font-weight");
  const isBold = /^(bold|bolder|[6-9]\d\d)$/.test(weight);
  const isPlain = /^(normal|lighter|[1-5]\d\d)$/.test(weight);
  if (href || BLOCK_MARKS.has(own)) names.push(own);
  else if (own !== "a" && MARK_NAMES.has(own)) {
    if (!(isPlain && (own === "b" || own === "strong"))) names.push(own);
  } else if (own !== "a") {
    if (isBold) names.push("b");
    if (styleOf(element, "font-style") === "italic") names.push("i");
    if (styleOf(element, "text-decoration").includes("line-through")) names.push("s");
  }
  return names.map((name) => ({ start: undefined, end: undefined, name, ...(href && { href }) }));
}

/** Returns what an element's own style has for a property; the page's policy keeps it from working. */
function styleOf(element, property) {
  const style = element.getAttribute("style") ?? "";
  const found = style.match(new RegExp(`(?:^|;)\\s*${property}\\s*:([^;]*)`, "i"));
  return found ? found[1].trim().toLowerCase() : "";
}

/** Returns an address that a link may have, or null. */
function allowedLink(href) {
  try {
    const url = new URL(href);
    return PROTOCOLS.has(url.protocol) ? url.href : null;
  } catch {
    return null; // Relative, or none.
  }
}

export function byNesting(a, b) {
  return a.start - b.start || b.end - a.end;
}

/** Returns the marks of a text after its characters from `start` to `end` were replaced by others. */
export function marksAfterEdit(marks, start, end, length) {
  const after = start + length;
  return marks
    .map((mark) => ({
      ...mark,
      start: mark.start < start ? mark.start : Math.max(mark.start + after - end, after),
      end: mark.end <= start ? mark.end : mark.end < end ? start : mark.end + after - end,
    }))
    .filter((mark) => mark.start < mark.end);
}

/** Returns where two texts differ: {start, end} in the first one, and the length in the second. */
export function difference(before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < most - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { start, end: before.length - same, length: after.length - same - start };
}

/** Returns the inline marks between two places of a text, with places counted from the first. */
export function marksWithin(marks, start, end) {
  return marks
    .filter((mark) => MARK_NAMES.has(mark.name) && mark.start < end && mark.end > start)
    .map((mark) => ({
      ...mark,
      start: Math.max(mark.start, start) - start,
      end: Math.min(mark.end, end) - start,
    }));
}

/** Returns the name of the block that marks a line, "p" if none does. */
export function blockOf(marks, start, end) {
  const inside = (mark) => BLOCK_MARKS.has(mark.name) && mark.start < end && mark.end > start;
  return marks.findLast(inside)?.name ?? "p";
}

/** Returns the nodes of a text with inline marks. */
export function nodesOf(text, marks) {
  const root = document.createDocumentFragment();
  const open = [{ element: root, end: text.length }];
  let done = 0;
  const upTo = (place) => {
    while (open.length > 1 && open.at(-1).end <= place) {
      const { element, end } = open.pop();
      if (done < end) element.append(text.slice(done, end));
      done = Math.max(done, end);
    }
    if (done < place) open.at(-1).element.append(text.slice(done, place));
    done = Math.max(done, place);
  };
  for (const { start, end, name, href } of marks) {
    upTo(start);
    const element = markElement(name, href);
    if (!element) continue;
    open.at(-1).element.append(element);
    open.push({ element, end: Math.min(end, open.at(-1).end) });
  }
  upTo(text.length);
  return [...root.childNodes];
}

function markElement(name, href) {
  if (!MARK_NAMES.has(name)) return null;
  const element = document.createElement(name);
  if (name === "a") {
    const allowed = allowedLink(href);
    if (!allowed) return null;
    Object.assign(element, { href: allowed, target: "_blank", rel: "noopener noreferrer" });
  }
  return element;
}

/** Returns the HTML of a text with inline marks. */
export function markupOf(text, marks) {
  const holder = document.createElement("div");
  holder.append(...nodesOf(text, marks));
  return plainLinks(holder).innerHTML;
}

/** Returns an element whose links have nothing but their addresses. */
function plainLinks(element) {
  for (const link of element.querySelectorAll("a")) {
    for (const name of ["target", "rel"]) link.removeAttribute(name);
  }
  return element;
}

/** Returns the nodes of a translated sentence in HTML, of which only marks and text are taken. */
export function nodesOfMarkup(html) {
  const { text, marks } = richText(html);
  return nodesOf(text, marks.filter(({ name }) => MARK_NAMES.has(name)));
}

/** Returns shown lines as HTML for the clipboard: paragraphs, headings and lists. */
export function markupOfLines(lines) {
  const holder = document.createElement("div");
  for (const line of lines) {
    if (!line.textContent.trim()) continue;
    const block = line.dataset.block;
    let parent = holder;
    if (LIST_MARKS.has(block)) {
      if (holder.lastChild?.localName !== block) holder.append(document.createElement(block));
      parent = holder.lastChild;
    }
    const copy = document.createElement(LIST_MARKS.has(block) ? "li" : block);
    copy.append(...line.cloneNode(true).childNodes);
    for (const span of copy.querySelectorAll("span")) span.replaceWith(...span.childNodes);
    parent.append(plainLinks(copy));
  }
  return holder.innerHTML;
}
