"""Every way of text into training gives the ids of the SentencePiece library."""

import csv
import gzip
import io
import json
from collections import Counter

import pytest
import sentencepiece

from kformer import Tokenizer
from kformer.text.text_files import read_lines
from kformer.training import PreparationOptions, prepare_shards, translation_dataset
from kformer.training.data.pairs import split_pairs
from kformer.training.distillation import TextToTeach
from kformer.training.kinds.classification_learner import classification_dataset
from kformer.training.kinds.language_learner import language_dataset
from kformer.training.shards.shards_dataset import shards_dataset
from support.training.pairs import unpadded

SEPARATORS = [
    *(chr(code) for code in (*range(0x20), *range(0x7F, 0xA1))),
    *"\u00ad\u1680\u2000\u2007\u200b\u200c\u200d\u200e\u2028\u2029\u202f\u205f\u2060\u2066\u2581\u3000",
    *"\ufe0f\ufeff\ufff9\ufffc\ufffd\U000e0001",
]
TEXTS = [
    "ein bier",
    "ein\r\r bier\r",
    *(text for c in SEPARATORS for text in (f"das{c}haus", f"{c}das haus", f"das haus{c}", c)),
]
EACH_ON_A_LINE = [text for text in TEXTS if "\n" not in text]
OF_TSV = [text for text in EACH_ON_A_LINE if "\t" not in text]


slow = pytest.mark.prove


@pytest.fixture(scope="module", params=["nmt_nfkc", pytest.param("identity", marks=slow)])
def tokenizer(request, tokenizer):
    if request.param == "nmt_nfkc":
        return tokenizer
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["das haus", "ein bier"]),
        model_writer=model,
        vocab_size=280,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        byte_fallback=True,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
    )
    return Tokenizer(model.getvalue())


def expected(texts, tokenizer):
    """Counts the rows of ids, with their ends, of all texts that are not blank."""
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    # Line ends are no text, whatever the model makes of them.
    rows = [library.encode(text.replace("\n", " ")) for text in texts]
    return Counter((*row, tokenizer.end_id) for row in rows if row)


def rows_of(sources, tokenizer):
    return Counter(unpadded(row, tokenizer) for batch in sources for row in batch.numpy())


def text_file(path, texts):
    content = "".join(f"{text}\r\n" for text in texts).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def csv_file(path, name, texts):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [(name, "other"), *((text, "bier") for text in texts)]
        )
    return path


def tsv_file(path, texts):
    return text_file(path, ["text\tother", *(f"{text}\tbier" for text in texts)])


def json_file(path, texts):
    path.write_text("".join(json.dumps({"text": text, "other": "bier"}) + "\n" for text in texts))
    return path


@pytest.mark.parametrize("ending", ["", pytest.param(".gz", marks=slow)])
def test_of_files(tmp_path, tokenizer, ending):
    source = text_file(tmp_path / f"de{ending}", EACH_ON_A_LINE)
    target = text_file(tmp_path / f"en{ending}", ["bier"] * len(EACH_ON_A_LINE))
    batches = translation_dataset(source, target, tokenizer)
    found = rows_of((source for (source, _), _ in batches), tokenizer)
    assert found == expected(EACH_ON_A_LINE, tokenizer)
    taught = [source for source, _ in TextToTeach(source, None, source).pairs()]
    assert taught == [*read_lines(source)] == EACH_ON_A_LINE


@pytest.mark.prove
@pytest.mark.parametrize(
    "form", ["python", *(pytest.param(form, marks=slow) for form in ("csv", "jsonl", "tsv"))]
)
def test_of_pairs(tmp_path, tokenizer, form):
    texts = OF_TSV if form == "tsv" else TEXTS
    pairs = {
        "python": lambda: [{"text": text, "other": "bier"} for text in texts],
        "csv": lambda: csv_file(tmp_path / "a.csv", "text", texts),
        "jsonl": lambda: json_file(tmp_path / "a.jsonl", texts),
        "tsv": lambda: tsv_file(tmp_path / "a.tsv", texts),
    }[form]()
    columns = ("text", "other")
    batches = translation_dataset(tokenizer=tokenizer, pairs=pairs, columns=columns)
    found = rows_of((source for (source, _), _ in batches), tokenizer)
    assert found == expected(texts, tokenizer)
    [source], _ = split_pairs(pairs, columns)  # A vocabulary is learned from these files.
    assert [*read_lines(source)] == [text.replace("\n", " ") for text in texts]


@pytest.mark.prove
@pytest.mark.parametrize("form", ["csv", pytest.param("tsv", marks=slow)])
def test_of_labelled_text(tmp_path, tokenizer, form):
    if form == "csv":
        texts = TEXTS
        path = csv_file(tmp_path / "a.csv", "text", texts)
        path.write_bytes(path.read_bytes().replace(b"other", b"label", 1))
    else:
        texts = EACH_ON_A_LINE
        path = text_file(tmp_path / "a.tsv", [f"bier\t{text}" for text in texts])
    batches = classification_dataset(path, tokenizer, ["bier", "wein"])
    found = rows_of((source for source, _ in batches), tokenizer)
    assert found == expected(texts, tokenizer)


@pytest.mark.prove
def test_of_documents(tmp_path, tokenizer):
    path = text_file(tmp_path / "text", EACH_ON_A_LINE)
    [(_, batch)] = language_dataset(
        path, tokenizer, tokens_per_batch=8192, max_length=8192, shuffle=False
    )
    found, row = Counter(), []
    for i in unpadded(batch.numpy()[0], tokenizer):
        row.append(i)
        if i == tokenizer.end_id:
            found[tuple(row)] += 1
            row = []
    assert found == expected(EACH_ON_A_LINE, tokenizer)


@pytest.mark.prove
def test_of_shards(tmp_path, tokenizer):
    tokenizer.save(tmp_path / "model")
    options = PreparationOptions(min_letters=0, max_length_ratio=0, keep_identical=True)
    prepare_shards(
        tmp_path / "shards",
        text_file(tmp_path / "de", EACH_ON_A_LINE),
        text_file(tmp_path / "en", ["bier"] * len(EACH_ON_A_LINE)),
        pairs=[csv_file(tmp_path / "a.csv", "text", TEXTS)],
        columns=("text", "other"),
        tokenizer=tmp_path / "model",
        options=options,
    )
    batches = shards_dataset(tmp_path / "shards", seed=3)
    found = rows_of((source for (source, _), _ in batches), tokenizer)
    assert found == Counter({*expected(TEXTS, tokenizer)})  # Each pair once.


def test_a_carriage_return_in_a_row_of_a_table_is_text(tmp_path):
    """Programs that end rows in line feeds do not quote it."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'de,en\nZwei\rjunge,"two\r\nyoung"\r\n')
    [source], [target] = split_pairs(path, ("de", "en"))
    assert [*read_lines(source)] == ["Zwei\rjunge"] and [*read_lines(target)] == ["two young"]
