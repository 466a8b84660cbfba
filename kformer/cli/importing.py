"""`kformer import`: translators that others have trained."""

from pathlib import Path
from typing import Annotated, Any

import typer

import kformer
from kformer.cli.terminal.help_pages import HelpOfGroup
from kformer.cli.terminal.next_steps import suggest
from kformer.cli.terminal.streams import quiet
from kformer.files import check_writable
from kformer.imports.published.downloads import told_by
from kformer.imports.published.model_names import published_name

_Output = Annotated[Path, typer.Option(help="The .keras file to write.")]

_SourceModel = Annotated[
    Path | None,
    typer.Option(help="SentencePiece model of the sources; by default source.spm in the folder."),
]
_TargetModel = Annotated[
    Path | None,
    typer.Option(
        help="SentencePiece model of the translations; by default target.spm in the folder, or "
        "that of the sources."
    ),
]

_TargetLanguage = Annotated[
    str | None,
    typer.Option(
        help="Of a model with several, such as fra: the one that it then always translates "
        "into. By default each command that translates has the option."
    ),
]

EXAMPLES = {
    "published": "kformer import firefox://de-en --output de-en.keras\n"
    "kformer import published argos://de-en --output de-en.keras",
    "marian": "kformer import marian opus-mt-de-en --output de-en.keras",
    "bergamot": "kformer import bergamot models/deen --output de-en.keras",
    "ctranslate2": "kformer import ctranslate2 folder --output de-en.keras",
    "fairseq": "kformer import fairseq checkpoint_best.pt --output de-en.keras",
    "opennmt": "kformer import opennmt model.pt --output de-en.keras",
    "opennmt-tf": "kformer import opennmt-tf run --output de-en.keras",
}
app = typer.Typer(help="Make a .keras file of a translator that others have trained.")


class Group(HelpOfGroup):
    """The commands by toolkit; the name of a published model stands for `published` and itself."""

    def resolve_command(self, ctx: Any, args: list[str]):
        """Returns the command that the arguments name, and the arguments behind it."""
        if args[0] not in self.commands and published_name(args[0]):
            args = ["published", *args]
        return super().resolve_command(ctx, args)


_Shortlist = Annotated[
    Path | None,
    typer.Option(
        help="Write the model's shortlist there, .npz, for --shortlist of export, translate and "
        "evaluate, which then give the very words of Firefox's engine."
    ),
]


@app.command()
def published(
    name: Annotated[
        str,
        typer.Argument(
            help="Such as hf://Helsinki-NLP/opus-mt-de-en, firefox://de-en, argos://de-en, or the "
            "address of an archive; the word `published` may be left out."
        ),
    ],
    output: _Output,
    shortlist: _Shortlist = None,
):
    """Import a published model by its name, downloaded once.

    `kformer models --available de` lists names, and `kformer models` what was downloaded.
    """
    if published_name(name) is None:
        raise ValueError(
            f"The name of a published model is needed, such as firefox://de-en. Received: {name!r}."
        )
    _check_shortlist(shortlist)

    def read():
        translator = kformer.from_published(name)
        if shortlist is not None and not translator.shortlist:
            raise ValueError(
                f"The model must have a shortlist. Received: {name!r}, which has none."
            )
        return translator

    _write(output, read, shortlist)


@app.command()
def marian(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of Hugging Face's MarianMTModel, such as OPUS-MT's, or of Marian, with an "
            ".npz file, also as a .zip archive; or that file, where a folder holds several."
        ),
    ],
    output: _Output,
    target_language: _TargetLanguage = None,
    as_transformers: Annotated[
        bool,
        typer.Option(
            "--as-transformers",
            help="Compute positions and norms as transformers does, to compare with its "
            "`generate`, instead of as Marian, which trained the model.",
        ),
    ] = False,
):
    """Import a MarianMTModel, as OPUS-MT publishes them, or a model that Marian trained.

    The folder holds config.json, model.safetensors or pytorch_model.bin, vocab.json, source.spm and
    target.spm; or an .npz file with its vocabularies: one .spm file, or the files that the settings
    beside it name. Neither PyTorch nor transformers is needed.
    """
    _check_exist(folder)
    _write(output, lambda: kformer.from_marian(folder, target_language, as_transformers))


@app.command()
def bergamot(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of one of Firefox's translators, with model*.bin, *.spm and lex*.bin, "
            "also as .gz; or its file of weights, where a folder holds several."
        ),
    ],
    output: _Output,
    shortlist: _Shortlist = None,
):
    """Import one of Firefox's translators, as Mozilla publishes them for Bergamot."""
    _check_exist(folder)
    _check_shortlist(shortlist)

    def read():
        from kformer.imports.bergamot import has_shortlist

        if shortlist is not None and folder.exists() and not has_shortlist(folder):
            raise FileNotFoundError(
                f"A folder without lex*.bin has no shortlist. Received: {str(folder)!r}, "
                f"--shortlist {str(shortlist)!r}."
            )
        return kformer.from_bergamot(folder, shortlist is not None)

    _write(output, read, shortlist)


@app.command()
def ctranslate2(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of CTranslate2, with model.bin, also as a .zip archive; or a package of "
            "Argos Translate, .argosmodel."
        ),
    ],
    output: _Output,
    source_model: _SourceModel = None,
    target_model: _TargetModel = None,
    target_language: _TargetLanguage = None,
):
    """Import a Transformer of CTranslate2, which need not be installed."""
    _check_exist(folder, source_model, target_model)
    _write(
        output,
        lambda: kformer.from_ctranslate2(folder, source_model, target_model, target_language),
    )


@app.command()
def fairseq(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            help="A .pt file of fairseq; or a folder that holds one, or checkpoint_best.pt."
        ),
    ],
    output: _Output,
    source_model: _SourceModel = None,
    target_model: _TargetModel = None,
    dictionaries: Annotated[
        Path | None,
        typer.Option(
            help="Folder of dict.SOURCE.txt and dict.TARGET.txt; by default that of the checkpoint."
        ),
    ] = None,
):
    """Import a Transformer of fairseq, whose text was split by SentencePiece.

    Neither fairseq nor PyTorch is needed, and nothing in the file is run.
    """
    _check_exist(checkpoint, source_model, target_model, dictionaries)
    _write(
        output,
        lambda: kformer.from_fairseq(checkpoint, source_model, target_model, dictionaries),
    )


@app.command()
def opennmt(
    checkpoint: Annotated[Path, typer.Argument(help="A .pt file of OpenNMT-py.")],
    output: _Output,
    source_model: _SourceModel = None,
    target_model: _TargetModel = None,
):
    """Import a Transformer of OpenNMT-py, whose text was split by SentencePiece.

    Neither OpenNMT-py nor PyTorch is needed, and nothing in the file is run.
    """
    _check_exist(checkpoint, source_model, target_model)
    _write(output, lambda: kformer.from_opennmt(checkpoint, source_model, target_model))


@app.command("opennmt-tf")
def opennmt_tf(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            help="Folder of a run of OpenNMT-tf 2, for its latest checkpoint; or one checkpoint in "
            "it, such as run/ckpt-5000."
        ),
    ],
    output: _Output,
    source_model: _SourceModel = None,
    target_model: _TargetModel = None,
    source_vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="Vocabulary of the sources, one piece a line; by default source.vocab in the "
            "folder."
        ),
    ] = None,
    target_vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="Vocabulary of the translations; by default target.vocab in the folder, or that "
            "of the sources."
        ),
    ] = None,
    num_heads: Annotated[
        int | None,
        typer.Option(
            help="Attention heads, which a checkpoint does not contain; by default those of "
            "OpenNMT-tf's own Transformers."
        ),
    ] = None,
):
    """Import a Transformer of OpenNMT-tf, whose text was split by SentencePiece.

    OpenNMT-tf is not needed.
    """
    files = (source_model, target_model, source_vocabulary, target_vocabulary)
    is_beginning = any(checkpoint.parent.glob(f"{checkpoint.name}.*"))  # Of names of several files.
    _check_exist(*([] if is_beginning else [checkpoint]), *files)
    _write(output, lambda: kformer.from_opennmt_tf(checkpoint, *files, num_heads))


def _check_exist(*paths):
    """Raises FileNotFoundError at once, before TensorFlow is imported; None is no path."""
    for path in paths:
        if path is not None and not path.exists():
            raise FileNotFoundError(f"There is no such file or folder. Received: {str(path)!r}.")


def _check_shortlist(path):
    if path is None:
        return
    if path.suffix != ".npz":
        raise ValueError(f"The file's name must end in .npz. Received: {str(path)!r}.")
    check_writable(path)


def _write(output, read, shortlist=None):
    """Writes the translator that `read` returns, and its shortlist, to files."""
    if output.suffix != ".keras":
        raise ValueError(f"The file's name must end in .keras. Received: {str(output)!r}.")
    check_writable(output)
    with quiet() as say, told_by(say):
        translator = read()
        translator.save(output)
    typer.echo(f"Written: {output}")
    if shortlist is not None:
        translator.shortlist.save(shortlist)
        typer.echo(f"Written: {shortlist}")
    if translator.search_defaults:
        options = ", ".join(f"{name}={value}" for name, value in translator.search_defaults.items())
        typer.echo(f"The search of all its forms, unless you choose another: {options}", err=True)
    suggest("kformer", "translate", output)
