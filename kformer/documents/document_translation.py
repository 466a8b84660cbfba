"""Translates a document: only its text changes, and all else comes out as it went in."""

import codecs
import contextlib
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kformer.arguments import as_texts, check_flag, for_text_or_texts
from kformer.documents.asking import Answers, as_translator
from kformer.documents.character_sets import (
    check_encoding,
    decode_document,
    encodable,
    read_document,
)
from kformer.documents.document_kinds import ReadOptions, document_kind
from kformer.documents.document_report import DocumentTranslation, Unplaced
from kformer.documents.lines_of_text import check_suffix_of_output
from kformer.documents.placeholders import KeptPatterns, expanded, syntax_pattern
from kformer.documents.placement import TakenText
from kformer.documents.segments import Chunk, Code, InnerSegment, Piece, Segment, plain_text
from kformer.documents.translation_memories import MemoryWriter
from kformer.files import Publication, check_another_file
from kformer.inference.glossary import Glossary, check_glossary
from kformer.inference.search_options import SearchOptions
from kformer.text.paragraphs.marks import has_letter

_MARK = "\ufeff"  # A byte order mark.
_BATCH = 2000  # Segments that are translated at once, and in memory,
_BATCH_CHARACTERS = 500_000  # or fewer, if they have so many characters.


def translate_document(
    path: str | Path,
    translator: Any,
    output: str | Path,
    *,
    kind: str | None = None,
    keep: Iterable[str] | None = None,
    tmx: str | Path | None = None,
    encoding: str | None = None,
    column: str | int | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    progress: Callable[[int], object] | None = None,
    glossary: Glossary | Mapping[str, str] | None = None,
    options: SearchOptions | None = None,
    fuzzy: bool = False,
) -> DocumentTranslation:
    """Translates a document into a file of the same kind.

    Structure, tags, keys, times, comments, escapes and line ends stay; only text is translated. A
    text that occurs several times is translated once. The output appears whole or not at all.

    Args:
        path: The document. It has at most 64 MiB.
        translator: What `kformer.load` returns for a translator of any form; or a function from a
            list of texts to a list of their translations.
        output: The file to write; an old one is replaced.
        kind: A kind of `kformer.documents.document_kinds`; by default by the suffix of `path`.
        keep: What stays in a text exactly as it is: names of `kformer.documents.placeholders.KINDS`
            and regular expressions. By default all of these kinds; regular expressions alone are
            added to them.
        tmx: A file to write the texts with their translations to, as a translation memory. It needs
            both languages.
        encoding: Name of the encoding of the document and of the output, such as "windows-1252".
            By default it is the one of the byte order mark, or the declared one, or UTF-8.
        column: The column of a CSV: its name in the first line, or its number from 1.
        source_language, target_language: As for `kformer.AnyTranslator.split_translations`. For a
            translator without a choice of languages, the second is only the name of its language.
        progress: Called with the number of segments done, after each batch.
        glossary: `kformer.Glossary` of terms that have given translations, or a dict. Terms within
            what stays are ignored.
        options: `kformer.SearchOptions` of a translator that lets its caller choose them.
        fuzzy: Whether translations of a gettext catalog are marked as fuzzy. Programs ignore fuzzy
            ones until they are reviewed. XLIFF and string catalogs always have such a mark, which
            programs do not heed.

    Returns:
        What was translated, and what could not be placed.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such document.
        OSError: The output cannot be written.
        ValueError: The document is malformed, or larger than it may be; or the output would
            replace it, or has the suffix of another kind.

    Examples:
        >>> from pathlib import Path
        >>> import kformer
        >>> _ = Path("page.md").write_text("# Ein Hund läuft.\\n", encoding="utf-8")
        >>> translator = kformer.load("de-en.tflite")
        >>> report = kformer.translate_document("page.md", translator, "english.md")
        >>> Path("english.md").read_text(encoding="utf-8")
        '# A dog runs.\\n'
    """
    kind = document_kind(path, kind)
    check_another_file(output, path)
    check_suffix_of_output(output, path, kind)
    _check_options(encoding, column, kind)
    if check_flag("fuzzy", fuzzy) and kind.name != "gettext":
        raise ValueError(
            "`fuzzy` is for catalogs of gettext; other kinds have their own marks. "
            f"Received: fuzzy=True for a document of the kind {kind.name}."
        )
    if tmx is not None:
        check_another_file(tmx, path)
    content, translator = read_document(path), as_translator(translator)
    work = _work(keep, translator, source_language, target_language, progress, glossary, options)
    options = _options(path, translator, source_language, target_language, encoding, column)
    options = options._replace(fuzzy=fuzzy)
    with Publication() as publication, contextlib.ExitStack() as files:
        if tmx is not None:
            memory = _opened(publication, tmx, files)
            work.memory = files.enter_context(MemoryWriter(memory, *_languages(options)))
        _write(content, kind, options, work, _opened(publication, output, files))
    return work.report(kind.name)


def translate_content(
    content: bytes,
    name: str,
    translator: Any,
    *,
    kind: str | None = None,
    keep: Iterable[str] | None = None,
    encoding: str | None = None,
    column: str | int | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    glossary: Glossary | Mapping[str, str] | None = None,
) -> tuple[bytes, DocumentTranslation]:
    """Translates a document that is in memory, and returns it with the report.

    Args:
        content: The bytes of the document.
        name: Name of the document, for messages; by default its suffix is that of the kind.
        encoding, column: As for `translate_document`.
    """
    kind = document_kind(name, kind)
    _check_options(encoding, column, kind)
    translator = as_translator(translator)
    work = _work(keep, translator, source_language, target_language, glossary=glossary)
    options = _options(name, translator, source_language, target_language, encoding, column)
    file = io.BytesIO()
    _write(content, kind, options, work, file)
    return file.getvalue(), work.report(kind.name)


@for_text_or_texts
def translate_markup(
    texts: Iterable[str],
    translator: Any,
    *,
    kind: str = "html",
    keep: Iterable[str] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    glossary: Glossary | Mapping[str, str] | None = None,
) -> list[tuple[str, DocumentTranslation]]:
    """Translates texts with markup, such as fragments of HTML, in one call of the translator.

    Args:
        texts: Each is read as a document of its own. Those of the kind "text" have no markup, but
            placeholders. Or one string.
        translator, keep, source_language, target_language, glossary: As for `translate_document`.
        kind: A kind of documents that is no archive.

    Returns:
        Each text with only its words translated, and its report; such a pair for one string.

    Raises:
        ValueError: A text is malformed, or the kind is that of an archive.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("de-en.tflite")
        >>> markup, report = kformer.translate_markup("Ein <b>Hund</b> läuft.", translator)
        >>> markup
        'A <b>dog</b> runs.'
    """
    kind = document_kind("", kind)
    if kind.is_archive:
        raise ValueError(f"`kind` must not be of an archive. Received: kind={kind.name!r}.")
    translator = as_translator(translator)
    options = _options("the text", translator, source_language, target_language)
    texts = as_texts(texts, "texts")
    documents = iter([[*kind.reader.read(text, options)] for text in texts])
    work = _work(keep, translator, source_language, target_language, glossary=glossary)
    results = []
    for batch in _batches(texts):
        pieces = [*itertools.islice(documents, len(batch))]
        work.ask(itertools.chain.from_iterable(pieces))  # Their words are aligned together.
        for each in pieces:
            text = "".join(work.translated(each))
            results.append((text, work.report(kind.name)))
            work = work.another()
    return results


def document_segments(
    path: str | Path,
    *,
    kind: str | None = None,
    keep: Iterable[str] | None = None,
    encoding: str | None = None,
    column: str | int | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Iterator[tuple[int, str]]:
    """Yields the line and the text of each segment of a document that would be translated.

    Arguments and errors are as for `translate_document`.

    Examples:
        >>> from pathlib import Path
        >>> import kformer
        >>> page = "<h1>Ein Hund</h1>\\n<p>Er <b>läuft</b>.</p>"
        >>> _ = Path("page.html").write_text(page, encoding="utf-8")
        >>> [*kformer.document_segments("page.html")]
        [(1, 'Ein Hund'), (2, 'Er läuft.')]
    """
    kind = document_kind(path, kind)
    patterns = KeptPatterns(keep)
    _check_options(encoding, column, kind)
    options = ReadOptions(
        repr(str(path)), source_language, target_language, encoding, _name_of_column(column)
    )
    content = read_document(path)
    for pieces, _ in _members(content, kind, options):
        for segment, parts in expanded(pieces, patterns):
            taken = TakenText(parts)
            if has_words(taken):
                yield segment.line, taken.text


def _work(
    keep,
    translator,
    source_language,
    target_language,
    progress=None,
    glossary=None,
    options=None,
):
    keep = keep if keep is None or isinstance(keep, str) else [*keep]
    patterns, syntax, glossary = KeptPatterns(keep), syntax_pattern(keep), check_glossary(glossary)
    if glossary is not None:
        glossary = glossary.outside(patterns[""])
    answers = Answers(translator, source_language, target_language, syntax, glossary, options)
    return _Work(patterns, answers, progress)


def _opened(publication, path, files):
    """Returns a file that appears at a path when the publication ends without an error."""
    temporary = files.enter_context(publication.writing(path))
    return files.enter_context(temporary.open("wb"))


def _languages(options):
    languages = options.source_language, options.target_language
    if None in languages:
        raise ValueError(
            "A translation memory needs `source_language` and `target_language`, unless the "
            "translator has them. Received: "
            f"source_language={languages[0]!r}, target_language={languages[1]!r}."
        )
    return languages


def _check_options(encoding, column, kind):
    """Refuses options that do not go with a kind."""
    check_encoding(encoding)
    if column is not None and not kind.is_table:
        raise ValueError(
            "`column` is for tables, such as CSV. "
            f"Received: column={column!r:.60} for the kind {kind.name}."
        )
    if encoding is not None and kind.is_archive:
        raise ValueError(
            "`encoding` is for files of text, not for archives of several texts. "
            f"Received: encoding={encoding!r} for the kind {kind.name}."
        )


def _name_of_column(column):
    return None if column is None else str(column)


def _options(
    path, translator, source_language, target_language, encoding=None, column=None
) -> ReadOptions:
    facts = translator.facts
    source = source_language or facts.source_language
    target = target_language or facts.target_language
    return ReadOptions(repr(str(path)), source, target, encoding, _name_of_column(column))


def _decoded(content, kind, options, name=None):
    """Returns the characters of a text, and their encoding."""
    declared = kind.reader.declared_encoding(content)
    return decode_document(content, declared, name or options.name, options.encoding)


def _members(content, kind, options):
    """Yields the pieces of each text of a document, with its encoding."""
    if not kind.is_archive:
        text, encoding = _decoded(content, kind, options)
        yield _pieces(text, kind, options), encoding
        return
    from kformer.documents.office_archives import text_members

    for name, member in text_members(content, kind.reader, options.name):
        text, encoding = _decoded(member, kind, options, name)
        yield _pieces(text, kind, options._replace(name=name)), encoding


def _pieces(text, kind, options) -> Iterator[Piece]:
    """Yields the pieces of a text; a byte order mark is none of a segment."""
    if text.startswith(_MARK):
        yield _MARK
    yield from kind.reader.read(text.removeprefix(_MARK), options)


def _write(content, kind, options, work, file):
    """Writes the translated document to an open file."""
    if not kind.is_archive:
        for encoded in _translated_text(content, kind, options, work):
            file.write(encoded)
        return
    from kformer.documents.office_archives import write_archive

    def translated(member, name):
        return b"".join(_translated_text(member, kind, options._replace(name=name), work))

    write_archive(content, kind.reader, options.name, translated, file)


def _translated_text(content, kind, options, work) -> Iterator[bytes]:
    text, encoding = _decoded(content, kind, options)
    work.encoding = encoding, kind.encoding_errors
    # Encodings with shift sequences have a state, which goes on in the next piece.
    encoder = codecs.getincrementalencoder(encoding)(kind.encoding_errors)
    for characters in work.translated(_pieces(text, kind, options)):
        yield encoder.encode(characters)
    yield encoder.encode("", final=True)


def _placed(answer, segment) -> Sequence[str | Code]:
    """Returns a translation with the codes of its source."""
    if not answer.taken.codes:  # Places of words would take 60 bytes for a byte of text.
        return [answer.text]
    return answer.taken.put_back(answer.text, answer.sentences, segment.ordered)


def has_words(taken: TakenText) -> bool:
    """Returns whether there is a letter beside the placeholders."""
    return any(isinstance(part, str) and has_letter(part) for part in taken.parts)


class _Work:
    """Translates pieces batch by batch, and counts."""

    def __init__(
        self,
        patterns: KeptPatterns,
        answers: Answers,
        progress: Callable[[int], object] | None = None,
    ):
        self._patterns, self._answers = patterns, answers
        self._progress = progress or (lambda number: None)
        self._segments = self._characters = 0
        self._unplaced: list[Unplaced] = []
        self._flags: list[tuple[int, tuple[str, ...]]] = []
        self.encoding = "utf-8", "strict"
        self.memory: MemoryWriter | None = None
        # By the identity of a segment of the batch: its parts, and its text if it has words.
        self._parts: dict[int, tuple[str | Code, ...]] = {}
        self._taken: dict[int, TakenText] = {}

    def report(self, kind: str) -> DocumentTranslation:
        return DocumentTranslation(
            kind,
            self._segments,
            self._answers.asked,
            self._characters,
            tuple(self._unplaced),
            tuple(self._flags),
        )

    def translated(self, pieces: Iterable[Piece]) -> Iterator[str]:
        """Yields the characters of a document with its translated segments."""
        for batch in _batches(pieces):
            self.ask(batch)
            for piece in batch:
                yield self._characters_of(piece)
            self._segments += len(self._taken)
            self._progress(len(self._taken))

    def ask(self, pieces: Iterable[Piece]):
        """Asks for the translations of the pieces' texts that are not known."""
        self._parts = {id(segment): each for segment, each in expanded(pieces, self._patterns)}
        texts = {key: TakenText(each) for key, each in self._parts.items()}
        self._taken = {key: taken for key, taken in texts.items() if has_words(taken)}
        self._answers.ask(self._taken.values())

    def another(self) -> "_Work":
        """Returns the same for another document, with the translations that are known."""
        return _Work(self._patterns, self._answers)

    def _characters_of(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return piece
        return _content(self._chunks_of_segment(piece))

    def _chunks_of_segment(self, segment: Segment) -> list[Chunk]:
        """Returns the translation of a segment: one chunk, unless it is within another one."""
        taken = self._taken.get(id(segment))
        parts = self._parts[id(segment)]
        if taken is None:
            return self._as_it_was(segment, parts)
        self._characters += len(taken.text)
        answer = self._answers.answer(taken)
        if answer.flags:
            self._flags.append((segment.line, answer.flags))
        reason = segment.reason or answer.lack
        if not reason and answer.is_unchanged:
            self._remember(parts, parts)
        elif not reason:
            try:
                placed = _placed(answer, segment)
                chunks = self._written_chunks(segment, placed)
            except Exception as error:  # A fault of this text must not cost the other ones.
                reason = f"its markup could not be placed ({type(error).__name__})"
            else:
                self._remember(parts, placed)
                if all(encodable(chunk.content, *self.encoding) for chunk in chunks):
                    return chunks
                reason = f"{self.encoding[0]} does not have all characters of its translation"
        if reason:
            self._unplaced.append(Unplaced(segment.line, taken.text, reason))
        return self._as_it_was(segment, parts, has_failed=bool(reason))

    def _remember(self, parts, placed):
        """Adds a text and its translation to the memory, with the placeholders of both."""
        if self.memory:
            self.memory.add(plain_text(parts), plain_text(placed))

    def _as_it_was(self, segment, parts, has_failed=False):
        """Returns the chunks of a segment whose own text stays.

        Its attributes, and the forms of its plurals, may change. A translation that failed is not
        inserted: its place stays empty.
        """
        codes = [part for part in parts if isinstance(part, Code) and part.has_segments]
        if segment.inserted and not has_failed:
            failures = len(self._unplaced)
            chunks = self._written_chunks(segment, parts)
            has_failed = len(self._unplaced) > failures  # In a form of a plural.
            return self._original_chunks(segment) if has_failed else chunks
        if segment.inserted or not codes:
            return self._original_chunks(segment)
        if any(code.is_text for code in codes):
            written = [*map(self._chunks_of, parts)]
            is_same = all(
                not isinstance(part, Code) or _content(chunks) == part.raw
                for part, chunks in zip(parts, written, strict=True)
            )
            if is_same:
                return self._original_chunks(segment)
            return _finished(segment, [*itertools.chain.from_iterable(written)])
        done, result = 0, []
        for code in codes:
            raw = code.raw
            place = segment.raw.index(raw, done)
            result += [segment.raw[done:place], self._written(code)]
            done = place + len(raw)
        return [Chunk("".join([*result, segment.raw[done:]]), True)]

    def _original_chunks(self, segment):
        if isinstance(segment, InnerSegment):
            return [*itertools.chain.from_iterable(map(self._chunks_of, segment.original))]
        return [Chunk(segment.raw, True)]

    def _written_chunks(self, segment, parts):
        return _finished(segment, [*itertools.chain.from_iterable(map(self._chunks_of, parts))])

    def _chunks_of(self, part: str | Code | Segment) -> list[Chunk]:
        """Returns the chunks of a part of a segment, or of a piece of a placeholder."""
        if isinstance(part, str):
            return [Chunk(part)]
        if isinstance(part, Segment):
            return self._chunks_of_segment(part)
        if part.is_text:
            return [*itertools.chain.from_iterable(map(self._chunks_of, part.pieces))]
        return [Chunk(self._written(part), True, part)]

    def _written(self, code: Code):
        return "".join(_content(self._chunks_of(piece)) for piece in code.pieces)


def _finished(segment, chunks):
    """Returns the chunks of a segment as what is around it writes them."""
    if isinstance(segment, InnerSegment):
        return segment.rewrite(chunks)
    return [Chunk(segment.write(chunks), True)]


def _content(chunks):
    return "".join(chunk.content for chunk in chunks)


def _batches(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    batch, characters = [], 0
    for piece in pieces:
        batch.append(piece)
        characters += len(piece if isinstance(piece, str) else piece.raw)
        if len(batch) >= 2 * _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
