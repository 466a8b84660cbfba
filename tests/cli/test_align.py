"""`kformer align`."""

import shutil

import pytest

import kformer
from support import toy

SOURCES, TARGETS = toy.SOURCES[:9], toy.TARGETS[:9]


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "a.de", tmp_path / "a.en"
    for path, lines in zip(paths, (SOURCES, TARGETS), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return ["--source", paths[0], "--target", paths[1]]


@pytest.mark.prove
def test_links_are_written_line_by_line(command, toy_keras, toy_translator, files):
    result = command("align", toy_keras, *files)
    assert (result.returncode, result.stderr) == (0, "")
    expected = [str(one) for one in toy_translator.align(SOURCES, TARGETS)]
    assert result.stdout.splitlines() == expected


@pytest.mark.prove
def test_another_form_aligns_words_by_the_head_of_its_model(
    command, toy_tflite, toy_saved_model, toy_translator, files
):
    expected = [str(one) for one in toy_translator.align(SOURCES, TARGETS)]
    for model in (toy_tflite, toy_saved_model):
        result = command("align", model, *files)
        assert (result.returncode, result.stdout.splitlines()) == (0, expected)
        result = command("align", model, *files, "--layer", 1)
        assert result.returncode == 2
        assert "Only a .keras file aligns words by any head. Received:" in result.stderr


@pytest.mark.prove
def test_words_are_written_as_tsv_into_a_file(command, toy_keras, toy_translator, files, tmp_path):
    output = tmp_path / "links.tsv"
    options = ["--format", "tsv", "--layer", 1, "--head", 2, "--output", output]
    assert command("align", toy_keras, *files, *options).returncode == 0
    expected = [
        f"{number}\t{one.source[i]}\t{one.target[j]}"
        for number, one in enumerate(toy_translator.align(SOURCES, TARGETS, head=(1, 2)), start=1)
        for i, j in one.links
    ]
    assert output.read_text("utf-8").splitlines() == expected


@pytest.mark.prove
def test_the_best_head_is_stored_in_the_model(command, toy_keras, toy_translator, files, tmp_path):
    model, gold = shutil.copy(toy_keras, tmp_path), tmp_path / "gold"
    links = toy_translator.align(SOURCES, TARGETS, head=(1, 2))
    gold.write_text("".join(f"{one}\n" for one in links), "utf-8")
    found = command("align", model, *files, "--gold", gold)
    rate = float(found.stdout.split()[3])
    assert found.stdout == f"alignment error rate {rate:.2f}  percent of 9 lines\n"
    chosen = command("align", model, *files, "--gold", gold, "--choose")
    assert (chosen.returncode, chosen.stderr) == (0, "")
    header, first, *_, last = chosen.stdout.splitlines()
    assert header == "layer  head  agreement %  error rate %"
    assert first.split()[:2] == ["1", "2"] and first.endswith(" 0.00")
    assert last == f"{model} aligns words by layer 1, head 2 from now on."
    assert kformer.load(model).alignment_head == (1, 2)
    assert "rate 0.00  percent" in command("align", model, *files, "--gold", gold).stdout


def test_without_gold_the_table_has_the_agreement_alone(command, toy_keras, files, tmp_path):
    model = shutil.copy(toy_keras, tmp_path)
    lines = command("align", model, *files, "--choose").stdout.splitlines()
    assert lines[0] == "layer  head  agreement %"
    assert {tuple(line.split()[:2]) for line in lines[1:-1]} == {
        ("1", "mean"),
        ("1", "1"),
        ("1", "2"),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--layer", 2], "layers 1 to 1. Received: layer=2"),
        (["--layer", 1, "--head", 3], "heads 1 to 2. Received: head=3"),
        (["--head", 1], "Received: head=1 alone"),
        (["--choose", "--layer", 1], "Received: layer=1 with --choose"),
        (["--choose", "--output", "links"], "Received: output='links' with --choose"),
        (["--format", "giza"], "'giza'"),
    ],
)
def test_options_that_cannot_be_met_are_refused(refused, toy_keras, files, options, message):
    assert message in refused("align", toy_keras, *files, *options)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("0-0\n", "1 lines in "),
        ("0-0\n" * 8 + "0:0\n", "'0:0' in "),
        ("0-0\n" * 8 + "0-99\n", "Received: 0-99 for line 9"),
    ],
)
def test_gold_of_another_text_is_refused(refused, toy_keras, files, written, gold, message):
    assert message in refused("align", toy_keras, *files, "--gold", written("gold", gold))


def test_only_a_keras_file_has_a_head_chosen(refused, toy_tflite, files):
    assert "Only a .keras file" in refused("align", toy_tflite, *files, "--choose")
