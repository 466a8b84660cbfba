"""A tagger gives each word the label of its first piece, and all its forms agree."""

import itertools
import random
import warnings
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import kformer
from kformer import TextTagger, TransformerEncoder
from kformer.export import Verifier, export_saved_model, export_tflite
from kformer.text.text_files import read_lines
from kformer.training import Recipe, train_tagger
from kformer.training.data.batching import BatchOptions
from kformer.training.kinds.tagging_learner import report, tagging_windows
from kformer.training.kinds.tagging_task import read_tagged, split_tagged
from support.reference import perturbed

LABELS = ("B-X", "I-X", "O")
TEXTS = ["ich  möchte ein\tbier", "", "das haus don\u00b4t \ufe0f", "uns " * 300]


@pytest.fixture
def tagger(tokenizer):
    keras.utils.set_random_seed(5)
    encoder = perturbed(TransformerEncoder(400, 1, 16, 2, 24))
    return perturbed(TextTagger(tokenizer, encoder, LABELS, max_source_length=77))


def test_a_word_has_the_most_probable_label_of_its_first_piece(tagger):
    [answer] = tagger.tag(["ich möchte ein bier"])
    words = [*tagger.tokenizer.tokenize(["ich", "möchte", "ein", "bier"]).to_list()]
    row = [*itertools.chain(*words), tagger.tokenizer.end_id]
    logits = np.array(tagger(np.array([row])))[0]
    firsts = np.cumsum([0, *map(len, words)])[:4]
    assert answer.words == ["ich", "möchte", "ein", "bier"]
    assert answer.labels == [LABELS[i] for i in logits[firsts].argmax(axis=1)]
    assert all(1 / 3 <= probability < 1 for probability in answer.probabilities)


def test_a_saved_tagger_gives_the_same_labels(tagger, tmp_path):
    tagger.save(tmp_path / "tagger.keras")
    assert kformer.load(tmp_path / "tagger.keras").tag(TEXTS[:3]) == tagger.tag(TEXTS[:3])


def test_every_word_has_an_entry_even_if_it_was_not_read(tagger):
    with pytest.warns(UserWarning, match="Sentence 4 has .* were tagged"):
        answers = tagger.tag(TEXTS)
    assert [len(answer.labels) for answer in answers] == [4, 0, 4, 300]
    assert answers[3].labels[-1] == "" and answers[3].probabilities[-1] == 0


def test_a_label_has_no_spaces(tokenizer):
    with pytest.raises(ValueError, match="Received: 'a b'"):
        TextTagger(tokenizer, TransformerEncoder(400, 1, 16, 2, 24), ["a b", "O"])


def test_labels_are_at_the_first_pieces(tokenizer, tmp_path):
    file = tmp_path / "text.conll"
    file.write_text("-DOCSTART- -X- O\n\nich PRP O\nmöchte VB B-X\n\nbier\tI-X\n\n\n")
    tagged = split_tagged(file)
    assert tagged.counts == {"B-X": 1, "I-X": 1, "O": 1}
    options = BatchOptions(4096, 20, shuffle=False)
    [(ids, labels)] = tagging_windows(tagged, tokenizer, LABELS, options).dataset()
    rows = [tokenizer.decode(row) for row in ids.numpy()]
    assert {
        text: row[row >= 0].tolist() for text, row in zip(rows, labels.numpy(), strict=True)
    } == {
        "ich möchte": [2, 0],
        "bier": [1],
    }
    starts = [piece.startswith("▁") for piece in tokenizer.pieces(ids.numpy().ravel())]
    assert (labels.numpy().ravel() >= 0).tolist() == starts


def test_a_line_without_a_label_is_refused_with_its_number(tmp_path):
    (tmp_path / "text.conll").write_text("ich O\nbier\n")
    with pytest.raises(ValueError, match=r"text\.conll', line 2: 'bier'"):
        split_tagged(tmp_path / "text.conll")


@pytest.mark.prove
def test_a_trained_tagger_finds_the_spans_in_every_form(tmp_path, command):
    random.seed(1)

    def text():
        place = random.choice([["Rom"], ["Neu", "Ulm"], ["Bad", "Rom"]])
        labels = ["B-LOC", "I-LOC"][: len(place)]
        words = ["Tom", random.choice(["fährt", "geht"]), "nach", *place]
        return "\n".join(map("\t".join, zip(words, ["B-PER", "O", "O", *labels], strict=True)))

    for name, number in (("train", 600), ("valid", 30)):
        (tmp_path / f"{name}.conll").write_text("\n\n".join(text() for _ in range(number)))
    sizes = {"d_model": 32, "num_heads": 2, "d_ff": 64, "num_layers": 1, "num_decoder_layers": 0}
    recipe = Recipe.named(
        "quick",
        **{**sizes, "vocab_size": 400, "target_vocab_size": 0, "max_length_ratio": 0.0},
        **{
            "epochs": 12,
            "warmup_steps": 50,
            "learning_rate_scale": 0.3,
            "dropout": 0.0,
            "monitor": "f1",
        },
    )
    files = tmp_path / "train.conll", tmp_path / "run", tmp_path / "valid.conll"
    tagger = train_tagger(recipe, *files)
    held_out = split_tagged(files[2])
    sources, labels = ([*read_lines(paths[0])] for paths in held_out[:2])
    verifier = Verifier(tagger, sources, labels)
    assert verifier.reports[0].accuracy > 0.99
    served = export_saved_model(
        tagger,
        tmp_path / "served",
        check=lambda path: verifier.verify_served(kformer.load(path), path),
    )
    export_tflite(tagger, tmp_path / "tagger.tflite", max_source_length=40, batch_size=4)
    with warnings.catch_warnings(action="ignore"):
        expected = tagger.tag(TEXTS[:3])
        for path in (tmp_path / "run", served, tmp_path / "tagger.tflite"):
            for answer, wanted in zip(kformer.load(path).tag(TEXTS[:3]), expected, strict=True):
                assert answer[:2] == wanted[:2]
                np.testing.assert_allclose(answer[2], wanted[2], atol=1e-4)
    result = command("tag", "evaluate", tmp_path / "tagger.tflite", "--test", files[2])
    assert "F1        100.00" in result.stdout


TREEBANK = """# sent_id = 1
# text = I don't know.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tsomething\t_\tNOUN\t_\t_\t_\t_\t_\t_
4\tknow\tknow\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# text = 10 000 dogs
1\t10 000\t10000\tNUM\tCD\t_\t2\tnummod\t_\t_
2\tdogs\tdog\tNOUN\tNNS\t_\t0\troot\t_\t_
"""


def test_a_treebank_has_forms_and_parts_of_speech(tmp_path):
    file = tmp_path / "en.conllu"
    file.write_text(TREEBANK)
    assert [*read_tagged(file)] == [
        (["I", "do", "n't", "know", "."], ["PRON", "AUX", "PART", "VERB", "PUNCT"]),
        (["10000", "dogs"], ["NUM", "NOUN"]),
    ]
    file.write_text(TREEBANK + "3 dogs\n")
    with pytest.raises(ValueError, match=r"between tabs\. Received: .*line 14: '3 dogs'"):
        [*read_tagged(file)]


def test_a_treebank_of_windows_and_one_that_names_its_columns_are_read_alike(tmp_path):
    (file := tmp_path / "en.conllu").write_text(TREEBANK)
    expected = [*read_tagged(file)]
    file.write_bytes(b"\xef\xbb\xbf" + TREEBANK.replace("\n", "\r\n").encode())
    assert [*read_tagged(file)] == expected
    names = "# global.columns = UPOS ID FORM PARSEME:MWE\n"
    rows = [line.split("\t") for line in TREEBANK.splitlines()]
    lines = ["\t".join([row[3], row[0], row[1], "*"]) if row[1:] else row[0] for row in rows]
    file.write_text(names + "\n".join(lines))
    assert [*read_tagged(file)] == expected
    file.write_text("\ufeffTom B-PER\n")
    assert [*read_tagged(file)] == [(["Tom"], ["B-PER"])]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\t_\tdog\tNOUN" + 6 * "\t_", "the forms must be added .*line 1: "),
        ("1\tdog\tdog\t_" + 6 * "\t_", "universal part of speech .*line 1: "),
        ("# global.columns = ID FORM XPOS\n1\tdog\tNN", "ID, FORM, UPOS.* without UPOS"),
        ("1\tA\ta\tDT\t0\n2\tdog\tdog\tNN\t0\n\n", "write the words .* numbers of words"),
    ],
)
def test_a_treebank_without_words_or_parts_of_speech_is_refused(tmp_path, content, message):
    (tmp_path / "en.conllu").write_text(content)
    with pytest.raises(ValueError, match=rf"{message}"):
        [*read_tagged(tmp_path / "en.conllu")]


def test_a_word_may_be_a_number_sign(tmp_path):
    file = tmp_path / "en.conll"
    file.write_text("# O\n1 O\n")
    assert [*read_tagged(file)] == [(["#", "1"], ["O", "O"])]


def test_a_report_cuts_a_long_list_of_labels_and_asks_about_it():
    counts = {f"L{number}": number for number in range(1, 501)}
    task = SimpleNamespace(
        training=SimpleNamespace(counts=counts), validation=[], files={"train": ["a.conll"]}
    )
    first, question = report(SimpleNamespace(task=task)).splitlines()
    assert first.startswith("125,250 words with 500 labels: L481, L482, ")
    assert first.endswith(", L500 and 480 others.") and "last column of a.conll?" in question
