"""`kformer publish`: the real huggingface_hub library uploads to a stand-in on 127.0.0.1."""

import json
import re
from pathlib import Path

import pytest
import yaml

import kformer
from kformer.imports.published.hugging_face import snapshot
from kformer.imports.published.publishing import repository_of, upload, with_example
from support.hub_stand_in import TOKEN

# Of huggingface_hub itself, where it uploads without Xet.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
EXAMPLE = "ein hund schläft ."
LICENCE = ("--licence", "CC-BY-4.0", "--source-language", "de", "--target-language", "en")


@pytest.fixture
def user(hub, monkeypatch):
    """The stand-in, with the token of its user."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    return hub


@pytest.fixture
def check(toy_run, written):
    """Options with a few sentences to check with."""
    lines = Path(toy_run.files["valid.de"]).read_text("utf-8").splitlines()[:8]
    return ("--check-source", written("few.de", "\n".join(lines) + "\n"))


@pytest.mark.prove
def test_what_is_published_is_loaded_by_its_name(user, command, toy_keras, check):
    publish = ("publish", toy_keras, "hf://me/de-en", "--example", EXAMPLE, *LICENCE, *check)
    result = command(*publish, "--private")
    assert result.returncode == 0, result.stderr
    repository = user.repositories["me/de-en"]
    ((commit, files),) = repository.commits  # One commit.
    assert repository.private
    assert result.stdout.splitlines()[-1] == (
        f"Published: {user.address}/me/de-en, commit {commit[:10]}"
    )
    assert {*files} == {"README.md", "de-en.keras", "de-en.tflite", "de-en.tflite.json"}
    folder, facts = snapshot("me/de-en", None, str)
    assert facts[:4] == ("tflite", commit, "cc-by-4.0", ("de", "en"))
    card = files["README.md"].decode()
    shown = re.search(rf"\$ kformer translate hf://me/de-en '{EXAMPLE}'\n(.+)\n```", card)
    assert kformer.load(folder / "de-en.tflite").translate(EXAMPLE) == shown[1]
    original, published = map(kformer.load, (toy_keras, folder / "de-en.keras"))
    assert published.translate(EXAMPLE) == original.translate(EXAMPLE)
    assert published.about["licence"] == "CC-BY-4.0"
    head = yaml.safe_load(card.split("---")[1])
    assert head["license"] == "cc-by-4.0" and head["library_name"] == "kformer"
    assert json.loads(files["de-en.tflite.json"])["sentences"] == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "me/de-en"}, "as hf://OWNER/NAME, without a revision. Received: 'me/de-en'"),
        ({"name": "hf://me/de-en@main"}, "without a revision. Received: 'hf://me/de-en@main'"),
        ({"name": "hf://you/de-en"}, "Received: 'you', and the token is of 'me'."),
        ({"licence": ()}, "give --licence. Received: '"),
        ({"example": "a\nb"}, "must be one line of text. Received: --example 'a\\nb'"),
    ],
)
def test_what_cannot_be_published_is_one_line(changes, message, user, refused, toy_keras, check):
    settings = {"name": "hf://me/de-en", "licence": LICENCE, "example": EXAMPLE, **changes}
    publish = ("publish", toy_keras, settings["name"], "--example", settings["example"])
    assert message in refused(*publish, *settings["licence"], *check)
    assert user.repositories == {}


def test_without_a_token_nothing_is_computed(hub, refused, toy_keras, check, monkeypatch):
    publish = ("publish", toy_keras, "hf://me/de-en", "--example", EXAMPLE, *LICENCE, *check)
    assert "Received: no token for 'me'." in refused(*publish)
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "Received: an invalid token for 'me'." in refused(*publish)


@pytest.fixture
def folder(tmp_path):
    """A folder of two small files."""
    path = tmp_path / "folder"
    path.mkdir()
    (path / "a.keras").write_bytes(b"1")
    (path / "README.md").write_bytes(b"new")
    return path


def test_an_earlier_publication_is_replaced_in_one_commit_and_the_rest_stays(user, folder):
    user.add("me/a", {"README.md": b"old", "old.tflite": b"1", "notes.txt": b"2"})
    lines = []
    address = upload(folder, "me/a", False, lines.append)
    _, (commit, files) = user.repositories["me/a"].commits
    assert files == {"README.md": b"new", "a.keras": b"1", "notes.txt": b"2"}
    assert address == f"{user.address}/me/a, commit {commit[:10]}"
    assert lines == [f"Uploading 0.0 MB to {user.address}/me/a ..."]


def test_a_public_model_does_not_become_private_unnoticed(user, folder):
    user.add("me/public", {"README.md": b"1"})
    with pytest.raises(ValueError, match=r"A public model does not become private .*'me/public'"):
        upload(folder, "me/public", True, str)
    assert len(user.repositories["me/public"].commits) == 1
    upload(folder, "our-team/new", True, str)
    assert user.repositories["our-team/new"].private


def test_an_upload_that_is_refused_is_said_in_one_line(user, folder, monkeypatch):
    monkeypatch.setattr("support.hub_stand_in.sha256", lambda data: "0" * 64)
    with pytest.raises(ConnectionError, match=r"must answer. Received: 'me/new', 400 ") as error:
        upload(folder, "me/new", False, str)
    assert "\n" not in str(error.value)
    assert user.repositories["me/new"].commits == []


def test_an_example_is_quoted_as_a_shell_needs_it():
    card = with_example("---\na: b\n---\n\n# Title\n\n| |\n", "me/x", "it's $HOME", "Es ist")
    assert "$ kformer translate hf://me/x 'it'\"'\"'s $HOME'\nEs ist\n```" in card
    assert card.startswith("---\na: b\n---\n\n# Title\n\n## Use\n")
    assert repository_of("hf://me/de-en.v1") == "me/de-en.v1"
