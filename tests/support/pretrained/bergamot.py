"""Folders as Mozilla publishes Firefox's translators: Marian's binary format, a shortlist, gzip.

Written by what Marian's `saveItems`, `packAndSave` and `BinaryShortlistGenerator` do.
"""

import gzip
import json
import struct

import numpy as np

from support.pretrained import marian, marian_npz

MAGIC = 0xF11A48D5013417F5
TYPES = {"float32": 0x404, "int8": 0x101, "intgemm8": 0x4101}


def is_rounded(name):
    """Returns whether the weights of a name become int8."""
    return "Wemb" in name or name[-3:-1] == "_W" or name[-2:] == "_W"


def rounded(array):
    """Returns the int8 weights of a matrix, and the number that multiplied it."""
    multiplier = np.float32(127) / np.abs(array).max()
    return np.clip(np.rint(array * multiplier), -127, 127).astype(np.int8), multiplier


def binary(arrays, int8=True) -> bytes:
    """Returns a file in Marian's binary format.

    Args:
        arrays: dict from name to float32 array, or int8 array for text.
        int8: Whether matrices become int8.
    """
    headers, names, shapes, data = b"", b"", b"", b""
    for name, array in sorted(arrays.items()):
        kind = array.dtype.name
        if int8 and is_rounded(name):
            weights, multiplier = rounded(array)
            weights = weights if "Wemb" in name else weights.T
            kind, content = "intgemm8", weights.tobytes() + struct.pack("<f", multiplier)
        else:
            content = array.tobytes()
        content += bytes(-len(content) % 256)
        headers += struct.pack("<4Q", len(name) + 1, TYPES[kind], array.ndim, len(content))
        names += name.encode() + b"\0"
        shapes += np.array(array.shape, "<i4").tobytes()
        data += content
    head = struct.pack("<2Q", 1, len(arrays)) + headers + names + shapes
    padding = 256 - (len(head) + 8) % 256
    return head + struct.pack("<Q", padding) + bytes(padding) + data


def lexical_table(first, lists) -> bytes:
    """Returns a file of a shortlist.

    Args:
        first: The number of first target ids that are always candidates.
        lists: Target ids of each source id.
    """
    starts = np.cumsum([0, *map(len, lists)]).astype("<u8")
    entries = np.array([i for ids in lists for i in sorted(ids)], "<u4")
    body = struct.pack("<4Q", first, 50, len(starts), len(entries)) + starts.tobytes()
    body += entries.tobytes()
    checksum = 0
    for (number,) in struct.iter_unpack("<Q", body[: len(body) // 8 * 8]):
        checksum ^= (number + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) % 2**64
    return struct.pack("<2Q", MAGIC, checksum) + body


def write_bergamot_folder(
    folder, words: marian.Vocabulary, network, int8=True, scales=None, lists=None, packed=True
):
    """Writes `network` as a folder of Firefox.

    Args:
        folder: A new folder.
        words: `Vocabulary` of its ids, of one model for both sides, the padding id last.
        network: `Transformer` with an output bias.
        int8: Whether matrices become int8.
        scales: dict from names of matrices to what multiplies their inputs; None for 1.
        lists: Target ids of each source id; None for no shortlist.
        packed: Whether the files are packed by gzip.
    """
    arrays = marian_npz.arrays_of(words, network)
    names = [*filter(is_rounded, arrays), "none"]  # The output's, with a shortlist.
    for name in names if int8 else ():
        scale = (scales or {}).get(name, 1)
        arrays[f"{name}_QuantMultA"] = np.full((1, 1), scale, np.float32)
    contents = {"model.deen.intgemm.alphas.bin": binary(arrays, int8)}
    contents["vocab.deen.spm"] = words.models[0]
    if lists is not None:
        contents["lex.50.50.deen.s2t.bin"] = lexical_table(50, lists)
    folder.mkdir(parents=True)
    for name, content in contents.items():
        if packed:
            name, content = f"{name}.gz", gzip.compress(content, 1)
        (folder / name).write_bytes(content)
    facts = {"sourceLanguage": "de", "targetLanguage": "en", "flores": {"bleu": 38.8}}
    (folder / "metadata.json").write_text(json.dumps(facts))
    return folder
