// Runs a script that is no module, as JavaScriptCore does, and then calls its functions: each line
// is [name, arguments].
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createContext, runInContext } from "node:vm";

const context = createContext({});
runInContext(readFileSync(process.argv[2], "utf8"), context);
for await (const line of createInterface({ input: process.stdin })) {
  const [name, values] = JSON.parse(line);
  console.log(JSON.stringify(context[name](...values)));
}
