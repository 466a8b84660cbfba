// Asks for a key where the server needs one. The browser keeps the key until the tab is closed.

import { messageOf } from "./messages.js";

const KEPT_KEY = "kformer-key";
const element = (id) => document.getElementById(id);

let key = sessionStorage.getItem(KEPT_KEY) ?? ""; // The newest one.
let asking = null; // Resolves when another key is there.

/** Returns the key to send; "" for none. */
export function keptKey() {
  return key;
}

/** Keeps a key that the server took. */
export function keepKey(taken) {
  if (taken) sessionStorage.setItem(KEPT_KEY, taken);
  if (element("key-form").hidden) return;
  element("key").value = "";
  element("key-form").hidden = true;
}

/** Waits for another key than one that the server refused, which may be "". */
export function newKey(refused) {
  if (key !== refused) return Promise.resolve(); // Meanwhile there is another one.
  sessionStorage.removeItem(KEPT_KEY);
  asking ??= entered().then((value) => {
    key = value;
    asking = null;
  });
  if (refused) show("failure", messageOf("failure key"));
  say("failed", messageOf("key needed"));
  return asking;
}

/** Shows the form, and waits for a key. */
function entered() {
  element("progress").hidden = true;
  element("key-form").hidden = false;
  element("key").focus();
  return new Promise((resolve) => {
    const submit = (event) => {
      event.preventDefault();
      element("failure").hidden = true;
      say("loading", messageOf("loading"));
      resolve(element("key").value.trim());
    };
    element("key-form").addEventListener("submit", submit, { once: true });
  });
}

function show(id, text) {
  element(id).textContent = text;
  element(id).hidden = false;
}

function say(state, text) {
  element("status").dataset.state = state;
  element("status").textContent = text;
}
