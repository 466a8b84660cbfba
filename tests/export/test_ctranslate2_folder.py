"""A translator as a folder for CTranslate2, which then says what Python says."""

import importlib.util
import json
import sys
from pathlib import Path

import keras
import pytest

import kformer
from kformer.export import CTranslate2Translator, Verifier, export_ctranslate2
from kformer.serving import ServedTranslation
from support import toy
from support.pretrained import marian

installed = pytest.mark.skipif(
    importlib.util.find_spec("ctranslate2") is None, reason="Not installed: ctranslate2."
)
TEXTS = [
    "der hund schläft .",
    "meine mutter trinkt 猫 ☃☂ tee",
    "",
    " ",
    "ein ☃ haus",
    ">>fra<< x",
    "vater 😀 und mutter",
    " a  b ",
    "９９ ﬁ",
    "wir haben zwei kinder",
    "</s> <s> <pad>",
]
SHAPES = {
    "pre-norm": {"norm_first": True, "activation": "relu", "num_decoder_layers": None},
    "post-norm, swish": {},
    "gelu, a deep decoder": {"activation": "gelu", "num_decoder_layers": 3},
}


def said_by(folder, texts):
    return CTranslate2Translator(folder).translate(texts)


@pytest.mark.prove
@installed
@pytest.mark.parametrize("tables", ["one table", "two tables"])
@pytest.mark.parametrize("shape", SHAPES)
def test_ctranslate2_says_what_python_says(shape, tables, tokenizer, tmp_path):
    keras.utils.set_random_seed(3)  # Random networks say little; this one answers most texts.
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    own = {"target_vocab_size": tokenizer.vocab_size} if tables == "two tables" else {}
    network = marian.transformer(pieces, **SHAPES[shape], **own)
    translator = kformer.Translator(tokenizer, network)
    folder = export_ctranslate2(translator, tmp_path / "new" / "folder")
    verifier = Verifier(translator, TEXTS)
    report = verifier.verify("CTranslate2", CTranslate2Translator(folder), folder)
    assert report.equal + report.ties == len(TEXTS) and report.ties < 2
    assert len({*verifier.expected}) > 4


def test_a_recurrent_decoder_is_refused(tokenizer, tmp_path):
    network = kformer.Transformer(tokenizer.vocab_size, 1, 16, 2, 24, decoder_cell="ssru")
    translator = kformer.Translator(tokenizer, network)
    with pytest.raises(ValueError, match=r"CTranslate2 has no SSRU.* decoder_cell='ssru'"):
        export_ctranslate2(translator, tmp_path / "folder")
    assert not any(tmp_path.iterdir())


@pytest.mark.prove
@installed
def test_each_side_may_have_its_own_ids_and_its_own_end(two_vocabularies, tmp_path):
    folder = export_ctranslate2(two_vocabularies, tmp_path / "folder")
    assert said_by(folder, toy.SOURCES[:9]) == two_vocabularies.translate(toy.SOURCES[:9])
    assert {path.name for path in folder.iterdir()} == {
        "model.bin",
        "config.json",
        "source_vocabulary.json",
        "target_vocabulary.json",
        "source.spm",
        "target.spm",
        "kformer.json",
    }


@pytest.mark.prove
@installed
def test_the_piece_of_a_fixed_target_language_is_put_there_by_ctranslate2(tmp_path):
    keras.utils.set_random_seed(1)
    words = marian.vocabulary((">>deu<<", ">>fra<<"))
    path = marian.write_folder(tmp_path / "a", words, marian.transformer(words.pieces))
    said = {}
    for code in ("deu", "fra"):
        translator = kformer.from_marian(path, code)
        said[code] = said_by(export_ctranslate2(translator, tmp_path / code), TEXTS)
        assert said[code] == translator.translate(TEXTS)
    assert said["deu"] != said["fra"]


@pytest.mark.sample(2)
@installed
@pytest.mark.parametrize(
    ("precision", "share", "equal"),
    [("float16", 0.6, 45), ("int8", 0.7, 25)],  # CTranslate2 rounds vectors to 8 bits, too.
)
def test_rounded_weights_take_less_room_and_say_nearly_the_same(
    precision, share, equal, toy_translator, tmp_path
):
    sizes = {}
    for name in ("float32", precision):
        folder = export_ctranslate2(toy_translator, tmp_path / name, name)
        sizes[name] = (folder / "model.bin").stat().st_size
    assert sizes[precision] < share * sizes["float32"]
    expected = toy_translator.translate(toy.SOURCES[:50])
    found = said_by(tmp_path / precision, toy.SOURCES[:50])
    assert sum(map(str.__eq__, found, expected)) >= equal


@installed
def test_the_search_is_said_when_ctranslate2_translates(toy_translator, tmp_path):
    import ctranslate2

    folder = export_ctranslate2(toy_translator, tmp_path / "folder")
    pieces = toy_translator.tokenizer.pieces
    sources = [pieces(row[:-1]) for row in toy_translator.source_rows(toy.SOURCES[:50])]
    found = ctranslate2.Translator(str(folder)).translate_batch(
        sources, beam_size=4, length_penalty=0, return_scores=True
    )
    options = kformer.SearchOptions(4, 0)
    expected = toy_translator.translations(toy.SOURCES[:50], options, details=False)
    same = [
        one.hypotheses[0] == list(best.tokens)[:-1] and abs(one.scores[0] - best.score) < 1e-3
        for one, (best, *_) in zip(found, expected, strict=True)
    ]
    assert sum(same) > 45  # CTranslate2 ends a search by other rules.


@pytest.mark.prove
@installed
def test_the_command_writes_and_checks_it(command, toy_keras, toy_run, tmp_path):
    folder = tmp_path / "new" / "folder"
    arguments = ["export", toy_keras, "--ctranslate2", folder]
    result = command(*arguments, "--check-source", toy_run.files["valid.de"])
    assert result.returncode == 0, result.stderr
    _, python, exported, written = result.stdout.splitlines()
    assert python.startswith("Python  ") and exported.startswith("CTranslate2  ")
    count = len(Path(toy_run.files["valid.de"]).read_text("utf-8").splitlines())
    assert exported.endswith(f" {count} of {count}")
    assert written == f"Written: {folder}"
    assert json.loads((folder / "config.json").read_text("utf-8"))["add_source_eos"] is True
    card = (folder / "MODEL_CARD.md").read_text("utf-8")
    assert f"Of {count} held-out texts, {count} were answered as in Python." in card
    assert "`train.de`" in card and "| search | greedy |" in card


@pytest.mark.prove
@installed
def test_nothing_is_written_where_ctranslate2_says_something_else(
    command, toy_keras, tmp_path, monkeypatch
):
    translations = "kformer.export.ctranslate2_translator.CTranslate2Translator.translations"
    answer = [ServedTranslation("no", 0.0)]
    monkeypatch.setattr(translations, lambda self, texts, split: [answer for _ in texts])
    result = command("export", toy_keras, "--ctranslate2", tmp_path / "folder")
    assert result.returncode == 2 and not [*tmp_path.iterdir()]
    message = result.stderr.splitlines()[-1]
    assert "must answer as Python does" in message and "from the CTranslate2" in message


@installed
def test_one_name_stands_for_the_unknown_id_tokenizers_of_sides(toy_translator, tmp_path):
    model = marian.trained(
        ["a house", "the dog"],
        **{"vocab_size": 20, "unk_piece": "<unknown>", "pad_id": 3, "hard_vocab_limit": False},
    )
    source = kformer.Tokenizer(
        marian.trained(["ein hund"], vocab_size=20, pad_id=3, hard_vocab_limit=False)
    )
    target = kformer.Tokenizer(model)
    network = kformer.Transformer(
        source.vocab_size, 1, 8, 2, 8, target_vocab_size=target.vocab_size, padding_id=3
    )
    translator = kformer.Translator(source, network, target)
    with pytest.raises(ValueError, match="must write the unknown id and the end id alike") as error:
        export_ctranslate2(translator, tmp_path / "folder")
    assert "'<unk>' and '</s>' of the source, '<unknown>' and '</s>' of the target" in str(
        error.value
    )


def test_without_the_package_one_line_says_what_to_install(
    refused, toy_keras, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    assert refused("export", toy_keras, "--ctranslate2", tmp_path / "folder") == (
        "kformer: A folder for CTranslate2 needs a package: pip install 'kformer[ctranslate2]'. "
        "Received: no module named 'ctranslate2'."
    )


def test_what_cannot_be_written_is_refused_before_any_work(refused, toy_keras, tmp_path):
    def refusal(*options):
        return refused("export", toy_keras, "--ctranslate2", tmp_path / "folder", *options)

    assert refusal("--precision", "int4") == (
        "kformer: `precision` must be one of float32, float16, int8. Received: precision='int4'."
    )
    assert "The folder of CTranslate2 holds nothing else. Received: " in refusal(
        "--tflite", tmp_path / "folder" / "a.tflite"
    )
    (tmp_path / "folder").mkdir()
    assert "CTranslate2 needs a new folder. Received: '" in refusal()


def test_only_a_translator_becomes_one(tiny_classifier, tmp_path):
    with pytest.raises(TypeError, match=r"must be a kformer.Translator. Received: translator=<"):
        export_ctranslate2(tiny_classifier, tmp_path / "folder")
