"""A folder with a web page that translates: the `.tflite` file, LiteRT.js, and a page around them.

The page's own files are in `web/`. It reads what it shows of the translator from the archive at the
file's end. Its service worker keeps all files in the browser, by their checksums; so another
`.tflite` file needs another page.
"""

import shutil
from importlib import resources
from pathlib import Path

from kformer.export.web.litert_js import copy_litert_js, find_litert_js
from kformer.export.web.offline import (
    ICON_SIZES,
    SERVICE_WORKER,
    write_service_worker,
    write_web_manifest,
)
from kformer.files import check_writable, part_of
from kformer.pocket.metadata import read_manifest

MODEL = "translator.tflite"
PAGE = (
    "index.html",
    "page.css",
    *("page.js", "facts.js", "lines.js", "offline.js"),
    *("worker.js", "archive.js", "flags.js"),
    "icon.svg",
    *(f"icon-{size}.png" for size in ICON_SIZES),
    "LICENSE",
)


def export_web_page(tflite, folder, litert_js=None, publication=None) -> Path:
    """Writes a folder for any web server; what is in it fetches nothing from anywhere else.

    Args:
        tflite: A file that `kformer.export.export_tflite` wrote.
        folder: A new folder.
        litert_js: The folder of the installed npm package `@litertjs/core`; by default it is looked
            for in `node_modules`, here and above.
        publication: `kformer.files.Publication` with whose files this appears; alone if None.

    Returns:
        `Path` of the folder.

    Raises:
        FileNotFoundError: The `.tflite` file or LiteRT.js is missing.
        IsADirectoryError: There is such a folder.
        ValueError: The file is no translator that takes bytes; or LiteRT.js is not what it should
            be.
    """
    tflite, folder, litert_js = Path(tflite), Path(folder), find_litert_js(litert_js)
    check_writable(folder)
    manifest = read_manifest(tflite)
    if manifest["format"] < 2:
        raise ValueError(
            "A web page needs a .tflite file that takes text; export it again. "
            f"Received: format={manifest['format']} in {str(tflite)!r}."
        )
    page = resources.files("kformer.export.web") / "page"
    with part_of(publication) as together, together.writing(folder) as temporary:
        temporary.mkdir()
        for name in PAGE:
            (temporary / name).write_bytes((page / name).read_bytes())
        copy_litert_js(litert_js, temporary / "litert")
        shutil.copyfile(tflite, temporary / MODEL)
        languages = [manifest.get(f"{side}_language") for side in ("source", "target")]
        write_web_manifest(temporary, *languages)
        write_service_worker(temporary, (page / SERVICE_WORKER).read_text("utf-8"))
    return folder
