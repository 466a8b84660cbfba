// A run of an engine in Node.js; see `benchmarks.firefox.engine`, whose report this prints, too:
//   node race.mjs NAME MODEL SENTENCES STARTED PACKAGE
// NAME is "module", then MODEL is the folder of a page; or "bergamot" or "bergamot shortlist", then
// it is a folder of Firefox's, and PACKAGE the npm package.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [name, model, sentences, started, folder] = process.argv.slice(2);
const [first, alone, together] = JSON.parse(readFileSync(sentences, "utf8"));
const now = () => Number(process.hrtime.bigint()) / 1e9; // The clock of Python's `time.monotonic`.
const spent = () => Object.values(process.cpuUsage()).reduce((a, b) => a + b) / 1e6;
const peak = () => process.resourceUsage().maxRSS * 1024;

async function openModule() {
  const { Translator } = await import(pathToFileURL(path.join(model, "kformer-node.js")).href);
  const translator = await Translator.load();
  return async (sentences) => {
    const texts = [];
    const onSentence = (index, found) => (texts[index] = found.text);
    await translator.translateSentences(sentences, { ...translator.directions[0], onSentence });
    return texts;
  };
}

// What the engine imports, and where its own file has a slower form of it.
const PRODUCTS = ["prepare_a", "prepare_b", "prepare_b_from_transposed", "prepare_b_from_quantized_transposed"];
PRODUCTS.push("prepare_bias", "multiply_and_add_bias", "select_columns_of_b");
const SETTINGS = {
  "beam-size": 1,
  normalize: 1,
  "max-length-break": 128,
  "max-length-factor": 2,
  "mini-batch-words": 1024,
  workspace: 128,
  "skip-cost": true,
  "cpu-threads": 0,
  quiet: true,
  "quiet-translation": true,
  "ssplit-mode": "sentence",
  "gemm-precision": "int8shiftAlphaAll",
};

async function openBergamot() {
  const worker = path.join(folder, "worker", "bergamot-translator-worker");
  await new Promise((resolve) => {
    globalThis.Module = {
      instantiateWasm(imports, accept) {
        const camel = (text) => text.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
        const own = (product) => `int8${camel(`_${product}`)}Fallback`;
        const products = PRODUCTS.map((product) => [
          `int8_${product}`,
          (...values) => Module.asm[own(product)](...values),
        ]);
        const all = { ...imports, wasm_gemm: Object.fromEntries(products) };
        WebAssembly.instantiate(readFileSync(`${worker}.wasm`), all).then(({ instance }) =>
          accept(instance),
        );
        return {};
      },
      onRuntimeInitialized: resolve,
    };
    (0, eval)(readFileSync(`${worker}.js`, "utf8"));
  });
  const files = readdirSync(model);
  const aligned = (start, alignment) => {
    const file = files.find((file) => file.startsWith(start) && /\.(bin|spm)$/.test(file));
    const bytes = new Int8Array(readFileSync(path.join(model, file)));
    const memory = new Module.AlignedMemory(bytes.byteLength, alignment);
    memory.getByteArrayView().set(bytes);
    return memory;
  };
  const service = new Module.BlockingService({ cacheSize: 0 });
  const vocabularies = new Module.AlignedMemoryList();
  vocabularies.push_back(aligned("vocab", 64));
  const settings = Object.entries(SETTINGS).map(([key, value]) => `${key}: ${value}\n`);
  const shortlist = name.endsWith("shortlist") ? aligned("lex", 64) : null;
  const weights = aligned("model.", 256);
  const loaded = new Module.TranslationModel(settings.join(""), weights, shortlist, vocabularies, null);
  return async (sentences) => {
    const input = new Module.VectorString();
    const options = new Module.VectorResponseOptions();
    for (const sentence of sentences) {
      input.push_back(sentence);
      options.push_back({ qualityScores: false, alignment: false, html: false });
    }
    const responses = service.translate(loaded, input, options);
    const texts = sentences.map((_, index) => responses.get(index).getTranslatedText());
    [input, options, responses].forEach((part) => part.delete());
    return texts;
  };
}

const begun = now();
const translate = await (name === "module" ? openModule() : openBergamot());
const texts = await translate([first]);
const report = { start: now() - Number(started), load: now() - begun, start_cpu: spent(), one: [] };
for (const sentence of alone) {
  const before = now();
  texts.push(...(await translate([sentence])));
  report.one.push(now() - before);
}
report.one_cpu = spent() - report.start_cpu;
report.one_bytes = peak();
const [before, cpu] = [now(), spent()];
texts.push(...(await translate(together)));
report.bulk = now() - before;
report.bulk_cpu = spent() - cpu;
report.bulk_bytes = peak();
console.log(JSON.stringify({ ...report, texts }));
process.exit(0);
