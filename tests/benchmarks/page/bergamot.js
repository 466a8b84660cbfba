"use strict";
// @browsermt/bergamot-translator, by its class for many sentences: one worker, as it is for one
// thread; it may translate all sentences that wait in one batch.

async function open() {
  const { BatchTranslator, TranslatorBacking } = await import("./package/translator.js");
  const backing = new TranslatorBacking({ registryUrl: "registry.json" });
  let onerror;
  const failure = new Promise((_, reject) => {
    onerror = reject;
  });
  const translator = new BatchTranslator({ workers: 1, batchSize: 1000, onerror }, backing);
  const translateOne = (text) => translator.translate({ from: "xx", to: "yy", text, html: false });
  return async (sentences) => {
    const responses = await Promise.race([failure, Promise.all(sentences.map(translateOne))]);
    return responses.map(({ target }) => target.text);
  };
}
