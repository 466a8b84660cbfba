// Shows how a program asks the server.

import { codesOf } from "./directions.js";
import { keptKey } from "./server-key.js";

const element = (id) => document.getElementById(id);

/** Shows a command that translates an example. */
export function offerApi({ source_language: source, target_languages: targets, directions, examples }) {
  const [from, to] = directions[0] ? codesOf(directions[0]) : [source, targets[0]];
  const [example] = [...examples].sort((one, other) => one.length - other.length);
  const fields = { q: example ?? "...", source: from ?? "auto", target: to ?? "en" };
  const body = JSON.stringify(fields, null, 1).replace(/\n ?/g, " ").replace("{ ", "{").replace(" }", "}");
  const address = new URL("translate", import.meta.url);
  // In a shell, a string in single quotes has none inside.
  const quoted = `'${body.replaceAll("'", "\\u0027")}'`;
  const key = keptKey() ? " -H 'X-API-Key: KEY'" : "";
  element("api-example").textContent = `curl ${address}${key} -d ${quoted}`;
  element("api").hidden = false;
}
