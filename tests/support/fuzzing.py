"""Reads damaged and forged copies of files, and tells what came of it; run as a process.

    python -m support.fuzzing FORM FOLDER FIRST COUNT

copies FOLDER, which has good files of a form, changes one of the copies by the seed FIRST, reads it
as users do, and so on, COUNT times. It prints JSON: how many were read, how many refused, and
"faults": what is neither, which is a fault of the package. A crash ends the process; the last line
on stderr is the seed that did it.
"""

import collections
import faulthandler
import gzip
import hashlib
import io
import itertools
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from pathlib import Path

import kformer
from kformer.decoding.shortlist import Shortlist
from kformer.export.tflite.tflite_writer import METADATA
from kformer.text.bitexts import read_bitext
from kformer.training.resumption.checkpoint import newest_checkpoint
from kformer.training.run.history_picture import read_history
from kformer.training.shards.manifest import MANIFEST
from kformer.training.shards.shard_set import shard_sets, vocabularies_of
from support.training.shards import signed

HANGS = 60  # Seconds: none of these files takes one.
_ARCHIVES = (".keras", ".npz", ".pt", ".zip")
_NUMBERS = (0, 1, -1, 255, 2**16, 2**24, 2**31 - 1, 2**32 - 1, 2**53, 10**7, 10**12, 10**40)
_VALUES = (*_NUMBERS, None, True, "", "x" * 10_000, "../../x", "\0", 1e300, 0.5, [], {}, [[[]]])


def _pairs(folder):
    for path in sorted(folder.iterdir()):
        collections.deque(read_bitext(path, ("source", "target")), maxlen=0)


def _shards(folder):
    for one in shard_sets(folder / "shards"):
        vocabularies_of(one)
        for shard in one.open():
            shard.starts()
            shard.ids.sum()


def _run(folder):
    read_history(folder)
    newest_checkpoint(folder / "checkpoints")


READERS = {
    "keras": lambda folder: kformer.load(folder / "model.keras"),
    "tflite": lambda folder: kformer.load(folder / "model.tflite").translate(["ein haus"]),
    "shards": _shards,
    "pairs": _pairs,
    "shortlist": lambda folder: Shortlist.load(folder / "shortlist.npz"),
    "run": _run,
    "marian": kformer.from_marian,
    "marian_npz": kformer.from_marian,
    "bergamot": lambda path: kformer.from_bergamot(path, shortlist=True),
    "ctranslate2": kformer.from_ctranslate2,
    "fairseq": kformer.from_fairseq,
    "opennmt": lambda folder: kformer.from_opennmt(folder / "model.pt"),
}


def changed_bytes(chance, content):
    """Returns bytes with some damage."""
    content = bytearray(content)
    place = chance.randrange(len(content) + 1)
    kind = chance.randrange(6)
    if kind == 0:
        return bytes(content[:place])
    if kind == 1:
        return bytes(content[:place] + chance.randbytes(chance.randrange(1, 99)) + content[place:])
    if kind == 2:
        return bytes(content[:place] + content[place // 2 : place] + content[place:])
    if kind == 3:
        width = chance.choice((1, 2, 4, 8))
        number = chance.choice(_NUMBERS) % 2 ** (8 * width)
        content[place : place + width] = number.to_bytes(width, "little")
        return bytes(content)
    for _ in range(chance.choice((1, 1, 9, 99))):
        if content:
            content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def changed_value(chance, value):
    """Returns a copy of a JSON value in which one part is replaced, removed or repeated."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice([*value])
        if chance.random() < 0.15:
            return {other: value[other] for other in value if other != name}
        return value | {name: changed_value(chance, value[name])}
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        if chance.random() < 0.2:
            return [*value, value[place]]
        return [*value[:place], changed_value(chance, value[place]), *value[place + 1 :]]
    if chance.random() < 0.05:
        return json.loads("[" * 500 + "]" * 500)
    return chance.choice(_VALUES)


def changed(chance, name, content):
    """Returns the content of a file of this name with a change, which may be one of its meaning."""
    suffix = Path(name).suffix
    if suffix == ".gz" and chance.random() < 0.7:
        name = name.removesuffix(suffix)
        return gzip.compress(changed(chance, name, gzip.decompress(content)), 1)
    if suffix in _ARCHIVES and chance.random() < 0.7:
        return _changed_archive(chance, content)
    if suffix == ".tflite" and chance.random() < 0.7:
        return _changed_tflite(chance, content)
    if suffix == ".json" and chance.random() < 0.7:
        return json.dumps(changed_value(chance, json.loads(content))).encode()
    if suffix == ".safetensors" and chance.random() < 0.7:
        size = int.from_bytes(content[:8], "little")
        header = changed_value(chance, json.loads(content[8 : 8 + size]))
        written = json.dumps(header).encode()
        return len(written).to_bytes(8, "little") + written + content[8 + size :]
    return changed_bytes(chance, content)


def _changed_archive(chance, content):
    """Changes a member, and writes the archive with the checksum of what it holds now."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = chance.choice([*members])
    members[chosen] = changed(chance, chosen, members[chosen])
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return written.getvalue()


def _changed_tflite(chance, content):
    """Changes the metadata, or the model with the checksum of what it is now."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        metadata = json.loads(archive.read(METADATA))
    model = content[: metadata["model_bytes"]]
    if chance.random() < 0.5:
        model = changed_bytes(chance, model)
        metadata |= {"model_bytes": len(model), "sha256": hashlib.sha256(model).hexdigest()}
    else:
        metadata = changed_value(chance, metadata)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr(METADATA, json.dumps(metadata))
    return model + written.getvalue()


def _sign(folder):
    """Gives a manifest of shards the checksums of the files as they are, as a forger would."""
    for path in folder.rglob(MANIFEST):
        try:
            content = json.loads(path.read_bytes())
            for shard in content["shards"]:
                for kind in shard["sha256"]:
                    file = path.parent / f"{shard['name']}.{kind}.npy"
                    shard["sha256"][kind] = hashlib.sha256(file.read_bytes()).hexdigest()
            path.write_text(json.dumps(signed(content)), "utf-8")
        except (ValueError, TypeError, KeyError, AttributeError, OSError):
            return


def attempt(read, folder, seed):
    """Reads a changed copy of a folder; returns "read", "refused" or the fault."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        copy = Path(shutil.copytree(folder, Path(place) / "copy"))
        file = chance.choice(sorted(one for one in copy.rglob("*") if one.is_file()))
        file.write_bytes(changed(chance, file.name, file.read_bytes()))
        if chance.random() < 0.7:
            _sign(copy)
        try:
            read(copy)
            return "read"
        except (ValueError, FileNotFoundError) as error:
            message = str(error)
            return "refused" if "Received:" in message and "\n" not in message else _told(error)
        except Exception as error:
            return _told(error)


def _told(error):
    return "".join(traceback.format_exception(error))[-1500:]


def _peak():
    """Returns the most memory, in MB, since it was last asked for."""
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
    Path("/proc/self/clear_refs").write_text("5")
    return peak


def main(form, folder, first, count):
    """Prints what came of `count` changes of the files in `folder`."""
    warnings.simplefilter("ignore")
    read = READERS[form]
    read(Path(folder))  # The good ones, and what is imported for them.
    usual, results = _peak(), collections.Counter()
    faults, slowest, largest = {}, 0, 0
    for seed in itertools.islice(itertools.count(int(first)), int(count)):
        print(seed, file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(HANGS, exit=True)
        start = time.process_time()
        result = attempt(read, Path(folder), seed)
        slowest = max(slowest, time.process_time() - start)
        largest = max(largest, _peak())
        results[result if result in ("read", "refused") else "faults"] += 1
        if result not in ("read", "refused"):
            faults[seed] = result
    faulthandler.cancel_dump_traceback_later()
    memory = {"usual_mb": usual, "largest_mb": largest, "slowest_cpu_s": round(slowest, 2)}
    print(json.dumps({**results, **memory, "faults": faults}))


if __name__ == "__main__":
    main(*sys.argv[1:])
