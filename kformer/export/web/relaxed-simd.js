// Tells which build of LiteRT runs here.

// A module with one instruction of relaxed SIMD.
const RELAXED_SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15,
  65, 2, 253, 15, 253, 128, 2, 11,
]);

/** Returns whether WebAssembly has relaxed SIMD here, for which LiteRT has a faster build. */
export function hasRelaxedSimd() {
  return WebAssembly.validate(RELAXED_SIMD);
}
