"""`Exports`: the forms to export with their options, and the sentences that check them."""

import dataclasses
import enum
import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.cli.command_options import Tokenize
from kformer.inference.search_options import SearchOptions
from kformer.kinds import kind_of_task
from kformer.text.documents import LINE, read_documents
from kformer.training.data.pairs import check_parallel, split_pairs
from kformer.training.run.run_config import read_run_config


class Precision(enum.StrEnum):
    """The precisions of weights that the command line offers."""

    float32 = "float32"
    float16 = "float16"
    int8 = "int8"
    int4 = "int4"
    int4_all = "int4-all"


_ABOUT = ("source_language", "target_language", "licence", "citation")
_SEARCH = {field.name: field.metadata["description"] for field in dataclasses.fields(SearchOptions)}


@dataclasses.dataclass(frozen=True)
class Exports:
    """The forms to export, and how: the options of `kformer export`."""

    saved_model: Annotated[
        Path | None,
        typer.Option(
            help="Folder for TensorFlow Serving. The SavedModel becomes its next version; a README "
            "there explains how to serve it."
        ),
    ] = None
    tflite: Annotated[Path | None, typer.Option(help="The .tflite file to write.")] = None
    web: Annotated[
        Path | None,
        typer.Option(
            help="New folder for a web page that translates in the browser with a .tflite file."
        ),
    ] = None
    litert_js: Annotated[
        Path | None,
        typer.Option(
            help="For --web: folder of the npm package @litertjs/core; by default the one in "
            "node_modules, here or in a folder above."
        ),
    ] = None
    android: Annotated[
        Path | None,
        typer.Option(
            help="New folder for a project of an Android app that translates with a .tflite file."
        ),
    ] = None
    ios: Annotated[
        Path | None,
        typer.Option(
            help="New folder for a project of an iOS app that translates with a .tflite file."
        ),
    ] = None
    ctranslate2: Annotated[
        Path | None,
        typer.Option(
            help="New folder for CTranslate2, with the SentencePiece models. Needs "
            "kformer[ctranslate2]."
        ),
    ] = None
    argos: Annotated[
        Path | None,
        typer.Option(
            help="The .argosmodel file to write, a package for Argos Translate and LibreTranslate. "
            "Needs kformer[ctranslate2]."
        ),
    ] = None
    argos_sentences: Annotated[
        Path | None,
        typer.Option(
            help="For --argos: what splits sentences, a model of MiniSBD, .onnx, or another "
            "package from the same language; by default Argos Translate downloads a model."
        ),
    ] = None
    beam_size: Annotated[int | None, typer.Option(help=_SEARCH["beam_size"])] = None
    length_penalty: Annotated[float | None, typer.Option(help=_SEARCH["length_penalty"])] = None
    max_source_length: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of ids of a source in the .tflite file, which has room for 6 "
            "bytes per id; by default 128."
        ),
    ] = None
    precision: Annotated[
        Precision,
        typer.Option(
            help="Precision of the weights in the .tflite file and for CTranslate2. float16: half "
            "the size. int8: smaller and faster, but some answers differ; the table shows how "
            "many. int4, .tflite alone: smaller still, with a vocabulary of 8 bits; int4-all: "
            "all of 4 bits."
        ),
    ] = Precision.float32
    batch: Annotated[
        int,
        typer.Option(min=1, help="Number of texts that the .tflite file can compute at once."),
    ] = 1
    signatures: Annotated[
        str | None,
        typer.Option(
            help="Signatures of the .tflite file, such as translate,detokenize: others that an app "
            "can do without are left out, which makes it smaller; by default all are there."
        ),
    ] = None
    xla: Annotated[
        bool,
        typer.Option(
            "--xla",
            help="Compile the SavedModel for a server with --xla_cpu_compilation_enabled: faster, "
            "but a new shape takes seconds.",
        ),
    ] = False
    max_batch_tokens: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of ids in all texts of a request to the SavedModel; by default "
            "that of 64 of the longest sources and targets."
        ),
    ] = None
    shortlist: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Table of `kformer shortlist`, kept in the SavedModel and the .tflite file: they "
            "search among the ids that are likely for each sentence alone, which is faster with a "
            "large vocabulary.",
        ),
    ] = None
    licence: Annotated[
        str | None, typer.Option(help="Licence of the model, kept in the exports.")
    ] = None
    citation: Annotated[str | None, typer.Option(help="How to cite it, kept in the exports.")] = (
        None
    )
    source_language: Annotated[
        str | None, typer.Option(help="Such as de, kept in the exports.")
    ] = None
    target_language: Annotated[
        str | None,
        typer.Option(
            help="Such as en, kept in the exports; chooses the tokenizer of BLEU. Of a model with "
            "several: the one that the exports then always translate into."
        ),
    ] = None
    tokenize: Tokenize = None

    @property
    def paths(self):
        """The paths of the forms to write."""
        forms = (
            self.saved_model,
            self.tflite,
            self.web,
            self.android,
            self.ios,
            self.ctranslate2,
            self.argos,
        )
        return [path for path in forms if path]

    @property
    def needs_tflite(self):
        """Whether a form is a `.tflite` file or contains one."""
        return any((self.tflite, self.web, self.android, self.ios))

    @property
    def signature_names(self):
        """The signatures that were chosen for the .tflite file; None if none were."""
        return None if self.signatures is None else self.signatures.split(",")

    @property
    def about(self):
        """The metadata of the model that was given, by name."""
        values = {name: getattr(self, name) for name in _ABOUT}
        return {name: value for name, value in values.items() if value is not None}


CHECKED = 1000  # Sentences at most, from the beginning of the file.


def held_out(model: Any, source: Any, reference: Any):
    """Returns the sentences to check with, and their references or None.

    Args:
        source, reference: The user's files; or None for the files of the model's run.
    """
    if source is None:
        if reference:
            raise ValueError(
                "--check-reference translates --check-source, which must be given, too. "
                f"Received: {str(reference)!r} alone."
            )
        source, reference = _recorded(model)
    if reference:
        check_parallel(source, reference)

    # Of language models.
    documents = read_run_config(model.parent).get("options", {}).get("documents", LINE)

    def beginning(file):
        return list(itertools.islice(read_documents(file, documents), CHECKED))

    return beginning(source), beginning(reference) if reference else None


def _recorded(model):
    """Returns the validation files that the run recorded: of sentences and of their references."""
    config = read_run_config(model.parent)
    recorded = config.get("files", {})
    # Of any kind of model.
    sides = ("valid_source", "valid_target", "valid_pairs", "valid", "valid_text")
    files = [recorded[side][0] for side in sides if recorded.get(side)]
    if not files:
        raise ValueError(
            "An export is checked on held-out sentences, and the run recorded none: give "
            f"--check-source. Received: {str(model)!r}."
        )
    if not all(Path(file).is_file() for file in files):
        raise FileNotFoundError(
            "An export is checked on held-out sentences, and those that the run recorded are "
            f"not there: give --check-source. Received: {', '.join(map(repr, files))}."
        )
    if recorded.get("valid_pairs"):
        source, target = split_pairs(files, config["options"]["columns"])
        files = [*source, *target]
    if recorded.get("valid"):
        task = kind_of_task(config["task"]).part("task")
        labelled = task.split(files, config["options"].get("columns"))
        files = [*labelled.texts, *labelled.labels]
    source, *reference = map(Path, files)
    return source, reference[0] if reference else None


def beginnings(model: Any, texts: Sequence[str]):
    """Returns prompts for a language model: the first half of the ids of each text, as text."""
    from kformer.text.text_rows import write_texts  # TensorFlow.

    with warnings.catch_warnings(action="ignore"):  # Of texts that are too long.
        rows = model.source_rows(texts)
    halves = [row[: max(1, min(len(row) - 1, model.max_length) // 2)] for row in rows]
    return write_texts(model.tokenizer, halves)
