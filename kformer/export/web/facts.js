// Describes a translator by its metadata.

import { LANGUAGE, messageOf } from "./messages.js";

/** Returns the sentence parts that describe a translator; those that are not known are left out. */
export function factsOf(metadata, size) {
  return [
    size && megabytes(size),
    metadata.kformer && `kformer ${metadata.kformer}`,
    metadata.licence && messageOf("licence", { licence: metadata.licence }),
    metadata.citation,
  ].filter(Boolean);
}

export function megabytes(bytes) {
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${(bytes / 1e6).toLocaleString(LANGUAGE, digits)} MB`;
}
