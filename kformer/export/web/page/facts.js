"use strict";
// What a translator's metadata says of it, in words.

/** Returns the sentence parts that describe a translator of `size` bytes. */
function factsOf(manifest, size) {
  const search = manifest.beam_size > 1 ? `${manifest.beam_size} beams` : "greedy search";
  const parameters = manifest.parameters.toLocaleString("en", {
    notation: "compact",
    compactDisplay: "long",
    maximumFractionDigits: 1,
  });
  return [
    `${megabytes(size)}, ${parameters} parameters, ${manifest.precision}, ${search}`,
    `kformer ${manifest.kformer}`,
    manifest.licence && `Licence: ${manifest.licence}`,
    manifest.citation,
  ].filter(Boolean);
}

/** The English name of a language; where its code is none, what was given. */
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
