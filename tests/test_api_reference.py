"""`make docs` builds the API reference without a warning, and it names all that is public."""

import os
import re

import pytest

import kformer
import kformer.export
import kformer.training
from support.processes import run_python


@pytest.mark.prove
def test_every_public_name_is_in_the_api_reference(tmp_path):
    program = ("-W", "error", "-m", "support.api_reference", tmp_path)
    result = run_python(*program, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert result.returncode == 0, result.stderr
    assert "Warn" not in result.stderr
    for package in (kformer, kformer.training, kformer.export):
        page = tmp_path / f"{package.__name__.replace('.', '/')}.html"
        named = re.findall(r'<section id="(\w+)">', page.read_text("utf-8"))
        assert set(package.__all__) <= set(named), package
