"use strict";
// Describes a translator by its metadata.

/** Returns the sentence parts that describe a translator of `size` bytes. */
function factsOf(metadata, size) {
  const search = metadata.beam_size > 1 ? `${metadata.beam_size} beams` : "greedy search";
  const parameters = metadata.parameters.toLocaleString("en", {
    notation: "compact",
    compactDisplay: "long",
    maximumFractionDigits: 1,
  });
  return [
    `${megabytes(size)}, ${parameters} parameters, ${metadata.precision}, ${search}`,
    `kformer ${metadata.kformer}`,
    metadata.licence && `Licence: ${metadata.licence}`,
    metadata.citation,
  ].filter(Boolean);
}

/** Returns the English name of a language, or `code` if it is no language code. */
function language(code) {
  try {
    return code && new Intl.DisplayNames("en", { type: "language" }).of(code);
  } catch {
    return code;
  }
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function time(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(1, Math.round(milliseconds))} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
