// Translates the text of the command line in Node.js.

import { Translator } from "kformer-de-en";

const translator = await Translator.load();
const text = await translator.translate(process.argv[2]);
const failure = await Translator.load("gone.tflite").catch((error) => error.code);
translator.close();
const closed = await translator.translate("wir").catch((error) => error.code);
console.log(JSON.stringify({ text, failure, closed }));
