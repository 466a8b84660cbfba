"""A stand-in of the Hugging Face hub on 127.0.0.1, which the real huggingface_hub library asks.

It answers the requests that the library makes in the shape that the library reads: facts of a
model, its tree, its files with ETag, commit and ranges, lists, and all requests of an upload by
Git LFS. It keeps repositories in memory.
"""

import base64
import contextlib
import dataclasses
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

TOKEN = "hf_" + "t" * 34  # The token of the stand-in's only user.
USER, GROUP = "me", "our-team"  # The user, and an organization of it.
_REGULAR = (".md", ".json", ".txt", ".yml", ".gitattributes", ".py")  # Kept in Git, not in LFS.
_PAGE = 2  # Models on a page of a list, so that few models need several pages.
_HEAD = re.compile(r"\A---\n(.*?)^---$", re.DOTALL | re.MULTILINE)


@dataclasses.dataclass
class Repository:
    """A model of the stand-in.

    Attributes:
        commits: list of (commit, dict from path to bytes), the newest last.
        tags: What the hub derives from a model's files, such as "marian".
        gated: Whether a user must ask for the files.
        private: Whether only its owner sees it.
    """

    commits: list = dataclasses.field(default_factory=list)
    tags: tuple[str, ...] = ()
    gated: bool = False
    private: bool = False

    def commit(self, files, removed=()):
        """Adds a commit with new, changed and removed files, and returns its name."""
        content = {**(self.commits[-1][1] if self.commits else {}), **files}
        content = {path: data for path, data in content.items() if path not in removed}
        listing = repr(sorted((path, sha256(data)) for path, data in content.items()))
        name = hashlib.sha1(f"{len(self.commits)} {listing}".encode()).hexdigest()
        self.commits.append((name, content))
        return name

    def at(self, revision):
        """Returns (commit, files) of "main" or of a commit; None if it has no such revision."""
        if revision == "main":
            return self.commits[-1] if self.commits else (None, {})
        return next((commit for commit in self.commits if commit[0] == revision), None)


class HubStandIn:
    """Serves `repositories`, a dict from name to `Repository`, until it is closed.

    Attributes:
        address: Such as "http://127.0.0.1:12345", for HF_ENDPOINT.
        requests: list of (method, path with query, dict of headers) of all requests.
        damaged: Paths in repositories whose content is sent with one byte changed.
        cut: dict from a path in repositories to a number of bytes: a download of the whole file
            loses its connection after them. A download that goes on is complete.
        failing: A status that answers all requests; None to answer them.
        closed: Whether it was closed.
        uploads: dict from SHA-256 to bytes of the files that were uploaded to LFS.
    """

    def __init__(self):
        self.repositories, self.requests, self.uploads = {}, [], {}
        self.damaged, self.cut, self.failing, self.closed = set(), {}, None, False
        handler = type("_Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{port}"
        self.content_address = f"http://localhost:{port}"  # To the library, another host.
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    def add(self, name, files, **settings):
        """Adds a repository with one commit of `files`; returns the commit's name."""
        repository = self.repositories.setdefault(name, Repository(**settings))
        return repository.commit(files)

    def environment(self, home, **variables):
        """Returns the variables by which a process asks the stand-in, with its cache in `home`."""
        return {
            "HF_ENDPOINT": self.address,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            **variables,
        }

    def close(self):
        """Stops the server, and answers nothing on connections that are still open."""
        self.closed = True
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def hub_of_process(monkeypatch, home) -> Iterator[HubStandIn]:
    """Yields a stand-in that huggingface_hub asks in this process, with its cache in `home`.

    The library reads its environment when it is imported; later, its constants count.
    """
    from huggingface_hub import constants

    hub = HubStandIn()
    settings = {
        "ENDPOINT": hub.address,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.address + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_TOKEN_PATH": str(home / "token"),
        "HF_HUB_DISABLE_XET": True,
        "HF_HUB_DISABLE_TELEMETRY": True,
        "HF_HUB_OFFLINE": False,
    }
    for name, value in settings.items():
        monkeypatch.setattr(constants, name, value)
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    try:
        yield hub
    finally:
        hub.close()


def sha256(data):
    """Returns the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def git_name(data):
    """Returns the name of bytes as a blob of Git."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def is_regular(path):
    """Returns whether a file is kept in Git itself; all others are in LFS."""
    return path.endswith(_REGULAR)


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    hub: HubStandIn

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._answer(
            (r"/api/models", self._list),
            (r"/api/models/([^/]+/[^/]+)", self._facts),
            (r"/api/models/([^/]+/[^/]+)/revision/([^/]+)", self._facts),
            (r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", self._tree),
            (r"/api/whoami-v2", self._user),
            (r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", self._file),
            (r"/content/([^/]+/[^/]+)/([^/]+)/(.+)", self._content),
        )

    do_HEAD = do_GET

    def do_POST(self):
        self._answer(
            (r"/api/repos/create", self._create),
            (r"/api/validate-yaml", self._validate),
            (r"/api/models/([^/]+/[^/]+)/preupload/([^/]+)", self._upload_modes),
            (r"/api/models/([^/]+/[^/]+)/commit/([^/]+)", self._commit),
            (r"/([^/]+/[^/]+)\.git/info/lfs/objects/batch", self._batch),
            (
                r"/verify/([0-9a-f]+)",
                lambda oid: self._send({}, 200 if oid in self.hub.uploads else 404),
            ),
        )

    def do_PUT(self):
        self._answer((r"/upload/([0-9a-f]+)", self._upload))

    def _answer(self, *routes):
        if self.hub.closed:
            self.close_connection = True
            return None
        self.hub.requests.append((self.command, self.path, dict(self.headers)))
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.hub.failing:
            return self._refuse(self.hub.failing, "", "The stand-in fails")
        address = urlsplit(self.path)
        self.query = parse_qsl(address.query)
        for pattern, answer in routes:
            if match := re.fullmatch(pattern, address.path):
                return answer(*map(unquote, match.groups()))
        return self._refuse(404, "EntryNotFound", "No such route")

    def _send(self, content, status=200, **headers):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _refuse(self, status, code, message):
        self._send({"error": message}, status, X_Error_Code=code, X_Error_Message=message)

    @property
    def _is_user(self):
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _place(self, name, revision="main"):
        """Returns (repository, commit, files); answers the request and returns None otherwise."""
        repository = self.hub.repositories.get(name)
        if repository is None or (repository.private and not self._is_user):
            # The hub does not tell strangers which names exist.
            status = 404 if self._is_user else 401
            return self._refuse(status, "RepoNotFound", "Repository not found")
        if (commit := repository.at(revision)) is None:
            return self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return repository, *commit

    def _model(self, name, with_files):
        repository = self.hub.repositories[name]
        commit, files = repository.at("main")
        head = _HEAD.match(files.get("README.md", b"").decode())
        card = yaml.safe_load(head[1]) if head else {}
        languages = card.get("language") or []
        tags = [*repository.tags, *([languages] if isinstance(languages, str) else languages)]
        tags += [f"license:{card['license']}"] if "license" in card else []
        facts = {
            "_id": "621ffdc136468d709f17b7d8",
            "id": name,
            "modelId": name,
            "author": name.partition("/")[0],
            "sha": commit,
            "lastModified": "2023-08-16T11:27:46.000Z",
            "createdAt": "2022-03-02T23:29:04.000Z",
            "private": repository.private,
            "gated": "manual" if repository.gated else False,
            "disabled": False,
            "downloads": 17,
            "likes": 3,
            "tags": tags,
            "pipeline_tag": card.get("pipeline_tag", "translation"),
            "library_name": card.get("library_name", "transformers"),
        }
        if with_files:
            facts |= {"cardData": card, "siblings": []}
        return facts

    def _facts(self, name, revision="main"):
        if (place := self._place(name, revision)) is None:
            return
        _, commit, files = place
        facts = self._model(name, with_files=True) | {"sha": commit}
        for path, data in sorted(files.items()):
            file = {"rfilename": path}
            if ("blobs", "true") in [(key, value.lower()) for key, value in self.query]:
                file |= {"blobId": git_name(data), "size": len(data)}
                if not is_regular(path):
                    file["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
            facts["siblings"].append(file)
        self._send(facts)

    def _tree(self, name, revision):
        if (place := self._place(name, revision)) is None:
            return
        entries = []
        for path, data in sorted(place[2].items()):
            entry = {"type": "file", "oid": git_name(data), "size": len(data), "path": path}
            if not is_regular(path):
                entry["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": 134}
            entries.append(entry)
        self._send(entries)

    def _list(self):
        wanted = {}
        for key, value in self.query:
            wanted.setdefault(key, []).append(value)
        names = []
        for name in sorted(self.hub.repositories):
            facts = self._model(name, with_files=False)
            tags = {*facts["tags"], facts["pipeline_tag"]}
            if (
                ("author" not in wanted or facts["author"] in wanted["author"])
                and tags >= {*wanted.get("filter", ())}
                and all(part in name for part in wanted.get("search", ()))
                and not facts["private"]
            ):
                names.append(facts)
        start = int(dict(self.query).get("cursor", 0))
        headers = {}
        if start + _PAGE < len(names):
            rest = self.path.split("&cursor=")[0]
            headers["Link"] = f'<{self.hub.address}{rest}&cursor={start + _PAGE}>; rel="next"'
        self._send(names[start : start + _PAGE], **headers)

    def _file(self, name, revision, path):
        if (place := self._place(name, revision)) is None:
            return
        repository, commit, files = place
        if repository.gated and not self._is_user:
            self._refuse(401, "GatedRepo", f"Access to model {name} is restricted.")
        elif path not in files:
            self._refuse(404, "EntryNotFound", "Entry not found")
        elif is_regular(path):
            self._content(name, commit, path, X_Repo_Commit=commit)
        else:  # The hub sends large files from another host.
            data = files[path]
            headers = {
                "Location": f"{self.hub.content_address}/content/{name}/{commit}/{path}",
                "X_Repo_Commit": commit,
                "X_Linked_Etag": f'"{sha256(data)}"',
                "X_Linked_Size": len(data),
            }
            self._send(b"", 302, **headers)

    def _content(self, name, commit, path, **headers):
        data = self.hub.repositories[name].at(commit)[1][path]
        etag = git_name(data) if is_regular(path) else sha256(data)
        headers |= {"ETag": f'"{etag}"', "Accept_Ranges": "bytes"}
        headers |= {"Content_Type": "application/octet-stream"}
        if path in self.hub.damaged:
            data = data[:-1] + bytes([data[-1] ^ 1])
        if begin := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            span = f"bytes {begin[1]}-{len(data) - 1}/{len(data)}"
            self._send(data[int(begin[1]) :], 206, **headers, Content_Range=span)
        elif self.command == "GET" and path in self.hub.cut:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: self.hub.cut[path]])
            self.close_connection = True
        else:
            self._send(data, **headers)

    def _user(self):
        if self._is_user:
            self._send({"type": "user", "name": USER, "orgs": [{"name": GROUP, "type": "org"}]})
        else:
            self._refuse(401, "", "Invalid credentials in Authorization header")

    def _create(self):
        settings = json.loads(self.body)
        name = f"{settings.get('organization') or USER}/{settings['name']}"
        if not self._is_user:
            return self._refuse(401, "", "Invalid username or password.")
        if name.partition("/")[0] not in (USER, GROUP):
            return self._refuse(
                403, "", f"You don't have the rights to create a model under {name}"
            )
        address = {"url": f"{self.hub.address}/{name}", "name": name, "id": "6890"}
        if name in self.hub.repositories:
            return self._send(address | {"error": "You already created this model repo"}, 409)
        private = settings.get("private", settings.get("visibility") == "private")
        self.hub.repositories[name] = Repository(private=private)
        return self._send(address)

    def _validate(self):
        text = json.loads(self.body)["content"]
        errors = [] if _HEAD.match(text) else [{"message": "empty or missing yaml metadata"}]
        self._send({"errors": errors, "warnings": []})

    def _may_write(self, name):
        """Returns whether the user may write to a repository; answers the request otherwise."""
        if self._is_user and name.partition("/")[0] in (USER, GROUP):
            return self._place(name) is not None
        self._refuse(403, "", "Forbidden: pass a token with the right to write")
        return False

    def _upload_modes(self, name, _revision):
        if self._may_write(name):
            modes = [
                {
                    "path": file["path"],
                    "uploadMode": "regular" if is_regular(file["path"]) else "lfs",
                    "shouldIgnore": False,
                    "oid": None,
                }
                for file in json.loads(self.body)["files"]
            ]
            self._send({"files": modes, "commitOid": None})

    def _batch(self, name):
        if self._may_write(name):
            objects = []
            for file in json.loads(self.body)["objects"]:
                oid = file["oid"]
                file["authenticated"] = True
                if oid not in self.hub.uploads:
                    file["actions"] = {
                        "upload": {"href": f"{self.hub.address}/upload/{oid}", "header": {}},
                        "verify": {"href": f"{self.hub.address}/verify/{oid}", "header": {}},
                    }
                objects.append(file)
            self._send({"transfer": "basic", "objects": objects})

    def _upload(self, oid):
        if sha256(self.body) != oid:
            self._refuse(400, "", "The content does not match its SHA-256")
        else:
            self.hub.uploads[oid] = self.body
            self._send({})

    def _verify(self, oid):
        self._send({}, 200 if oid in self.hub.uploads else 404)

    def _commit(self, name, _revision):
        if not self._may_write(name):
            return None
        files, removed = {}, []
        for line in self.body.splitlines():
            part = json.loads(line)
            value = part["value"]
            if part["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif part["key"] == "deletedFile":
                removed.append(value["path"])
            elif part["key"] == "lfsFile":
                if value["oid"] not in self.hub.uploads:
                    return self._refuse(400, "", f"No LFS object {value['oid']}")
                files[value["path"]] = self.hub.uploads[value["oid"]]
        commit = self.hub.repositories[name].commit(files, removed)
        address = f"{self.hub.address}/{name}/commit/{commit}"
        answer = {"success": True, "commitOid": commit, "commitUrl": address, "hookOutput": ""}
        return self._send(answer)
