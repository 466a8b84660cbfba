// Writes a .tflite file in which only the graphs of a signature are left, those of some lengths:
// the file, the new one, and {name, lengths, kept}.

import { readFileSync, writeFileSync } from "node:fs";
import { keepGraphs } from "./node_modules/kformer-de-en/graphs.js";

const [path, output, chosen] = process.argv.slice(2);
const { name, lengths, kept } = JSON.parse(chosen);
const bytes = new Uint8Array(readFileSync(path));
const isThere = keepGraphs(bytes, name, lengths, (length) => kept.includes(length));
writeFileSync(output, bytes);
console.log(isThere);
