"""`make release`: links for a package index, checksums, and the commit alone is built."""

import subprocess

import pytest

from support import REPOSITORY
from support.release import ROOT, unpack, with_absolute_links, write_checksums

ADDRESS = "https://example.org/kformer"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](kformer/cli/README.md#top)", f"[a]({ADDRESS}/blob/v1.2.0/kformer/cli/README.md#top)"),
        ("![a b](.readme/web.png)", f"![a b]({ADDRESS}/raw/v1.2.0/.readme/web.png)"),
        ("[a](https://arxiv.org/) [b](#below)", "[a](https://arxiv.org/) [b](#below)"),
        ("```py\nf[0](x)\n```\n", "```py\nf[0](x)\n```\n"),
    ],
)
def test_links_to_files_become_addresses_of_the_version(text, expected):
    assert with_absolute_links(text, f"{ADDRESS}/", "v1.2.0") == expected


def test_no_link_of_the_readme_stays_relative():
    text = with_absolute_links((REPOSITORY / "README.md").read_text("utf-8"), ADDRESS, "v1.2.0")
    assert text.count(f"]({ADDRESS}/blob/v1.2.0/kformer/") > 5
    assert "](kformer" not in text and "](." not in text


def test_checksums_are_those_of_the_system(tmp_path):
    for name in ("b", "a"):
        (tmp_path / name).write_text(name)
    write_checksums(tmp_path)
    checked = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    result = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "a: OK\nb: OK\n"
    (tmp_path / "a").write_text("other")
    assert subprocess.run(checked, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_only_files_of_the_commit_are_built(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("This is no checkout.")
    unpack(tmp_path / "checkout")
    listed = ["git", "-C", ROOT, "ls-tree", "-r", "--name-only", "HEAD"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    found = (tmp_path / "checkout").rglob("*")
    found = {path for path in found if path.is_symlink() or path.is_file()}
    assert {str(path.relative_to(tmp_path / "checkout")) for path in found} == {*names}
