"""`kformer translate`."""

import contextlib
import dataclasses
import enum
import functools
import itertools
import operator
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

import kformer
import kformer.export
from kformer.cli.command_options import with_options_of
from kformer.cli.common_models import (
    AnyModel,
    Others,
    ShortlistTable,
    TargetLanguage,
    check_has_options,
    check_is_keras,
    open_ensemble,
    search_options,
)
from kformer.cli.documents_command import (
    Column,
    DocumentKind,
    DryRun,
    Encoding,
    Fuzzy,
    Keep,
    MemoryFile,
    document_kind_of,
    translate_document,
)
from kformer.cli.on_runner import Runner, translate_on_runner
from kformer.cli.terminal.line_streams import (
    Input,
    Output,
    Texts,
    check_output,
    in_chunks,
    one_source,
    text_in,
)
from kformer.cli.terminal.other_language import remarking
from kformer.cli.terminal.output_format import OutputFormat, check_format, write_answers
from kformer.cli.terminal.paragraph_lines import (
    Paragraphs,
    SourceLanguage,
    check_paragraphs,
    translate_paragraphs,
)
from kformer.cli.terminal.streams import quiet
from kformer.cli.unfinished import check_resumable, settings_of, write_resumably
from kformer.documents.document_kinds import KINDS
from kformer.documents.lines_of_text import check_suffix_of_output
from kformer.inference.search_options import SearchOptions
from kformer.kinds import TRANSLATOR
from kformer.text.text_files import read_lines
from kformer.training.data.pairs import check_parallel

Engine = enum.StrEnum("Engine", ["ctranslate2"])
SEARCH = "Search, for a .keras file"
_DETAILED = 200  # Lines in memory at once, where all of their attention is.


@with_options_of(SearchOptions, SEARCH)
def translate(
    context: typer.Context,
    model: AnyModel,
    texts: Texts = None,
    input: Input = None,
    output: Output = None,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="text: one translation per line; tsv: line number, score and text; jsonl: "
            "everything known of a translation."
        ),
    ] = OutputFormat.text,
    prefix: Annotated[
        Path | None,
        typer.Option(
            help="File with the beginning of each line's translation; a blank line leaves it open.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    target_language: TargetLanguage = None,
    glossary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TSV file of terms and the translations that they must have.",
        ),
    ] = None,
    ensemble: Others = None,
    shortlist: ShortlistTable = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="For a large file: if the command is killed, run it again, and it goes on. "
            "Meanwhile, what is done is beside OUTPUT.",
        ),
    ] = False,
    paragraphs: Paragraphs = False,
    source_language: SourceLanguage = None,
    runner: Runner = None,
    engine: Annotated[
        Engine | None,
        typer.Option(
            help="Library to translate with, for a .keras file: ctranslate2 is faster for a large "
            "file, in float32. Needs kformer[ctranslate2]."
        ),
    ] = None,
    kind: DocumentKind = None,
    keep: Keep = None,
    tmx: MemoryFile = None,
    encoding: Encoding = None,
    fuzzy: Fuzzy = False,
    column: Column = None,
    dry_run: DryRun = False,
    **search: Any,
):
    """Translate text line by line, or a document as a whole.

    Text is TEXT, --input, or stdin.
    """
    source = one_source(texts, input)
    own = {"keep": keep, "tmx": tmx, "encoding": encoding, "fuzzy": fuzzy, "column": column}
    own |= {"dry_run": dry_run}
    document = document_kind_of(input, kind, **own)
    if runner is not None:
        refused: dict[str, object]
        refused = {"format": format != OutputFormat.text, "prefix": prefix, "resume": resume}
        refused |= {"ensemble": ensemble, "shortlist": shortlist, "paragraphs": paragraphs}
        refused |= {"target_language": target_language, "engine": engine, "glossary": glossary}
        refused |= {"source_language": source_language, **search}
        refused |= own
        _check_is_lines(document, input)
        _check_no_texts(texts, "on a runner")
        translate_on_runner(model, input, output, runner, context.args, refused)
        return
    if engine is not None:
        if resume:
            raise ValueError(
                "--resume needs a model that stays where it is: export a folder of CTranslate2. "
                f"Received: --engine {engine}, --resume."
            )
        model = context.with_resource(_in_ctranslate2(model, target_language, search))
        target_language, search = None, {}
    terms = None if glossary is None else kformer.Glossary.load(glossary)
    if document:
        _check_no_texts(texts, "for a document")
    elif input and output and kind is None and format == OutputFormat.text:
        check_suffix_of_output(output, input, KINDS["text"])
    if resume:
        check_resumable(input, output)
    check_output(output)
    conflicting = {"format": format != OutputFormat.text, "prefix": prefix}
    check_has_options(model, ensemble, shortlist, search, prefix=prefix)
    options = search_options(model, search)
    conflicting |= {"n_best": options.n_best > 1}
    if not document:
        check_paragraphs(paragraphs, source_language, **conflicting, resume=resume)
    check_format(format, options.n_best)
    if terms:
        _check_goes_with_glossary(n_best=options.n_best > 1, sample=options.sample, prefix=prefix)
    names = document is not None  # A document may only need the name of the language.
    load = functools.partial(
        open_ensemble, model, ensemble or (), target_language, shortlist, names
    )
    settings = None
    if resume and not dry_run:
        models = {
            f"ensemble {number}": model_path
            for number, model_path in enumerate(ensemble or (), start=1)
        }
        files = {"input": input, "prefix": prefix, "shortlist": shortlist, **models}
        files["glossary"] = glossary
        choices = {"format": format, "target_language": target_language}
        choices |= {"source_language": source_language, **dataclasses.asdict(options)}
        settings = settings_of(model, files, choices)
    if document:
        translate_document(
            load,
            input,
            output,
            document,
            options,
            dry_run,
            conflicting | {"paragraphs": paragraphs},
            settings,
            keep=keep,
            tmx=tmx,
            encoding=encoding,
            fuzzy=fuzzy,
            column=column,
            source_language=source_language,
            target_language=target_language,
            glossary=terms,
        )
        return
    if paragraphs:
        split = functools.partial(_load_for_paragraphs, load, options, terms)
        translate_paragraphs(split, source, output, source_language)
        return
    items, total, pauses = text_in(source)
    items = _with_prefixes(items, input, prefix)
    start = functools.partial(_start_search, load, options, format, terms)
    if resume:
        assert output is not None and total is not None  # By `check_resumable`.
        assert settings is not None  # Only documents have a dry run.
        write_resumably(start, items, total, format, output, settings)
    else:
        work, chunk = start()
        write_answers(in_chunks(work, items, total, chunk, pauses=pauses), format, output)


@contextlib.contextmanager
def _in_ctranslate2(model, target_language, search):
    """Yields a temporary folder of CTranslate2 with a translator and the options of its search."""
    check_is_keras(model, "is translated with by another library")
    if "n_best" in search:
        raise ValueError(
            "Another engine finds the best translation alone. "
            f"Received: --engine, --n-best {search['n_best']}."
        )
    with quiet(), tempfile.TemporaryDirectory() as folder:
        translator = kformer.load(model)
        TRANSLATOR.check("model", translator)
        translator.search_defaults = translator.search_options(SearchOptions(**search)).changed
        yield kformer.export.export_ctranslate2(
            translator.into(target_language), Path(folder) / "ctranslate2"
        )


def _check_no_texts(texts, where):
    if texts:
        raise ValueError(f"Text is read from --input {where}. Received: {texts[0]!r}.")


def _check_is_lines(document, input):
    if document:
        raise ValueError(
            "On a runner, lines of text are translated; --kind lines takes those of a document. "
            f"Received: --input {str(input)!r}, of the kind {document}."
        )


def _check_goes_with_glossary(**refused):
    names = ", ".join(f"--{name.replace('_', '-')}" for name, is_set in refused.items() if is_set)
    if names:
        raise ValueError(
            "A glossary goes with the best translation of each line, without samples and prefixes. "
            f"Received: --glossary, with {names}."
        )


def _load_for_paragraphs(load, options, glossary):
    translator = load()
    work = functools.partial(translator.split_translations, options=options, glossary=glossary)
    return remarking(work, translator)


def _with_prefixes(lines, input, prefix):
    """Pairs of a line and the prefix of its translation, a blank one for none."""
    if prefix is None:
        return ((line, "") for line in lines)
    if input and input.is_file():
        check_parallel(input, prefix)
    return _paired(lines, read_lines(prefix), prefix)


def _paired(lines, prefixes, file):
    for pair in itertools.zip_longest(lines, prefixes):
        if None in pair:
            more = "more" if pair[0] is None else "fewer"
            raise ValueError(
                "Every line needs its prefix, a blank one for none. "
                f"Received: {more} lines in {str(file)!r} than to translate."
            )
        yield pair


def _start_search(load, options, format, glossary):
    """Loads a model; returns a function for `in_chunks` that translates (line, prefix).

    Returns:
        work: callable (pairs, progress) -> translations.
        chunk: Most pairs at once, None for the default.
    """
    translator, details = load(), format == OutputFormat.jsonl

    def work(pairs, progress):
        texts, prefixes = zip(*pairs, strict=True)
        return translator.translations(
            texts,
            options,
            progress=progress,
            details=details,
            prefixes=prefixes if any(prefixes) else None,
            glossary=glossary,
        )

    return remarking(work, translator, operator.itemgetter(0)), _DETAILED if details else None
