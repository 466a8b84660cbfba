"""Files whose lines are sentences: by their suffix, and by their first characters.

A file without a suffix, `.txt` and `.text` are lines, and so are suffixes that are no known format:
corpora are named by languages and steps of their making, such as `train.tok.de`. A suffix of two
letters is a language even where it is a format, too, as in `.cs`, `.pl` and `.tr`; but `.ts` is far
more often a program, or strings of Qt, than Tsonga.
"""

from pathlib import Path

from kformer.documents.document_kinds import DocumentKind, kind_by_suffix
from kformer.files import is_stream
from kformer.text.text_files import COMPRESSED


def _names(*texts):
    return frozenset(name for text in texts for name in text.split())


_FORMATS = _names(
    # Documents.
    "pdf doc docm dot dotx rtf odp ods odg ott fodt fodp sxw ppt pptx pptm pps ppsx xls xlsx xlsm "
    "xlsb mobi azw azw3 fb2 djvu eps tex latex ltx bib rst adoc asciidoc asc org textile "
    "mediawiki creole rmd qmd mdx ipynb opml dita ditamap docbook sgm sgml svg xsl xslt rss atom "
    "mht mhtml eml msg mbox vcf ics hwp hwpx wpd idml indd icml mif",
    # Strings of programs, and files of translators.
    "resjson ts qm ftl php phtml tmx tbx sdlxliff "
    "mqxliff mxliff xlz txlf ttx ini cfg conf toml lang dtd tab jsonl ndjson json5 "
    "jsonc hjson plist neon hcl isl",
    # Subtitles.
    "ass ssa sub sbv smi sami ttml dfxp stl lrc scc usf itt",
    # Programs.
    "py pyi pyw js mjs cjs jsx tsx vue svelte astro java kt kts scala groovy gradle cc cpp cxx hh "
    "hpp csharp go rs rb erb swift dart lua twig ejs hbs mustache liquid jinja jinja2 j2 haml "
    "slim pug jade jsp jspx asp aspx ascx cshtml vbhtml razor tpl xaml css scss sass less sql bat "
    "cmd bash zsh fish ps1 pas f90 jl hs exs erl clj coffee proto graphql cmake diff patch",
    # Data.
    "conll conllu parquet arrow feather npy npz pkl pickle h5 hdf5 sqlite sqlite3 mdb dbf avro orc "
    "tfrecord safetensors keras tflite onnx gguf",
    # Archives, images, sound, programs in binary.
    "zip tar tgz 7z rar jar war apk aab ipa deb rpm whl png jpg jpeg gif bmp tif tiff webp heic "
    "mp3 mp4 m4a wav flac ogg oga ogv opus webm mkv avi mov wmv exe dll class wasm",
)
# Formats by the first characters of their files; a tag alone may begin a line of a corpus.
_BEGINNINGS = (b"<?xml", b"<!doctype", b"<html", b"{\\rtf", b"%pdf-", b"pk\x03\x04")


def is_lines_of_text(path: Path) -> bool:
    """Returns whether the lines of a file are sentences, as far as its name and its start show."""
    suffix = _suffix(path)
    kind = kind_by_suffix(f"a{suffix}")
    if kind is not None:
        return kind.name == "text"
    return suffix[1:] not in _FORMATS and not _begins_like_a_format(path)


def check_suffix_of_output(output: str | Path, path: str | Path, kind: DocumentKind):
    """Raises a ValueError if an output of a kind would have the suffix of another format.

    Args:
        path: The document, whose own suffix is always a right one.
    """
    suffix, own = Path(output).suffix.lower(), Path(path).suffix.lower()
    known = kind_by_suffix(output)
    if suffix == own or known is kind or (known is None and suffix[1:] not in _FORMATS):
        return
    raise ValueError(
        "The output is a file of the input's kind, so it must not have the suffix of another one. "
        f"Received: output={str(output)!r}, input={str(path)!r} of the kind {kind.name}."
    )


def _suffix(path):
    """Returns the suffix of a file, in lower case; of a compressed one, the suffix before."""
    path = Path(path.name.lower())
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def _begins_like_a_format(path):
    if not path.is_file() or is_stream(path):
        return False
    with path.open("rb") as file:
        first = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return first.startswith(_BEGINNINGS)
