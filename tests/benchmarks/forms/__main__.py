"""Each form of a translator: its size, its memory, and how soon it answers.

    PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.forms MODEL.keras TEXT
    PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.forms MODEL.keras TEXT --folder forms
    PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.forms A.keras TEXT --ensemble B.keras

TEXT has lines for it to translate, each alone, on one thread, greedily or with `--beams`. The forms
take turns; medians of each are shown: seconds to load it and translate the first line, milliseconds
a sentence, ids of the translations a second, the peak of the memory of processes that do nothing
else, and seconds from the start of `kformer translate` to the end of its first translation. The
forms are kept where `--folder` says, and are not made again.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.contender import Contender, ContenderFailed, environment
from benchmarks.forms.form import ENSEMBLE, FORMS
from benchmarks.preparation import prepare
from kformer.tasks.keras_file import tokenizer_models
from kformer.text import vocabulary


def main():
    parser = Parser("benchmarks.forms", __doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--folder", type=str)
    parser.add_argument("--ensemble", nargs="+", default=[], help="others that vote with it")
    parser.add_argument("--forms", nargs="+", choices=FORMS)
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    chosen.forms = chosen.forms or [one for one in FORMS if one != ENSEMBLE or chosen.ensemble]
    show_machine()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(chosen.folder or temporary) / f"beams-{chosen.beams}"
        folder.mkdir(parents=True, exist_ok=True)
        for form in chosen.forms:
            prepare(
                "benchmarks.forms",
                "benchmarks.forms.write_form",
                [str(chosen.model), str(folder), form, str(chosen.beams), *chosen.ensemble],
            )
        megabytes = {form: size(folder / FORMS[form]) / 1e6 for form in chosen.forms}
        measured = {form: [] for form in chosen.forms}
        for _ in range(chosen.rounds):
            for form, rounds in measured.items():
                path = folder / FORMS[form]
                rounds.append({**loaded(form, path, chosen), "first": first(form, path)})
    source, other = tokenizer_models(chosen.model, prefix_kept=True)
    target = vocabulary.read(other or source)
    show("form                      MB   load s  sentence ms  tokens/s  memory MiB  first answer s")
    for form, rounds in measured.items():
        load, sentence, memory = (
            median(one[name] for one in rounds) for name in ("load", "sentence", "peak_bytes")
        )
        speed = median(ids(one["translations"], target) / one["whole"] for one in rounds)
        first_answers = [one["first"] for one in rounds if one["first"] is not None]
        answer = f"{median(first_answers):.2f}" if first_answers else "-"
        show(
            f"{form:<20} {megabytes[form]:7.1f} {load:8.2f} {1e3 * sentence:12.2f} {speed:9,.0f} "
            f"{memory / 2**20:11.0f} {answer:>15}"
        )


def loaded(form, path, chosen) -> dict:
    """Loads a form in a process of its own; returns what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.forms.form", form]
        command += [str(path), str(chosen.text), str(chosen.beams)]
        contender = Contender(command, Path(folder) / "log")
        try:
            return contender.round()
        except ContenderFailed as failed:
            sys.exit(f"benchmarks.forms: {form}: {failed}")
        finally:
            contender.close()


def first(form, path) -> float | None:
    """Returns the seconds that `kformer translate` takes for a word; None if it cannot read it."""
    if form == ENSEMBLE or form.startswith("CTranslate2"):
        return None
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "kformer", "translate", str(path)],
        input="Haus\n",
        env=environment(),
        capture_output=True,
        check=True,
        text=True,
    )
    return time.perf_counter() - start


def ids(translations, target) -> int:
    """Counts the ids of translations in the vocabulary `target`, with an end id for each."""
    return sum(len(one) + 1 for one in target.Encode(translations))


def size(path) -> int:
    """Returns the bytes of a file or of a folder."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return sum(one.stat().st_size for one in files)


if __name__ == "__main__":
    main()
