// Asks for a key where the server needs one. The browser keeps the key until the tab is closed.

const KEPT_KEY = "kformer-key";
let triedKey = ""; // The newest key that the worker has.

element("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  tryKey(element("key").value.trim());
});

function tryKey(key) {
  triedKey = key;
  element("failure").hidden = true;
  say("loading", "Loading the translator");
  worker.postMessage({ key });
}

/** The server refused a request: it needs a key, or refuses the one that it got. */
answers.key = ({ refused }) => {
  const kept = sessionStorage.getItem(KEPT_KEY);
  sessionStorage.removeItem(KEPT_KEY);
  if (kept && kept !== triedKey) {
    tryKey(kept);
    return;
  }
  if (refused) fail("The server refuses this key.");
  say("failed", "A key is needed");
  element("progress").hidden = true;
  element("key-form").hidden = false;
  element("key").focus();
};

const introduced = answers.ready;
answers.ready = (data) => {
  if (triedKey) sessionStorage.setItem(KEPT_KEY, triedKey);
  element("key").value = "";
  element("key-form").hidden = true;
  introduced(data);
};
