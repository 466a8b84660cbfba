"""Runs the teaching notebook and stores its outputs in it: `make notebook`."""

import hashlib
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from kformer.files import replacing
from support import REPOSITORY

PATH = REPOSITORY / "kformer" / "model" / "transformer.ipynb"


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Returns the cells of a notebook that hold code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def digest_of_code(notebook: nbformat.NotebookNode) -> str:
    """Returns a digest of all code, by which outputs of older code are recognised."""
    code = "\0".join(cell.source for cell in code_cells(notebook))
    return hashlib.sha256(code.encode()).hexdigest()


def text_of(cell: nbformat.NotebookNode) -> str:
    """Returns what a cell has printed."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def run(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Runs all cells of a notebook in a new kernel.

    Args:
        path: The notebook, which stays as it is.
        folder: The kernel's working directory.

    Returns:
        The notebook with its outputs, without what libraries have logged.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell has failed.
    """
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    options = {"timeout": 7200, "record_timing": False, "coalesce_streams": True}
    client = NotebookClient(notebook, resources=resources, **options)
    client.execute()
    for cell in code_cells(notebook):
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    # The kernel adds its version, which changes nothing for a reader.
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata["kformer"] = {"code": digest_of_code(notebook)}
    return notebook


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as kernel_folder:
        finished = run(PATH, Path(kernel_folder))
    with replacing(PATH) as temporary:
        nbformat.write(finished, temporary)
