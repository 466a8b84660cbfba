"""Translation in a browser: kformer's page against Bergamot's engine, in the same Chromium.

    make bench-page
    make bench-page ARGS="--sizes firefox-tiny --contenders page bergamot --rounds 3"
    make bench-page MODEL=FOLDER SOURCE=test.en

The engine is the npm package `@browsermt/bergamot-translator`, Marian in WebAssembly, which
Firefox's translators were made for. Both have the same weights, in int8, and the same sentences;
each has one thread. The page is what `kformer export --web` writes, driven by its module.

They take turns of two rounds; the second counts. A round opens the page anew and waits for its
first answer, with all that is fetched and compiled for it; then it translates sentences one after
the other, and others all at once. Random models have sentences of 20 words, each one id of 32,000,
and translations of the same number of ids. MODEL is a folder of Firefox's, as `kformer import
bergamot` reads it.

Columns: words of the source a second, in the two ways; `first answer`, from opening the page, from
a server on this machine; `loaded`, the files that the browser fetched until then, as they are on
disk. With `shortlist`, both choose among the candidates of one lexical shortlist, as Firefox does.
int8 is rounded by each in its own way, so random models differ in most translations, but not in
the number of their words. The machine must have nothing else to do.
"""

import contextlib
import json
import tempfile
from pathlib import Path

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.decoding.agreement import Agreement
from benchmarks.page import report
from benchmarks.page.contenders import NAMES, Page, Sentences
from benchmarks.preparation import prepare
from benchmarks.round_robin import round_robin
from benchmarks.sizes import STUDENT_SIZES
from browser.chromium import Chromium, NotHere, installed_packages, served

SIZES = [name for name, size in STUDENT_SIZES.items() if not size.norm_first]  # As Marian's.
PACKAGES = Path(__file__).parents[3] / ".pytest_cache" / "browser"


def arguments():
    parser = Parser("bench-page", __doc__)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["firefox-tiny"])
    parser.add_argument("--model", help="folder of Firefox's, instead of all sizes")
    parser.add_argument("--source", type=Path, help="text for it to translate")
    parser.add_argument("--contenders", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--alone", type=int, default=20, help="sentences one after the other")
    parser.add_argument("--together", type=int, default=100, help="sentences at once")
    parser.add_argument("--rounds", type=int, default=3, help="that count, after one to warm up")
    chosen = parser.parse_args()
    parser.check_together(chosen, "model", "source")
    return chosen


def main():
    chosen = arguments()
    show_machine()
    PACKAGES.mkdir(parents=True, exist_ok=True)
    try:
        packages = installed_packages(PACKAGES)
        with contextlib.closing(Chromium(packages)) as browser:
            for model in [chosen.model] if chosen.model else chosen.sizes:
                with tempfile.TemporaryDirectory() as folder:
                    measure(model, Path(folder), browser, packages, chosen)
    except NotHere as reason:
        raise SystemExit(f"bench-page: {reason}") from None


def measure(model, folder, browser, packages, chosen):
    """Lets the contenders take turns, and prints and returns what they did."""
    text = ["--source", str(chosen.source.absolute())] if chosen.source else []
    numbers = [str(chosen.alone), str(chosen.together)]
    prepare(
        "bench-page",
        "benchmarks.page.write_pages",
        [str(folder), model, str(packages), *numbers, *chosen.contenders, *text],
    )
    sentences = Sentences(*json.loads((folder / "sentences.json").read_text("utf-8")))
    print(
        f"\n{Path(model).name}: {report.words_of(sentences.alone):,} words in {chosen.alone} "
        f"sentences one at a time, {report.words_of(sentences.together):,} in {chosen.together} "
        "at once",
        flush=True,
    )
    agreement = Agreement(show)
    with contextlib.ExitStack() as serving:
        contenders = {}
        for name in chosen.contenders:
            address = serving.enter_context(served(folder / name))
            contenders[name] = Page(browser, address, folder / name, sentences)
        measured = round_robin(contenders, chosen.rounds, agreement.check, show)
    lines = [*report.ratios(measured), *agreement.unfair]
    print("", *report.table(measured, sentences), *lines, sep="\n", flush=True)
    return measured


if __name__ == "__main__":
    main()
