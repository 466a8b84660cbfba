// Translates lines by Bergamot's engine, Marian in WebAssembly:
//   node bergamot_engine.cjs PACKAGE OUTPUT JOB
// PACKAGE is the npm package; JOB is a JSON file {model, vocabulary, shortlist or null, precision,
// texts}. OUTPUT gets a JSON array of the translations, one sentence at a time.
const fs = require("fs");
const path = require("path");

const [folder, output, job] = process.argv.slice(2);
const { model, vocabulary, shortlist, precision, texts } = JSON.parse(fs.readFileSync(job));
const worker = path.join(folder, "worker", "bergamot-translator-worker");

// What the engine imports, and where the same file has it for want of anything faster.
const PRODUCTS = {
  int8_prepare_a: "int8PrepareAFallback",
  int8_prepare_b: "int8PrepareBFallback",
  int8_prepare_b_from_transposed: "int8PrepareBFromTransposedFallback",
  int8_prepare_b_from_quantized_transposed: "int8PrepareBFromQuantizedTransposedFallback",
  int8_prepare_bias: "int8PrepareBiasFallback",
  int8_multiply_and_add_bias: "int8MultiplyAndAddBiasFallback",
  int8_select_columns_of_b: "int8SelectColumnsOfBFallback",
};
const SETTINGS = {
  "beam-size": 1,
  normalize: 0,
  "max-length-break": 256,
  "max-length-factor": 3,
  "mini-batch-words": 1024,
  workspace: 128,
  "skip-cost": true,
  "cpu-threads": 0,
  quiet: true,
  "quiet-translation": true,
  alignment: "soft",
  "ssplit-mode": "sentence",
  "gemm-precision": precision,
};

function aligned(file, alignment) {
  const bytes = new Int8Array(fs.readFileSync(file));
  const memory = new Module.AlignedMemory(bytes.byteLength, alignment);
  memory.getByteArrayView().set(bytes);
  return memory;
}

function translate() {
  const service = new Module.BlockingService({ cacheSize: 0 });
  const vocabularies = new Module.AlignedMemoryList();
  vocabularies.push_back(aligned(vocabulary, 64));
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name}: ${value}\n`);
  const table = shortlist && aligned(shortlist, 64);
  const weights = aligned(model, 256);
  const loaded = new Module.TranslationModel(settings.join(""), weights, table, vocabularies, null);
  const translations = texts.map((text) => {
    const input = new Module.VectorString();
    const options = new Module.VectorResponseOptions();
    input.push_back(text);
    options.push_back({ qualityScores: false, alignment: false, html: false });
    const responses = service.translate(loaded, input, options);
    const translation = responses.get(0).getTranslatedText();
    [input, options, responses].forEach((part) => part.delete());
    return translation;
  });
  fs.writeFileSync(output, JSON.stringify(translations));
}

global.Module = {
  instantiateWasm(imports, accept) {
    const products = Object.entries(PRODUCTS).map(([name, own]) => [
      name,
      (...values) => Module.asm[own](...values),
    ]);
    const all = { ...imports, wasm_gemm: Object.fromEntries(products) };
    WebAssembly.instantiate(fs.readFileSync(`${worker}.wasm`), all).then(({ instance }) =>
      accept(instance),
    );
    return {};
  },
  onRuntimeInitialized: translate,
};
(0, eval)(fs.readFileSync(`${worker}.js`, "utf8"));
