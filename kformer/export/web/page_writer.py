"""A folder with a web page that translates: the `.tflite` file, LiteRT.js, the page and its module.

The page shows metadata from the `.tflite` file. For offline use it has a web manifest and a service
worker, which stores all files in the browser by their checksums, so another `.tflite` file needs
another export.
"""

import hashlib
import json
import shutil
from importlib import resources
from pathlib import Path

from kformer.export.web.litert_js import copy_litert_js, find_litert_js
from kformer.export.web.npm_package import MANIFEST, UNUSED_BY_PAGE, npm_package
from kformer.files import Publication, check_writable, json_text, part_of
from kformer.kinds import TRANSLATOR
from kformer.near_names import with_near_names
from kformer.pocket.metadata import check_kind, check_whole, read_metadata
from kformer.text.paragraphs.abbreviations import read_abbreviations

SERVICE_WORKER, WEB_MANIFEST = "service-worker.js", "page.webmanifest"
ICON_SIZES = (192, 512)  # Pixels; browsers require both for installation.


def write_web_manifest(
    folder: Path, source_language: str | None = None, target_language: str | None = None
):
    """Writes `page.webmanifest`, with which a browser offers to install the page.

    Args:
        source_language, target_language: Codes of the languages, or None.
    """
    name = "Translator"
    if source_language and target_language:
        name = f"{name} {source_language} \u2192 {target_language}"
    icons = [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml"}]
    icons += [
        {"src": f"icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png"}
        for size in ICON_SIZES
    ]
    content = {
        "id": "./",
        "name": name,
        "short_name": name,
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "theme_color": "#3257d5",
        "background_color": "#f4f5f9",
        "icons": icons,
    }
    (folder / WEB_MANIFEST).write_text(json_text(content), "utf-8")


def write_service_worker(folder: Path, template: str):
    """Writes `service-worker.js`, which lists the other files of `folder`, so it is written last.

    Files that are for Node.js and npm alone are not listed.
    """
    files = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).as_posix() not in UNUSED_BY_PAGE
    }
    listed = json.dumps(files, indent=2)
    version = hashlib.sha256((listed + template).encode()).hexdigest()[:16]
    template = template.replace("FILES = {}", f"FILES = {listed}")
    template = template.replace('VERSION = ""', f"VERSION = {json.dumps(version)}")
    (folder / SERVICE_WORKER).write_text(template, "utf-8")


MODEL = "translator.tflite"
LANGUAGES = "languages.js"  # Abbreviations, for abbreviations.js.
PAGE_SUFFIXES = {".html", ".css", ".js", ".ts", ".svg", ".png"}


@with_near_names
def export_web_page(
    tflite: str | Path,
    folder: str | Path,
    litert_js: str | Path | None = None,
    publication: Publication | None = None,
) -> Path:
    """Writes a folder for any web server; the page fetches nothing from other servers.

    The folder is also an npm package: its module `kformer.js` translates in other pages, in
    bundlers and in Node.js. The page of a translator with several languages has a menu of its
    directions.

    Args:
        tflite: A file that `kformer.export.export_tflite` wrote.
        folder: A new folder.
        litert_js: Folder of the installed npm package `@litertjs/core`; by default it is searched
            in `node_modules`, here and above.
        publication: `kformer.files.Publication` that the page is part of; if None, its own.

    Returns:
        `Path` of the folder.

    Raises:
        FileNotFoundError: The `.tflite` file or LiteRT.js is missing.
        IsADirectoryError: The folder exists.
        ValueError: The `.tflite` file holds no translator, or does not take text; or the LiteRT.js
            folder is wrong.
    """
    tflite, folder = Path(tflite), Path(folder)
    check_writable(folder)
    metadata = read_metadata(tflite)
    check_kind(tflite, metadata, TRANSLATOR)
    check_whole(tflite, metadata)
    if metadata["format"] < 2:
        raise ValueError(
            "A web page needs a .tflite file that takes text; export it again. "
            f"Received: format={metadata['format']} in {str(tflite)!r}."
        )
    litert_js = find_litert_js(litert_js)
    page = resources.files("kformer.export.web")
    with part_of(publication) as together, together.writing(folder) as temporary:
        temporary.mkdir()
        for file in page.iterdir():
            is_of_page = Path(file.name).suffix in PAGE_SUFFIXES or file.name == "LICENSE"
            if is_of_page and file.name != SERVICE_WORKER:
                (temporary / file.name).write_bytes(file.read_bytes())
        data = json.dumps(read_abbreviations(), ensure_ascii=False)
        (temporary / LANGUAGES).write_text(f"export const LANGUAGES = {data};\n", "utf-8")
        copy_litert_js(litert_js, temporary / "litert")
        shutil.copyfile(tflite, temporary / MODEL)
        languages = [metadata.get(f"{side}_language") for side in ("source", "target")]
        write_web_manifest(temporary, *languages)
        (temporary / MANIFEST).write_text(json_text(npm_package(metadata)), "utf-8")
        write_service_worker(temporary, (page / SERVICE_WORKER).read_text("utf-8"))
    return folder
