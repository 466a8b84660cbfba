import { Translator, TranslatorError, type Direction, type Translation } from "kformer-de-en";

const translator: Translator = await Translator.load("a.tflite", {
  onProgress: ({ stage, loaded }) => console.log(stage, loaded),
});
const directions: readonly Direction[] = translator.directions;
const text: string = await translator.translate("a", { source: "de", target: directions[0]!.target! });
const { lines, flags }: Translation = await translator.translation(text);
const quality: number | undefined = lines[0]?.sentences[0]?.quality;
const element = document.createElement("kformer-translator");
element.value = `${quality} ${flags}`;
const loaded: Translator | null = element.translator;
try {
  loaded?.close();
} catch (error) {
  if (error instanceof TranslatorError) console.log(error.code);
}
