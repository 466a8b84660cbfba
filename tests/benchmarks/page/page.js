"use strict";
// The module of a page that `kformer export --web` wrote; it answers with each sentence when done.

async function open() {
  const { Translator } = await import("./kformer.js");
  const translator = await Translator.load();
  return async (sentences) => {
    const texts = [];
    const onSentence = (index, found) => (texts[index] = found.text);
    await translator.translateSentences(sentences, { ...translator.directions[0], onSentence });
    return texts;
  };
}
