// Describes a translator by its metadata.

import { LANGUAGE, messageOf } from "./messages.js";

/** Returns the sentence parts that describe a translator; those that are not known are left out. */
export function factsOf(metadata, size) {
  return [
    size && numbersOf(metadata, size),
    metadata.kformer && `kformer ${metadata.kformer}`,
    metadata.licence && messageOf("licence", { licence: metadata.licence }),
    metadata.citation,
  ].filter(Boolean);
}

function numbersOf({ beam_size: beams, parameters, precision }, size) {
  const style = { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 };
  return messageOf("facts", {
    size: megabytes(size),
    parameters: parameters.toLocaleString(LANGUAGE, style),
    precision,
    search: beams > 1 ? messageOf("beams", { count: beams }) : messageOf("greedy"),
  });
}

export function megabytes(bytes) {
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${(bytes / 1e6).toLocaleString(LANGUAGE, digits)} MB`;
}
