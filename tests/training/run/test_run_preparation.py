"""The checks of a run before TensorFlow loads: its vocabularies, and that pairs are left."""

import dataclasses
import json

import pytest
import sentencepiece

from kformer import Tokenizer, Transformer, Translator
from kformer.inference.source_marks import KINDS, symbols_of
from kformer.tasks.keras_file import tokenizer_models
from kformer.text import vocabulary
from kformer.training import Recipe
from kformer.training.kinds.translation_task import prepare_translation
from kformer.training.recipes.pace import suited_to
from kformer.training.run.run_config import difference
from support import toy
from support.processes import run_python
from support.training import pairs

RECIPE = Recipe.named("tiny", epochs=20, tokens_per_batch=3072)


@pytest.fixture
def files(tmp_path):
    """A source and a target of 80 lines."""
    return pairs.write(tmp_path, zip(toy.SOURCES, toy.TARGETS, strict=True), "a")


def size_of(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model).vocab_size()


def test_a_small_text_gets_the_vocabulary_that_it_supports(files, tmp_path):
    prepared = prepare_translation(RECIPE, *files, tmp_path / "run")
    [model] = prepared.vocabularies.models
    size = size_of(model)
    assert 260 < size < 8000
    assert model == Tokenizer.train(files, size).model
    assert prepared.origin == "all"
    assert prepared.notes() == [
        f"The text supports {size} ids, which are used: vocab_size={size} instead of 8000."
    ]
    assert prepared.config["vocab_sizes"] == {"vocab_size": size, "target_vocab_size": 0}
    with pytest.raises(ValueError, match=f"at most {size},.* Received: vocab_size=8000"):
        prepare_translation(RECIPE, *files, tmp_path / "run", exact_sizes=["vocab_size"])


def test_a_vocabulary_that_fits_needs_no_note(files, tmp_path):
    recipe = dataclasses.replace(RECIPE, vocab_size=290)
    prepared = prepare_translation(recipe, *files, tmp_path / "run")
    assert (prepared.origin, prepared.notes()) == ("learned", [])
    assert prepared.vocabularies.models == (Tokenizer.train(files, 290).model,)


def test_the_default_recipe_gets_the_pace_that_suits_the_text(files, tmp_path):
    prepared = prepare_translation(Recipe.named("tiny"), *files, tmp_path / "run")
    encode = sentencepiece.SentencePieceProcessor(model_proto=prepared.vocabularies.source).encode
    sides = zip(map(encode, toy.SOURCES), map(encode, toy.TARGETS), strict=True)
    ids = sum(len(max(pair, key=len)) + 1 for pair in sides)
    expected = suited_to(Recipe.named("tiny"), ids)
    assert prepared.recipe == expected.recipe
    assert prepared.recipe.epochs > 20 and prepared.recipe.tokens_per_batch < 3072
    assert prepared.notes()[-1:] == expected.lines()
    config = prepared.config
    assert config["recipe"] == dataclasses.asdict(prepared.recipe)
    assert config["suited_epochs"] == prepared.recipe.epochs


def test_numbers_of_the_user_are_obeyed_exactly_and_need_no_note(files, tmp_path):
    recipe = Recipe.named("tiny", epochs=3, tokens_per_batch=700, vocab_size=290)
    prepared = prepare_translation(recipe, *files, tmp_path / "run")
    assert prepared.recipe == recipe and prepared.notes() == []
    assert "suited_epochs" not in prepared.config


def test_an_unfinished_run_goes_on_with_the_pace_that_it_began_with(files, tmp_path):
    prepared = prepare_translation(Recipe.named("tiny", epochs=3), *files, tmp_path / "run")
    began = {**prepared.config, "finished": False}
    began["recipe"] |= {"tokens_per_batch": 320}  # Of a kformer that chose otherwise.
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps(began))
    (tmp_path / "run" / "checkpoints").mkdir()
    (tmp_path / "run" / "checkpoints" / "tokenizer.model").write_bytes(prepared.vocabularies.source)
    again = prepare_translation(Recipe.named("tiny"), *files, tmp_path / "run")
    assert again.resumes and again.recipe.tokens_per_batch == 320
    assert again.changed == {"epochs": [3, prepared.config["suited_epochs"]]}
    assert not again.pace
    anew = prepare_translation(Recipe.named("tiny"), *files, tmp_path / "run", restart=True)
    assert anew.recipe.tokens_per_batch == prepared.recipe.tokens_per_batch


def test_the_options_of_a_vocabulary_are_those_of_the_recipe(files, tmp_path):
    options = {"character_coverage": 0.98, "normalization": "identity", "split_digits": True}
    recipe = dataclasses.replace(RECIPE, vocab_size=285, **options)
    [model] = prepare_translation(recipe, *files, tmp_path / "run").vocabularies.models
    assert model == Tokenizer.train(files, 285, **options).model
    assert model != Tokenizer.train(files, 285).model


def test_terms_and_placeholders_need_their_symbols_in_the_vocabulary(files, tmp_path):
    prepared = prepare_translation(RECIPE, *files, tmp_path / "run", terms=True, placeholders=True)
    [model] = prepared.vocabularies.models
    assert vocabulary.has_pieces(model, symbols_of(KINDS))
    assert prepared.config["options"]["terms"] is True
    path = tmp_path / "with.model"
    path.write_bytes(model)
    prepared = prepare_translation(RECIPE, *files, tmp_path / "run", tokenizer=path, terms=True)
    assert prepared.vocabularies.models == (model,)
    path.write_bytes(Tokenizer.train(files, 290).model)
    with pytest.raises(ValueError, match=r"with their symbols.* Received: placeholders with"):
        prepare_translation(RECIPE, *files, tmp_path / "run", tokenizer=path, placeholders=True)
    with pytest.raises(ValueError, match="Received: terms with shards='a'"):
        prepare_translation(RECIPE, None, None, tmp_path / "run", shards="a", terms=True)


def test_a_run_of_an_older_version_goes_on_without_the_newer_options(files, tmp_path):
    prepared = prepare_translation(RECIPE, *files, tmp_path / "run")
    earlier = {**prepared.config, "recipe": dict(prepared.config["recipe"])}
    added = ("character_coverage", "normalization", "split_digits", "decoder_cell", "noise")
    for name in (*added, "optimizer", "consistency", "consistency_weight", "cutoff"):
        del earlier["recipe"][name]
    new_options = ("terms", "placeholders", "directions", "valid_directions", "both_directions")
    kept = {*earlier["options"]} - {*new_options}
    earlier["options"] = {name: earlier["options"][name] for name in kept}
    assert difference(earlier, prepared.config) is None
    changed = {**earlier, "recipe": {**earlier["recipe"], "normalization": "nfkc"}}
    assert difference(changed, prepared.config) == (
        "with normalization='nfkc' instead of 'nmt_nfkc'"
    )


def test_a_vocabulary_for_each_side_is_learned_from_that_side(files, tmp_path):
    recipe = dataclasses.replace(RECIPE, vocab_size=285, target_vocab_size=8000)
    prepared = prepare_translation(recipe, *files, tmp_path / "run")
    source, target = prepared.vocabularies
    assert source == Tokenizer.train(files[0], 285).model
    assert target == Tokenizer.train(files[1], size_of(target)).model
    assert [note.split(": ")[1] for note in prepared.notes()] == [
        f"target_vocab_size={size_of(target)} instead of 8000."
    ]
    with pytest.raises(ValueError, match=r"`target_vocab_size` must .*: target_vocab_size=8000"):
        prepare_translation(recipe, *files, tmp_path / "run", exact_sizes=["target_vocab_size"])


@pytest.mark.parametrize("two", [False, True])
def test_the_vocabularies_of_a_translator_are_used_unchanged(files, tmp_path, two):
    tokenizers = [Tokenizer.train(files[side], 285 + side) for side in range(1 + two)]
    transformer = Transformer(285, 1, 4, 2, 8, target_vocab_size=286 if two else None)
    path = tmp_path / "model.keras"
    Translator(tokenizers[0], transformer, *tokenizers[1:]).save(path)
    prepared = prepare_translation(RECIPE, *files, tmp_path / "run", tokenizer=path)
    assert prepared.vocabularies.models == tuple(side.model for side in tokenizers)
    assert prepared.origin == "given"
    assert tokenizer_models(path) == prepared.vocabularies
    warm = prepare_translation(RECIPE, *files, tmp_path / "run", warm_start=path)
    assert warm.vocabularies == prepared.vocabularies
    [note] = warm.notes()
    assert "d_model=4 instead of 128" in note and "vocab_size=285 instead of 8000" in note
    new = prepare_translation(
        RECIPE, *files, tmp_path / "run", warm_start=path, new_vocabulary=True
    )
    sizes, supported = new.notes()
    assert "d_model=4 instead of 128" in sizes and supported.startswith("The text supports ")


def test_a_model_file_for_each_side_is_used_for_that_side(files, tmp_path):
    models = [tmp_path / "a.model", tmp_path / "b.model"]
    for path, text in zip(models, files, strict=True):
        Tokenizer.train(text, 285).save(path)
    prepared = prepare_translation(
        RECIPE, *files, tmp_path / "run", tokenizer=models[0], target_tokenizer=models[1]
    )
    assert prepared.vocabularies == tuple(path.read_bytes() for path in models)
    assert prepared.config["options"]["tokenizer"] != prepared.config["options"]["target_tokenizer"]


def test_vocabularies_that_do_not_fit_together_are_refused(files, tmp_path):
    ours, other = tmp_path / "a.model", tmp_path / "b.model"
    Tokenizer.train(files[0], 285).save(ours)
    sentencepiece.SentencePieceTrainer.train(
        input=str(files[1]),
        model_prefix=str(other.with_suffix("")),
        **{"vocab_size": 30, "pad_id": 3, "minloglevel": 2},
    )
    run = (RECIPE, *files, tmp_path / "run")
    with pytest.raises(ValueError, match=rf"padding ids 0 and 3, of '{ours}' and '{other}'"):
        prepare_translation(*run, tokenizer=ours, target_tokenizer=other)
    with pytest.raises(ValueError, match=r"needs one of the source.* target_tokenizer='.*a.model"):
        prepare_translation(*run, target_tokenizer=ours)
    with pytest.raises(ValueError, match=r"none is learned.* target_vocab_size=300"):
        recipe = dataclasses.replace(RECIPE, target_vocab_size=300)
        prepare_translation(recipe, *run[1:], tokenizer=ours)
    with pytest.raises(FileNotFoundError, match=r"'missing\.model'"):
        prepare_translation(*run, tokenizer="missing.model")
    (tmp_path / "c.model").write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"4 bytes that are none. Received: path='.*c.model'"):
        prepare_translation(*run, tokenizer=tmp_path / "c.model")


def test_text_without_a_usable_pair_is_refused_with_the_reasons(files, tmp_path):
    for path in files:
        path.write_text("ein hund\n\nwir\n", "utf-8")
    files[1].write_text("a dog\nwe\nwe and our friends and all of theirs and more\n", "utf-8")
    recipe = dataclasses.replace(RECIPE, max_length=4, max_length_ratio=2.0)
    message = "1 have a blank side, 2 are too long, 0 are of unlike.* max_length=4, .*=2.0, .*a.de"
    with pytest.raises(ValueError, match=message):
        prepare_translation(recipe, *files, tmp_path / "run")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vocab-size", "8000"], "must be at most "),
        (["--max-length", "2"], "No pair is left to use: 0 have a blank side, 80 are too long"),
    ],
)
def test_problems_of_the_text_are_reported_before_tensorflow_loads(
    files, tmp_path, options, message
):
    code = "import sys\nfrom kformer.cli import main\ntry:\n    main()\n"
    code += "finally:\n    print('tensorflow' in sys.modules, 'keras' in sys.modules)"
    arguments = ["--source", files[0], "--target", files[1], "--output", tmp_path / "run"]
    result = run_python("-c", code, "train", *arguments, *options)
    assert result.returncode == 2 and message in result.stderr
    assert result.stdout == "False False\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.prove
def test_a_dry_run_prints_the_report_and_writes_nothing(command, files, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    run = ("--source", files[0], "--target", files[1], "--output", tmp_path / "run")
    result = command("train", *run, "--dry-run")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("The text supports ")
    assert any(line.startswith("80 pairs; 80 are used.") for line in lines)
    assert "for an epoch" in result.stdout and lines[-1] == "Dry run: nothing was written."
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dry_run_raises_the_errors_of_a_run(refused, files, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"finished": True}))
    run = ("--source", files[0], "--target", files[1], "--output", tmp_path / "run")
    assert "which holds a run that is finished" in refused("train", *run, "--dry-run")


def test_another_size_than_that_of_an_existing_vocabulary_is_refused(refused, files, tmp_path):
    path = tmp_path / "a.model"
    path.write_bytes(vocabulary.learn(files, 285))
    run = ("--source", files[0], "--target", files[1], "--output", tmp_path / "run")
    message = refused("train", *run, "--tokenizer", path, "--vocab-size", 300)
    assert message.endswith("keeps its size. Received: vocab_size=300 instead of 285.")


@pytest.fixture(scope="module")
def small_translator(tmp_path_factory):
    """The path of an untrained translator of 1 layer, 16 wide."""
    folder = tmp_path_factory.mktemp("small")
    text = folder / "text"
    text.write_text("".join(f"{line}\n" for line in (*toy.SOURCES, *toy.TARGETS)), "utf-8")
    translator = Translator(Tokenizer.train(text, 300), Transformer(300, 1, 16, 2, 24))
    translator.save(folder / "small.keras")
    return folder / "small.keras"


def test_a_warm_start_has_the_sizes_of_its_translator_and_reports_them(
    files, small_translator, tmp_path
):
    prepared = prepare_translation(RECIPE, *files, tmp_path / "run", warm_start=small_translator)
    own = {"vocab_size": 300, "num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 24}
    assert {name: prepared.config["recipe"][name] for name in own} == own
    [said] = prepared.notes()
    assert said.startswith(f"The model has the sizes of {small_translator}: vocab_size=300 inst")
    assert "num_layers=1 instead of 4" in said
    exact = {"exact_sizes": ["num_layers"], "warm_start": small_translator}
    recipe = dataclasses.replace(RECIPE, num_layers=1)
    assert prepare_translation(recipe, *files, tmp_path / "run", **exact).recipe.num_layers == 1
    with pytest.raises(ValueError, match=r"Received: num_layers=4 instead of 1, for '.*small"):
        prepare_translation(RECIPE, *files, tmp_path / "run", **exact)


def test_the_file_of_a_warm_start_is_checked_first(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Received: 'none.keras'"):
        prepare_translation(
            dataclasses.replace(RECIPE, patience=1),  # For which there is no text, either.
            "no.de",
            "no.en",
            tmp_path / "run",
            warm_start="none.keras",
            exact_sizes=["d_model"],
        )
