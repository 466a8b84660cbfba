// Translates a file that is chosen on the page, or dropped there.

import { messageOf, messageOfError } from "./messages.js";
import { addressOf, ask } from "./server-requests.js";

const element = (id) => document.getElementById(id);
let stop = new AbortController(); // Of the file that is being translated.
let isOffered = false;

/** Shows the part of the page that translates files. */
export async function offerFiles() {
  const { filesTranslation, supportedFilesFormat: suffixes } = await ask("frontend/settings");
  if (!filesTranslation || isOffered) return;
  isOffered = true;
  element("file").accept = suffixes.join();
  element("file-kinds").textContent = suffixes.join(" ");
  element("files").hidden = false;
  element("choose-file").addEventListener("click", () => element("file").click());
  element("file").addEventListener("change", ({ target }) => {
    if (target.files.length) translate(target.files[0]);
    target.value = ""; // The same file may be chosen again.
  });
  addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    translate(file);
  });
}

async function translate(file) {
  stop.abort();
  stop = new AbortController();
  const { signal } = stop;
  say(messageOf("file translating", { file: file.name }));
  try {
    const form = new FormData();
    form.append("source", element("source").lang || "auto");
    form.append("target", element("translation").lang);
    form.append("file", file);
    const { translatedFileUrl, flags, unplaced } = await ask("translate_file", form, signal);
    // A translated file is fetched once; here it stays as long as the page.
    const name = translatedFileUrl.split("/").at(-1);
    const response = await fetch(addressOf(`download_file/${name}`), { signal });
    show(await response.blob(), decodeURIComponent(name.slice(name.indexOf(".") + 1)), flags.length, unplaced.length);
  } catch (error) {
    if (!signal.aborted) say(messageOfError(error));
  }
}

/** Shows a link to the translated file, and how much of it should be checked. */
function show(content, name, guesses, unplaced) {
  const link = document.createElement("a");
  const textContent = messageOf("file download", { file: name });
  Object.assign(link, { href: URL.createObjectURL(content), download: name, textContent });
  const counts = [
    guesses && messageOf("file guesses", { count: guesses }),
    unplaced && messageOf("file unplaced", { count: unplaced }),
  ];
  say(link, ...counts.filter(Boolean).map((count) => ` · ${count}`));
}

function say(...parts) {
  const earlier = element("file-status").querySelector("a");
  if (earlier) URL.revokeObjectURL(earlier.href);
  element("file-status").replaceChildren(...parts);
}
