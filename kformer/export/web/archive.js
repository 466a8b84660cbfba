// Reads the archive at the end of a .tflite file: a ZIP of uncompressed JSON files.

const END = 0x06054b50; // Signature of the record that ends the archive.
const LISTED = 0x02014b50; // Signature of a file in the central directory.
const STORED = 0; // Uncompressed.

/**
 * Reads the JSON files in the archive at the end of `bytes`.
 * @param {Uint8Array} bytes A whole .tflite file.
 * @returns {Object} name -> value; throws an Error where there is no such archive.
 */
export function filesAtTheEnd(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = placeOfTheEnd(view);
  const sizeOfList = view.getUint32(end + 12, true);
  // Offsets count from the archive's start, which follows LiteRT's part of any size.
  let place = end - sizeOfList;
  const shift = place - view.getUint32(end + 16, true);
  const files = {};
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    const lengths = [28, 30, 32].map((at) => view.getUint16(place + at, true));
    if (view.getUint32(place, true) !== LISTED || view.getUint16(place + 10, true) !== STORED) {
      throw new Error("The archive at the end of the .tflite file is broken.");
    }
    const name = text(bytes, place + 46, lengths[0]);
    const start = view.getUint32(place + 42, true) + shift;
    const nameThere = view.getUint16(start + 26, true);
    const extraThere = view.getUint16(start + 28, true);
    const size = view.getUint32(place + 20, true);
    files[name] = JSON.parse(text(bytes, start + 30 + nameThere + extraThere, size));
    place += 46 + lengths[0] + lengths[1] + lengths[2];
  }
  return files;
}

/** Returns the position of the end record; a comment of up to 65,535 bytes may follow it. */
function placeOfTheEnd(view) {
  const last = view.byteLength - 22;
  for (let place = last; place >= Math.max(0, last - 0xffff); place -= 1) {
    if (view.getUint32(place, true) === END) return place;
  }
  throw new Error("The .tflite file is not whole: its end, with the metadata, is missing.");
}

function text(bytes, start, length) {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, start + length));
}
