"""What the system refuses is told in one line: the rule, then what was received."""

import errno
import os
import signal
import stat
from pathlib import Path

import pytest
import tensorflow as tf

from kformer import cli
from kformer.cli.terminal import command_errors as system_errors
from kformer.training.kinds import translation_learner as learner


def error_of(work):
    with pytest.raises(OSError) as caught:
        work()
    return system_errors.system_error_line(caught.value)


def test_what_python_raises_is_put_in_our_form(tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert (
        error_of(tmp_path.read_bytes)
        == f"A file is needed, not a folder. Received: {str(tmp_path)!r}."
    )
    assert error_of((file / "x").mkdir) == f"A folder is needed, not a file. Received: '{file}/x'."
    missing = tmp_path / "missing"
    assert (
        error_of(missing.read_bytes) == f"There is no such file or folder. Received: '{missing}'."
    )
    assert error_of((tmp_path / ("n" * 300)).touch).startswith(
        "The name of a file or folder is too"
    )
    both = error_of(lambda: missing.rename(file))
    assert both == f"There is no such file or folder. Received: '{missing}', '{file}'."


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        (errno.EACCES, "This user lacks the permission to read or write it."),
        (errno.ENOSPC, "The disk is full."),
        (errno.EROFS, "The file system can only be read."),
        (errno.EMFILE, "Too many open files."),
    ],
)
def test_what_a_test_cannot_bring_about_has_its_rule(number, rule):
    error = OSError(number, os.strerror(number), "a.txt")
    assert system_errors.system_error_line(error) == f"{rule} Received: 'a.txt'."
    assert system_errors.system_error_line(OSError(number, os.strerror(number))) == rule


def test_our_own_errors_stay_as_they_are():
    assert (
        system_errors.system_error_line(FileExistsError("Rule. Received: x."))
        == "Rule. Received: x."
    )


@pytest.mark.parametrize("option", ["--source", "--target", "--warm-start", "--tokenizer"])
def test_a_folder_in_the_place_of_a_file_is_named(refused, training, tmp_path, option):
    folder = tmp_path / "text.keras"
    folder.mkdir()
    message = refused(*training, option, folder)
    assert message == f"kformer: A file is needed, not a folder. Received: '{folder}'."


@pytest.mark.parametrize("name", ["evaluate", "score", "translate"])
def test_so_it_is_of_the_other_commands(refused, toy_keras, toy_run, tmp_path, name):
    text, folder = toy_run.files["valid.de"], tmp_path / "folder"
    folder.mkdir()
    options = {
        "evaluate": ("--source", text, "--reference", folder),
        "score": ("--source", folder, "--target", text),
        "translate": ("--input", folder),
    }
    message = refused(name, toy_keras, *options[name])
    assert message == f"kformer: A file is needed, not a folder. Received: '{folder}'."


def test_a_pipe_is_no_text_to_train_on(refused, training, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    message = refused(*training, "--source", tmp_path / "pipe")
    assert message.endswith(f"because it is read more than once. Received: '{tmp_path / 'pipe'}'.")


def test_a_file_in_the_place_of_a_folder_is_named(refused, written):
    file = written("file", "kept")
    message = refused("demo", "--quick", "--output", file)
    assert message.startswith("kformer: A folder is needed, not a file. Received: ")


@pytest.mark.prove
def test_a_text_that_vanishes_while_it_is_read_is_named(
    command, toy_run, training, tmp_path, monkeypatch
):
    source = tmp_path / "train.de"
    source.write_bytes(toy_run.files["train.de"].read_bytes())
    new_translator = learner.new_translator

    def and_delete(*args, **kwargs):
        source.unlink()
        return new_translator(*args, **kwargs)

    monkeypatch.setattr(learner, "new_translator", and_delete)
    training[training.index("--source") + 1] = source
    result = command(*training, "--epochs", 1)
    assert result.returncode == 2
    assert result.stderr == f"kformer: There is no such file. Received: '{source}'.\n"


def test_other_errors_of_tensorflow_are_not_hidden():
    error = tf.errors.InvalidArgumentError(None, None, "shape")
    assert system_errors.tensorflow_error_line(error) is None
    assert system_errors.tensorflow_error_line(KeyError("x")) is None


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="There is no /dev/full.")
def test_a_device_is_written_to_and_not_replaced(command, toy_keras):
    result = command("translate", toy_keras, "--output", "/dev/full", stdin=b"\n")
    assert (result.returncode, result.stderr) == (2, "kformer: The disk is full.\n")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_pipe_is_written_to(command, toy_keras, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    result = command("translate", toy_keras, "--output", tmp_path / "pipe", stdin=b"\n\n")
    assert result.returncode == 0
    assert os.read(reader, 100) == b"\n\n"
    os.close(reader)


def test_a_signal_whose_exception_a_library_loses_ends_the_command_all_the_same(
    command, monkeypatch
):
    def lose(standalone_mode):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        except BaseException:
            raise AttributeError("of the library") from None

    monkeypatch.setattr(cli, "app_for", lambda arguments: lose)
    assert command().returncode == 128 + signal.SIGTERM
