"use strict";
// The worker of a page that `kformer export --web` wrote; it answers with each sentence when done.

function open() {
  const worker = new Worker("worker.js");
  let id = 0;
  const translate = (sentences) =>
    new Promise((resolve, reject) => {
      const texts = [];
      worker.onmessage = ({ data }) => {
        if (data.type === "sentence") texts[data.index] = data.found.text;
        if (data.type === "translated") resolve(texts);
        if (data.type === "failed") reject(new Error(data.message));
      };
      id += 1;
      worker.postMessage({ id, sentences });
    });
  return new Promise((resolve, reject) => {
    worker.onerror = (event) => reject(new Error(event.message));
    worker.onmessage = ({ data }) => {
      if (data.type === "ready") resolve(translate);
      if (data.type === "failed") reject(new Error(data.message));
    };
  });
}
