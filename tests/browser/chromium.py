"""A real Chromium for tests, and the npm packages that it is driven by and shows."""

import contextlib
import http.server
import json
import shutil
import subprocess
import threading
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 300  # Seconds, of npm.


class NotHere(Exception):
    """Why there is no browser to test with."""


def installed_packages(folder, listed=HERE / "package.json") -> Path:
    """Installs the packages that `listed` names in `folder`, unless they are; returns node_modules.

    Raises:
        NotHere: They cannot be installed.
    """
    wanted = listed.read_text("utf-8")
    done = folder / "installed.json"
    if not done.is_file() or done.read_text("utf-8") != wanted:
        if not shutil.which("npm"):
            raise NotHere("npm is not installed: apt-get install npm.")
        (folder / "package.json").write_text(wanted, "utf-8")
        install = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"]
        try:
            result = subprocess.run(
                [*install, "--ignore-scripts", "--fetch-retries=1"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotHere(f"npm installed nothing in {PATIENCE} seconds.") from None
        if result.returncode:
            raise NotHere(f"npm cannot install the packages: {result.stderr.strip()[-300:]}")
        done.write_text(wanted, "utf-8")
    return folder / "node_modules"


class Chromium:
    """A headless Chromium with one page; see `browser.mjs` for what it can do.

    Raises:
        NotHere: There is none, or no Node.js.
    """

    def __init__(self, packages):
        path = shutil.which("chromium") or shutil.which("google-chrome")
        if not path:
            raise NotHere("Chromium is not installed: apt-get install chromium.")
        if not shutil.which("node"):
            raise NotHere("Node.js is not installed: apt-get install nodejs.")
        self._process = subprocess.Popen(
            ["node", HERE / "browser.mjs", path, packages / "playwright-core"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    @property
    def process(self):
        """The id of the process that drives it."""
        return self._process.pid

    def __call__(self, name, *arguments):
        """Does one thing, and returns what came of it."""
        self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=60)


@contextlib.contextmanager
def served(folder):
    """Yields the address of a server of the files in `folder`."""
    handler = partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass
