// Translates texts with a .tflite file in Node.js: their translations and flags.

import { Translator } from "kformer-de-en";

const [file, texts] = process.argv.slice(2);
const translator = await Translator.load(file);
const rows = [];
for (const each of JSON.parse(texts)) {
  const { text, flags } = await translator.translation(each);
  rows.push([text, flags]);
}
translator.close();
console.log(JSON.stringify(rows));
