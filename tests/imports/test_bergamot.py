"""A folder of Firefox's becomes the translator that the weights in it came from."""

import gzip
import hashlib
import itertools
import json
import random
import struct

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kformer
from kformer.decoding.shortlist import Selection
from kformer.imports.bergamot import read_facts
from kformer.imports.bergamot_shortlist import read_lexical_table
from kformer.imports.marian_binary import MarianBinary
from kformer.imports.marian_model import MarianModel
from kformer.imports.marian_npz import open_npz
from support import phrasebook
from support.pretrained import bergamot, marian
from support.pretrained.marian_npz import arrays_of, spm_vocabulary, write_npz_folder
from support.pretrained.marian_reference import MarianReference

SENTENCES = [
    source for (source, _), _ in itertools.islice(phrasebook.sample(random.Random(0)), 300)
]
SYMBOLS = ["__source__", "__target__"]  # As the vocabularies of Firefox's translators have some.
WORDS = spm_vocabulary(SENTENCES, user_defined_symbols=SYMBOLS, byte_fallback=True, vocab_size=450)
IDS = len(WORDS.pieces) - 1
LISTS = [[*range(i % 7, IDS, 41)] for i in range(IDS)]
BINARY = "model.deen.intgemm.alphas.bin"


def network(**settings):
    keras.utils.set_random_seed(1)
    return marian.transformer(WORDS.pieces, **{"decoder_cell": "ssru", **settings})


@pytest.fixture(scope="module")
def original():
    return network()


@pytest.fixture(scope="module")
def packed(original, tmp_path_factory):
    folder = tmp_path_factory.mktemp("firefox") / "deen"
    return bergamot.write_bergamot_folder(folder, WORDS, original, lists=LISTS)


@pytest.fixture(scope="module")
def translator(packed):
    return kformer.from_bergamot(packed, shortlist=True)


@pytest.fixture
def folder(packed, tmp_path):
    for path in packed.iterdir():
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        (tmp_path / path.name.removesuffix(".gz")).write_bytes(content)
    return tmp_path


def weights_of(translator):
    return {weight.path: weight.numpy() for weight in translator.transformer.weights}


def npz_of(network, folder):
    """Returns a folder of Marian with one .spm file."""
    write_npz_folder(folder, WORDS, network)
    (folder / "source.spm").rename(folder / "vocab.spm")
    for path in (folder / "target.spm", *folder.glob("*vocab.yml")):
        path.unlink()
    return folder


def test_a_binary_of_float32_has_the_weights_of_the_npz_file(original, tmp_path):
    folder = bergamot.write_bergamot_folder(tmp_path / "deen", WORDS, original, int8=False)
    vocabulary = folder / "vocab.deen.spm.gz"
    found = MarianModel(folder / f"{BINARY}.gz", [vocabulary] * 2, {}).arrays()
    expected = open_npz(npz_of(original, tmp_path / "npz")).arrays()
    assert found.keys() == expected.keys() == marian.state_dict_of(original).keys()
    for name, array in marian.state_dict_of(original).items():
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
        if "bias" not in name:
            np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.prove
@pytest.mark.parametrize("cell", ["ssru", "attention"])
def test_it_is_the_translator_of_the_npz_file(cell, tmp_path):
    original = network(decoder_cell=cell)
    folder = bergamot.write_bergamot_folder(tmp_path / "deen", WORDS, original, int8=False)
    found = kformer.from_bergamot(folder)
    expected = kformer.from_marian(npz_of(original, tmp_path / "npz"))
    weights = weights_of(expected)
    for path, weight in weights_of(found).items():
        np.testing.assert_array_equal(weight, weights[path], err_msg=path)
    assert found.transformer.decoder_cell == cell
    assert found.search_defaults == expected.search_defaults
    answers = found.translate(SENTENCES[:50])
    assert answers == expected.translate(SENTENCES[:50])
    assert len({*answers}) > 10


def test_int8_weights_are_within_half_a_step(original, translator):
    expected = {weight.path: weight.numpy() for weight in original.weights}
    for path, weight in weights_of(translator).items():
        if path.endswith(("kernel", "table")):
            step = np.abs(expected[path]).max() / 127
            rows = min(len(weight), len(expected[path]))
            error = np.abs(weight[:rows] - expected[path][:rows]).max()
            assert 0.3 * step < error <= 0.501 * step, path


def test_logits_are_those_of_marians_equations(original, translator):
    arrays = arrays_of(WORDS, original)
    for name in filter(bergamot.is_rounded, arrays):
        weights, multiplier = bergamot.rounded(arrays[name])
        arrays[name] = weights / multiplier
    reference = MarianReference(arrays, num_heads=4, activation="swish")
    source, target = [5, 77, 301, 8, 0], [9, 300, 4, 4, 17]
    start = translator.target_tokenizer.start_id
    found = translator.transformer([np.array([source]), np.array([[start, *target]])])
    expected = reference.logits(source, target)
    np.testing.assert_allclose(np.array(found[0])[:, :IDS], expected, atol=1e-4)
    assert len(translator.transformer.forbidden_ids) == 33  # The unknown id and 32 bytes.
    assert expected.std() > 0.5


def test_symbols_that_the_trainer_reserved_are_no_pieces_of_text(translator):
    symbols = {WORDS.pieces.index(symbol) for symbol in SYMBOLS}
    assert symbols.isdisjoint(translator.source_rows(["das __source__ haus"])[0])
    kept = translator.tokenizer.pieces(range(IDS))
    assert kept == WORDS.pieces[:IDS]


def marians_candidates(row, first):
    """Returns what `BinaryShortlistGenerator::generate` chooses for one vocabulary."""
    chosen = {*range(first), *row, *(i for word in row for i in LISTS[word])}
    others = (i for i in range(first, IDS) if i not in chosen)
    while len(chosen) % 8:
        chosen.add(next(others))
    return chosen


def test_candidates_are_those_of_marian(translator, tmp_path):
    shortlist = translator.shortlist
    rows = translator.source_rows(SENTENCES[:20])
    padding = translator.transformer.padding_id
    source = np.full((20, max(map(len, rows))), padding, np.int32)
    for i, row in enumerate(rows):
        source[i, : len(row)] = row
    chosen = np.array(Selection(shortlist, padding)(source))
    for row, mask in zip(rows, chosen, strict=True):
        assert {*np.flatnonzero(mask).tolist()} == marians_candidates(row, 50)
    shortlist.save(tmp_path / "exact.npz")
    assert kformer.Shortlist.load(tmp_path / "exact.npz").exact


def test_a_shortlist_is_used_where_it_is_asked_for(packed, folder):
    assert kformer.from_bergamot(packed).shortlist is None
    next(folder.glob("lex*")).unlink()
    with pytest.raises(FileNotFoundError, match=r"has no shortlist.*, shortlist=True\."):
        kformer.from_bergamot(folder, shortlist=True)


def test_a_shortlist_of_text_is_ignored_with_a_warning(folder):
    (folder / "lex.s2t.gz").write_bytes(b"")
    with pytest.warns(UserWarning, match=r"text are ignored.*Received: lex\.s2t\.gz in"):
        kformer.from_bergamot(folder)


def test_languages_licence_and_scores_are_read(folder):
    assert read_facts(folder / BINARY) == {
        "source_language": "de",
        "target_language": "en",
        "scores": "flores: bleu 38.8",
    }
    (folder / "metadata.json").unlink()
    digest = hashlib.sha256((folder / BINARY).read_bytes()).hexdigest()
    other = {"model": {"expectedSha256Hash": "0"}}
    registry = {"csen": other, "fren": {"model": {"expectedSha256Hash": digest, "size": 3}}}
    (folder / "registry.json").write_text(json.dumps(registry))
    assert read_facts(folder / BINARY) == {
        "source_language": "fr",
        "target_language": "en",
    }
    entry = {"sourceLanguage": "nb", "targetLanguage": "en", "license": "MPL-2.0"}
    entry |= {"files": {"model": {"uncompressedHash": digest}}}
    entry |= {"metrics": {"flores200-plus": {"chrf": 60.5, "comet": None}}}
    registry = {"generated": "today", "models": {"nb-en": [{"files": {}}, entry]}}
    (folder / "registry.json").write_text(json.dumps(registry))
    assert read_facts(folder / BINARY) == {
        "source_language": "nb",
        "target_language": "en",
        "licence": "MPL-2.0",
        "scores": "flores200-plus: chrf 60.5",
    }
    (folder / "registry.json").rename(folder / "models.json")
    assert read_facts(folder / BINARY)["source_language"] == "nb"
    (folder / "models.json").write_text("{}")
    (folder / "model_info.json").write_text(json.dumps({"shortName": "de-hsb-tiny", "API": 1.0}))
    languages = {"source_language": "de", "target_language": "hsb"}
    assert read_facts(folder / BINARY) == languages
    (folder / "models.json").write_text(json.dumps({"models": [{"srcTags": {"de": "German"}}]}))
    with pytest.warns(UserWarning, match=r"models\.json is ignored\. The registry must hold"):
        assert read_facts(folder / BINARY) == languages
    (folder / "registry.json").write_text(json.dumps({"nben": {"model": 3}}))
    with pytest.raises(ValueError, match="The registry must hold facts about models"):
        read_facts(folder / BINARY)


@pytest.mark.prove
def test_settings_beside_name_vocabularies_and_search(folder):
    (folder / "other.spm").write_bytes(WORDS.models[0])
    with pytest.raises(ValueError, match=r"one vocabulary, \*\.spm.*other\.spm, vocab\.deen\.spm"):
        kformer.from_bergamot(folder)
    settings = "vocabs:\n  - a/vocab.deen.spm\n  - vocab.deen.spm\nbeam-size: 2\nnormalize: 1.0\n"
    (folder / "config.intgemm8bitalpha.yml").write_text(f"{settings}max-length-factor: 2.5\n")
    translator = kformer.from_bergamot(folder)
    assert translator.search_defaults == {
        "max_length_ratio": 2.5,
        "narrowing": True,
        "beam_size": 2,
        "length_penalty": 1.0,
        "length_offset": 0.0,
    }
    (folder / "vocab.deen.spm").rename(folder / "srcvocab.deen.spm")
    (folder / "other.spm").rename(folder / "trgvocab.deen.spm")
    assert kformer.from_bergamot(folder).tokenizer.vocab_size == len(WORDS.pieces)


def test_what_is_missing_or_ambiguous_is_named(folder):
    (folder / "model.b.bin").write_bytes(b"")
    with pytest.raises(ValueError, match=r"one file of weights.*holds model.b.bin, model.deen"):
        kformer.from_bergamot(folder)
    for path in folder.glob("model*"):
        path.unlink()
    with pytest.raises(FileNotFoundError, match=r"one file of weights.*holds none"):
        kformer.from_bergamot(folder)


SMALL = {
    "a_W": np.arange(-6, 6).reshape(3, 4).astype(np.float32),
    "special:model.yml": np.frombuffer(b"a: b\0", np.int8),
    "Wemb": np.ones((5, 2), np.float32),
}
GOOD = bergamot.binary(SMALL)  # In the order of names: Wemb, a_W, special:model.yml.
NAMES = 16 + 3 * 32
SHAPES = NAMES + sum(len(name) + 1 for name in SMALL)
BAD = {
    "version": ((0, "<Q", 2), "version 2"),
    "number of items": ((8, "<Q", 2**61), "2,305,843,009,213,693,952 items in"),
    "length of a name": ((16, "<Q", 2**64 - 1), "18,446,744,073,709,551,615 after"),
    "end of a name": ((NAMES + 4, "<B", 65), "without an end"),
    "name of no text": ((NAMES, "<B", 0xFF), "not UTF-8"),
    "fbgemm": ((24, "<Q", 0x1801), "'Wemb' of the type packed8avx2"),
    "packed16": ((24, "<Q", 0x0802), "packed16"),
    "avx512": ((56, "<Q", 0x12001), "'a_W' of the type intgemm8avx512"),
    "int16": ((56, "<Q", 0x4102), "intgemm16"),
    "unknown type": ((56, "<Q", 77), "unknown to Marian, 0x4d"),
    "axes": ((32, "<Q", 2**62), "4,611,686,018,427,387,904 axes"),
    "negative shape": ((SHAPES, "<i", -5), r"shape \(-5, 2\)"),
    "shape of nothing": ((SHAPES, "<i", 0), r"shape \(0, 2\)"),
    "shape that overflows": ((SHAPES, "<2i", 2**31 - 1, 2**31 - 1), "256 bytes for shape"),
    "length of data": ((40, "<Q", 2**63), "after"),
    "little data": ((40, "<Q", 13), "13 bytes for shape"),
    "padding": ((SHAPES + 20, "<Q", 2**64 - 1), "after"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_binary_with_a_wrong_field_is_refused(fault, tmp_path):
    (place, form, *values), message = BAD[fault]
    content = bytearray(GOOD)
    struct.pack_into(form, content, place, *values)
    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        MarianBinary(tmp_path / "model.bin")


@pytest.mark.parametrize("length", [0, 7, 15, 16, 47, 112, SHAPES - 1, SHAPES + 3, 300, 1023])
def test_a_truncated_binary_is_refused(length, tmp_path):
    (tmp_path / "model.bin").write_bytes(GOOD[:length])
    with pytest.raises(ValueError, match=r"binary format, version 1\. Received: .*model\.bin"):
        MarianBinary(tmp_path / "model.bin")


@pytest.mark.parametrize("multiplier", [0.0, -1.0, np.inf, np.nan])
def test_int8_weights_need_a_multiplier(multiplier, tmp_path):
    content = bytearray(GOOD)
    struct.pack_into("<f", content, 256 + 10, multiplier)
    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(ValueError, match="'Wemb', whose int8 weights were multiplied by"):
        MarianBinary(tmp_path / "model.bin").array("Wemb")


@given(st.data())
def test_any_flipped_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "flipped.bin"
    content = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, 300))
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        binary = MarianBinary(path)
        sizes = [binary.array(name).size for name in binary.array_names()]
        assert sum(sizes) <= len(content)
    except ValueError as error:
        assert "Received: " in str(error)
        assert "\n" not in str(error)


def test_a_packed_file_must_be_whole_and_of_bounded_size(tmp_path):
    path = tmp_path / "model.bin.gz"
    for content, message in (
        (gzip.compress(GOOD)[:-9], "must be a gzip file.*ended before"),
        (GOOD, "must be a gzip file"),
        (gzip.compress(bytes(2**26 + 1), 1), "more than 20 times its size"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            MarianBinary(path)


TABLE = bergamot.lexical_table(50, LISTS)
BAD_TABLES = {
    "kind": (0, "<Q", 1, "begins with 0x1, not 0xf11a"),
    "checksum": (8, "<Q", 1, "checksum"),
    "first ids": (16, "<Q", 2**64 - 1, "checksum"),
    "length of the starts": (32, "<Q", 2**63, "are announced"),
    "length of the entries": (40, "<Q", 2**62, "are announced"),
    "starts": (48, "<Q", 3, "checksum"),
}


@pytest.mark.parametrize("fault", BAD_TABLES)
def test_a_damaged_shortlist_is_refused(fault, tmp_path):
    place, form, value, message = BAD_TABLES[fault]
    content = bytearray(TABLE)
    struct.pack_into(form, content, place, value)
    (tmp_path / "lex.bin").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_lexical_table(tmp_path / "lex.bin", (IDS, IDS))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([*LISTS, []], f"{IDS + 1} source ids for a vocabulary of {IDS}"),
        ([[IDS], *LISTS[1:]], f"target id {IDS} for a vocabulary of {IDS}"),
    ],
)
def test_a_shortlist_of_other_vocabularies_is_refused(lists, message, tmp_path):
    (tmp_path / "lex.bin").write_bytes(bergamot.lexical_table(50, lists))
    with pytest.raises(ValueError, match=message):
        read_lexical_table(tmp_path / "lex.bin", (IDS, IDS))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Wemb": np.ones(7, np.float32)}, r"'Wemb', int8 weights of shape \(7,\)"),
        ({"a": np.ones(7, np.float32), "b": np.ones(7, np.float32)}, "'a' twice"),
    ],
)
def test_a_binary_of_wrong_items_is_refused(arrays, message, tmp_path):
    content = bergamot.binary(arrays).replace(b"a\0b\0", b"a\0a\0")
    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        MarianBinary(tmp_path / "model.bin")
