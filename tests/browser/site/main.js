import { Translator } from "kformer-de-en";
let translator;
self.translate = async (text) => (translator ??= await Translator.load()).translate(text);
