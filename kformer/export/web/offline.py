"""Files for offline use of the web page: a service worker with checksums, and a web manifest."""

import hashlib
import json

from kformer.files import json_text

SERVICE_WORKER, WEB_MANIFEST = "service-worker.js", "page.webmanifest"
ICON_SIZES = (192, 512)  # Pixels; browsers require both for installation.


def write_web_manifest(folder, source_language=None, target_language=None):
    """Writes `page.webmanifest`, with which a browser offers to install the page.

    Args:
        folder: The page's folder.
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


def write_service_worker(folder, template):
    """Writes `service-worker.js`, which lists all other files of `folder`, so it is written last.

    Args:
        folder: The page's folder.
        template: The text of `web/service-worker.js`, whose `FILES` and `VERSION` are empty.
    """
    files = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    listed = json.dumps(files, indent=2)
    version = hashlib.sha256((listed + template).encode()).hexdigest()[:16]
    template = template.replace("FILES = {}", f"FILES = {listed}")
    template = template.replace('VERSION = ""', f"VERSION = {json.dumps(version)}")
    (folder / SERVICE_WORKER).write_text(template, "utf-8")
