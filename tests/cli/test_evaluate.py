"""`kformer evaluate`: scores of a model, of files of translations, and of both side by side."""

import re

import pytest
import sacrebleu

import kformer
from kformer.text.scores import bleu, chrf, exact
from kformer.training.recipes.noise_rates import NOISES
from support import toy

REFERENCES = toy.TARGETS[toy.HELD_OUT]
CHINESE = "那只狗在花园里奔跑。\n他不太会游泳。\n猫在哪里？\n"


@pytest.fixture
def of_model(toy_run, written):
    """The options for the held-out text, with other references: no translation of it is perfect."""
    references = written("reference", "\n".join(x.replace("us", "me") for x in REFERENCES))
    return "--source", toy_run.files["valid.de"], "--reference", references


@pytest.fixture
def files(written):
    """The options for two files of translations, of a made-up text."""
    systems = ["\n".join(x.replace(word, "a") for x in REFERENCES) for word in ("the", "dog")]
    first, second = (written(f"{i}.en", text) for i, text in enumerate(systems))
    reference = written("reference.en", "\n".join(REFERENCES))
    return "--reference", reference, "--hypotheses", first, "--hypotheses", second


@pytest.mark.sample(3)
def test_the_translations_that_are_written_have_the_scores_of_the_model(
    command, toy_model, toy_translator, of_model, tmp_path
):
    output = tmp_path / "new" / "translations"
    result = command("evaluate", toy_model, *of_model, "--output", output)
    assert (result.returncode, result.stderr) == (0, "")
    translations = toy_translator.translate(toy.SOURCES[toy.HELD_OUT])
    assert output.read_bytes().decode() == "".join(f"{line}\n" for line in translations)
    again = command("evaluate", "--hypotheses", output, *of_model[2:])
    assert (again.returncode, again.stdout, again.stderr) == (0, result.stdout, "")


def test_files_are_scored_without_a_model(command, files):
    result = command("evaluate", *files[:4])
    translations = files[3].read_text().split("\n")
    of_bleu, of_chrf = bleu(translations, REFERENCES), chrf(translations, REFERENCES)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"BLEU   {of_bleu.value:.2f}  {of_bleu.signature}",
        f"chrF   {of_chrf.value:.2f}  {of_chrf.signature}",
        f"exact  {exact(translations, REFERENCES):5.2f}  percent of 16 sentences",
    ]


def test_several_systems_are_a_table_with_a_line_each(command, toy_tflite, of_model, files):
    options = (*of_model[:2], *files)
    result = command("evaluate", toy_tflite, *options)
    assert (result.returncode, result.stderr) == (0, "")
    head, *rows, of_bleu, of_chrf = result.stdout.splitlines()
    assert head.split() == ["BLEU", "chrF", "exact", "%"]
    assert [row.split()[0] for row in rows] == [str(toy_tflite), str(files[3]), str(files[5])]
    for row, file in zip(rows[1:], files[3::2], strict=True):
        lines = file.read_text().split("\n")
        scores = bleu(lines, REFERENCES).value, chrf(lines, REFERENCES).value
        assert row.split()[1:] == [f"{x:.2f}" for x in (*scores, exact(lines, REFERENCES))]
    assert (of_bleu, of_chrf) == (
        f"BLEU: {bleu(REFERENCES, REFERENCES).signature}",
        f"chrF: {chrf(REFERENCES, REFERENCES).signature}",
    )


def test_noise_adds_the_scores_for_each_kind_of_noisy_text(command, toy_tflite, of_model):
    result = command("evaluate", toy_tflite, *of_model, "--noise")
    assert (result.returncode, result.stderr) == (0, "")
    of_bleu, of_chrf, _, _, head, clean, *rows = result.stdout.splitlines()
    assert head.split() == ["BLEU", "no", "case", "chrF"]
    scores = of_bleu.split()[1], of_chrf.split()[1]
    assert clean.split()[:2] == ["clean", scores[0]] and clean.split()[-1] == scores[1]
    assert [row.split(":")[0] for row in rows] == [*NOISES]
    [lower] = [row.split() for row in rows if row.startswith("lower:")]
    sources = [text.lower() for text in toy.SOURCES[toy.HELD_OUT]]
    lines = kformer.load(toy_tflite).translate(sources)
    references = of_model[3].read_text().split("\n")
    assert lower[-3] == f"{bleu(lines, references).value:.2f}"
    metric = sacrebleu.BLEU(lowercase=True)
    assert lower[-2] == f"{metric.corpus_score(lines, [references]).score:.2f}"


def test_confidence_adds_intervals_and_how_likely_a_difference_is_chance(command, files):
    result = command("evaluate", *files, "--confidence", "--moses", "en")
    head, first, second, *signatures, explained = result.stdout.splitlines()
    assert re.split("  +", head) == ["", "BLEU", "BLEU, Moses", "chrF", "exact %"]
    estimate = r"\d+\.\d\d ± \d+\.\d\d"
    assert re.fullmatch(rf"\S+( +{estimate}){{3}} +\d+\.\d\d", first)
    assert re.fullmatch(rf"\S+( +{estimate}, p [01]\.\d{{3}}){{3}} +\d+\.\d\d", second)
    assert len(signatures) == 3 and all("|bs:1000|seed:12345|" in one for one in signatures)
    assert explained.startswith("p: how likely chance alone")
    alone = command("evaluate", *files[:4], "--confidence")
    shown = re.search(estimate, first)[0]
    assert re.match(rf"BLEU +{shown}  nrefs:1\|bs:1000\|", alone.stdout)


def test_the_language_or_the_option_chooses_the_tokenizer(command, written):
    reference, file = written("reference", CHINESE), written("file", CHINESE.replace("狗", "猫"))
    options = "--reference", reference, "--hypotheses", file
    lines = [x.read_text().splitlines() for x in (file, reference)]
    for given, tokenizer in (
        (("--target-language", "zh-Hans"), "zh"),
        (("--target-language", "th"), "char"),
        (("--tokenize", "char", "--target-language", "zh"), "char"),
    ):
        expected = sacrebleu.corpus_bleu(lines[0], lines[1:], tokenize=tokenizer).score
        result = command("evaluate", *options, *given)
        assert (result.returncode, result.stderr) == (0, "")
        found = result.stdout.split()
        assert found[1] == f"{expected:.2f}" and f"|tok:{tokenizer}|" in found[2]


@pytest.mark.prove
def test_a_model_that_has_its_language_chooses_the_tokenizer(
    command, toy_keras, of_model, tmp_path
):
    translator = kformer.load(toy_keras)
    translator.about["target_language"] = "zh"
    translator.save(tmp_path / "zh.keras")
    assert kformer.load(tmp_path / "zh.keras").target_language == "zh"
    for given, tokenizer in ((), "zh"), (("--target-language", "th"), "char"):
        result = command("evaluate", tmp_path / "zh.keras", *of_model, *given)
        assert f"|tok:{tokenizer}|" in result.stdout


@pytest.mark.filterwarnings("default")
def test_references_without_spaces_are_warned_of(command, written):
    file = written("file", CHINESE)
    result = command("evaluate", "--reference", file, "--hypotheses", file)
    assert result.returncode == 0 and result.stdout.startswith("BLEU")
    assert result.stderr.startswith("kformer: The references have no spaces between words")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "a MODEL with --source, --hypotheses, or both. Received: neither."),
        (("--source", "x"), "--hypotheses, or both. Received: neither."),
        (("--hypotheses", "x", "--source", "x"), "Received: MODEL None, --source 'x'."),
        (("model.keras",), "Received: MODEL 'model.keras', --source None."),
        (("--hypotheses", "x", "--output", "y"), "Received: --output 'y' without one."),
        (("--hypotheses", "x", "--noise"), "Received: --noise without one."),
        (("--hypotheses", "no/file"), "There is no such file"),
    ],
)
def test_there_must_be_something_to_score(refused, written, options, message):
    assert message in refused("evaluate", "--reference", written("reference", "a\n"), *options)


def test_wrong_files_and_tokenizers_are_refused_before_a_model_is_loaded(
    refused, written, toy_keras, of_model, tmp_path
):
    short, options = written("short", "a\n"), ("evaluate", toy_keras, *of_model)
    assert "Received: 1 in " in refused(*options, "--hypotheses", short)
    assert "would download" in refused(*options, "--tokenize", "flores200")
    assert "must be one of 13a" in refused(*options, "--tokenize", "13A")
    assert "must be a file" in refused(*options, "--output", tmp_path)
