"""A folder with a web page that translates: the `.tflite` file, LiteRT.js, and a page around them.

The page's own files are in `web/`. All that it says of the translator it reads from the archive at
the file's end, so that another `.tflite` file may take its place later.
"""

import shutil
from importlib import resources
from pathlib import Path

from kformer.export.litert_js import copy_litert_js, find_litert_js
from kformer.files import replacing
from kformer.pocket_manifest import read_manifest

MODEL = "translator.tflite"
PAGE = ("index.html", "page.css", "page.js", "worker.js", "archive.js", "LICENSE")


def export_web_page(tflite, folder, litert_js=None):
    """Writes a folder for any web server; what is in it fetches nothing from anywhere else.

    Args:
        tflite: A file that `kformer.export.export_tflite` wrote.
        folder: A new folder.
        litert_js: The folder of the installed npm package `@litertjs/core`; by default it is looked
            for in `node_modules`, here and above.

    Returns:
        `Path` of the folder.

    Raises:
        FileNotFoundError: The `.tflite` file or LiteRT.js is missing.
        IsADirectoryError: There is such a folder.
        ValueError: The file is no translator that takes bytes; or LiteRT.js is not what it should
            be.
    """
    tflite, folder, litert_js = Path(tflite), Path(folder), find_litert_js(litert_js)
    manifest = read_manifest(tflite)
    if manifest["format"] < 2:
        raise ValueError(
            "A web page needs a .tflite file that takes text; export it again. "
            f"Received: format={manifest['format']} in {str(tflite)!r}."
        )
    page = resources.files("kformer.export") / "web"
    with replacing(folder) as temporary:
        temporary.mkdir()
        for name in PAGE:
            (temporary / name).write_bytes((page / name).read_bytes())
        copy_litert_js(litert_js, temporary / "litert")
        shutil.copyfile(tflite, temporary / MODEL)
    return folder
