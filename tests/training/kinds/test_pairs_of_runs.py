"""A whole run on pairs that are not two text files."""

import numpy as np
import pytest

from kformer.training import train
from kformer.training.kinds.translation_task import prepare_translation
from support.disturbances import PowerCut
from support.training.same_run import read, weights_of


@pytest.fixture(scope="module")
def pairs(parallel_text):
    """Training and validation pairs, as lists of tuples."""

    def of(part):
        sides = [parallel_text[f"{part}.{name}"].read_text("utf-8") for name in ("de", "en")]
        return [*zip(*map(str.splitlines, sides), strict=True)]

    return of("train"), of("valid")


@pytest.mark.prove
def test_a_broken_off_run_on_pairs_resumes_to_that_of_two_files(
    pairs, tiny_run, tiny_recipe, tmp_path
):
    output = tmp_path / "run"
    arguments = {"pairs": pairs[0], "valid_pairs": pairs[1], "output": output}
    with pytest.raises(ZeroDivisionError):
        train(tiny_recipe, **arguments, callbacks=[PowerCut(1)])
    with pytest.raises(FileExistsError, match="other text in --pairs"):
        train(tiny_recipe, **{**arguments, "pairs": pairs[0][1:]})
    dicts = [{"source": source, "target": target} for source, target in pairs[0]]
    train(tiny_recipe, **{**arguments, "pairs": dicts})
    np.testing.assert_equal(weights_of(output), weights_of(tiny_run[0]))
    config = read(output / "run.json")
    assert config["pairs"] == 300
    assert config["files"] == {}  # Nothing that is still there.
    assert [*config["sha256"]] == ["pairs", "valid_pairs"]


def test_tables_are_recorded_and_named_in_the_report(pairs, tiny_recipe, parallel_text, tmp_path):
    table = tmp_path / "pairs.csv"
    table.write_text("en,de\n" + "".join(f'"{en}","{de}"\n' for de, en in pairs[0]), "utf-8")
    files = [parallel_text[f"valid.{name}"] for name in ("de", "en")]
    prepared = prepare_translation(
        tiny_recipe,
        None,
        None,
        tmp_path / "run",
        *files,
        pairs=table,
        columns=["de", "en"],
    )
    assert prepared.config["files"] == {
        "pairs": [str(table)],
        "valid_source": [str(files[0])],
        "valid_target": [str(files[1])],
    }
    assert prepared.config["options"]["columns"] == ["de", "en"]
    report = prepared.task.report(prepared)
    assert "300 pairs;" in report and "Validation: 40 pairs" in report
    assert report.count(f" of {table})") == 2
    assert not (tmp_path / "run").exists()


def test_of_pairs_without_text_none_is_left(tiny_recipe, tmp_path):
    with pytest.raises(ValueError, match=r"3 have a blank side.* source text \['the pairs'\]"):
        prepare_translation(tiny_recipe, None, None, tmp_path / "run", pairs=[("ein haus", "")] * 3)


def test_a_run_needs_a_folder(tiny_recipe, pairs):
    with pytest.raises(TypeError, match="Received: output=None"):
        train(tiny_recipe, pairs=pairs[0])
