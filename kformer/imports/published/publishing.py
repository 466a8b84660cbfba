"""Publishes a folder of kformer's files as a model of the Hugging Face hub."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import kformer
from kformer.imports.published.hugging_face import hub_api, library, plain_errors

_NAME = re.compile(r"hf://([\w.-]+/[\w.-]+)\Z", re.ASCII)
_REPLACED = ["*.keras", "*.tflite", "*.tflite.json"]  # Of an earlier publication.


def repository_of(name: str) -> str:
    """Returns the repository that a model can be published as: of "hf://me/de-en", "me/de-en"."""
    if not (match := _NAME.match(name)):
        raise ValueError(
            f"A model is published as hf://OWNER/NAME, without a revision. Received: {name!r}."
        )
    return match[1]


def check_may_publish(repository: str):
    """Raises an error unless the user of HF_TOKEN may have a repository of this owner.

    Raises:
        ConnectionError: The host cannot be reached.
        PermissionError: There is no token, or it is another owner's.
        ValueError: huggingface_hub is not installed.
    """
    hub, owner = library(), repository.partition("/")[0]
    rule = (
        "Publishing needs a token of the owner that may write, in HF_TOKEN or by `hf auth login`."
    )
    with plain_errors(repository):
        try:
            user = hub_api().whoami()
        except hub.errors.LocalTokenNotFoundError as error:
            raise PermissionError(f"{rule} Received: no token for {owner!r}.") from error
        except hub.errors.HfHubHTTPError as error:
            if error.response.status_code != 401:
                raise
            raise PermissionError(f"{rule} Received: an invalid token for {owner!r}.") from error
    owners = [user["name"], *(group["name"] for group in user.get("orgs", ()))]
    if owner not in owners:
        raise PermissionError(f"{rule} Received: {owner!r}, and the token is of {owners[0]!r}.")


def with_example(card: str, repository: str, text: str, translation: str) -> str:
    """Returns a model card with a translation by the published model, after its title."""
    before, mark, after = card.partition("\n# ")
    title, _, remaining = after.partition("\n")
    example = (
        "## Use\n\n```console\n$ pip install 'kformer[hub]'\n"
        f"$ kformer translate hf://{repository} {shlex.quote(text)}\n{translation}\n```\n\n"
        "In Python, `kformer.load` opens the same name.\n\n## Model\n"
    )
    return f"{before}{mark}{title}\n\n{example}{remaining}"


def upload(folder: Path, repository: str, private: bool, say: Callable[[str], object]) -> str:
    """Makes the files of a folder a model of the hub, in one commit, and returns its address.

    A new repository is made if there is none. In an old one, other .keras and .tflite files are
    removed, README.md is replaced, and everything else stays.

    Raises:
        ConnectionError: The host cannot be reached, or it refuses to answer.
        ValueError: It is to be private, and the repository is public.
    """
    api, hub = hub_api(), library()
    size = sum(path.stat().st_size for path in folder.iterdir())
    say(f"Uploading {size / 1e6:,.1f} MB to {hub.constants.ENDPOINT}/{repository} ...")
    with plain_errors(repository):
        # Organizations choose what a repository is by default.
        api.create_repo(repository, private=private or None, exist_ok=True)
        if private and not api.model_info(repository).private:
            raise ValueError(
                "A public model does not become private by publishing it again: change that on "
                f"its page. Received: --private with {repository!r}."
            )
        try:
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=folder,
                delete_patterns=_REPLACED,
                commit_message=f"Publish with kformer {kformer.__version__}",
            )
        except RuntimeError as error:  # Of a file; its cause is what happened.
            raise error.__cause__ or error from None
    return f"{hub.constants.ENDPOINT}/{repository}, commit {commit.oid[:10]}"
