"""Stores that the library itself has no client for, such as s3://: fsspec's file systems read and write them."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

BUILT_IN = ("file", "http", "https", "mem")


def is_remote(location: str) -> bool:
    """Whether a location is a URL that fsspec has to open."""
    scheme, mark, _ = location.partition("://")
    return bool(mark) and scheme not in BUILT_IN


def redacted(location: str) -> str:
    """A URL without user, password and query."""
    return re.sub(r"^([^:]*://)(?:[^/@]*@)?([^?#]*).*", r"\1\2", location)


def file_system(location: str) -> tuple[Any, str]:
    """The file system of fsspec for a URL, and the path in it."""
    scheme = location.partition("://")[0]
    try:
        import fsspec

        location, options = s3_options(location)
        system, path = fsspec.core.url_to_fs(location, **options)
    except Exception as error:  # of any of its parts; their texts may have what the URL has
        kind = "fsspec and what it needs for it" if isinstance(error, ImportError) else "another URL"
        extra = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}.get(scheme)
        hint = f" (pip install {extra})" if extra and isinstance(error, ImportError) else ""
        raise ValueError(
            f"{redacted(location)}: {scheme}:// takes {kind}{hint}; or make and ask the table with the command of the module cloud, which takes every URL"
        ) from None
    return system, path.rstrip("/")


def s3_options(location: str) -> tuple[str, dict[str, Any]]:
    """A URL of S3 without its query, and what that says, for s3fs: the command takes the same URLs."""
    plain, mark, query = location.partition("?")
    if not mark or not location.startswith("s3://"):
        return location, {}
    said = dict(parse_qsl(query, strict_parsing=True))
    options: dict[str, Any] = {}
    if "endpoint" in said:
        options["endpoint_url"] = said.pop("endpoint")
    if "region" in said:
        options["client_kwargs"] = {"region_name": said.pop("region")}
    if said.pop("use_path_style", "false") == "true":
        options["config_kwargs"] = {"s3": {"addressing_style": "path"}}
    if said.pop("anonymous", "false") == "true":
        options["anon"] = True
    if "profile" in said:
        options["profile"] = said.pop("profile")
    if said:
        raise ValueError("unknown options")
    return plain, options


class Bridge:
    """A server of this process, for this process: the library reads of it what a file system has. It ends with :meth:`close`."""

    def __init__(self, location: str) -> None:
        self._system, self._path = file_system(location)
        self._location, self._failed = redacted(location), ""
        self._token = secrets.token_urlsafe(16)  # other users of the machine do not know it
        bridge = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                bridge._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/{self._token}"

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors in it name what the user has named, and what the file system failed with."""
        try:
            yield
        except ValueError as error:
            text = str(error).replace(self.url, self._location)
            error.args = (f"{text} ({self._failed})" if self._failed else text,)
            raise

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:
            pass

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        status, data, where = 404, b"", ""
        token, _, key = request.path.lstrip("/").partition("/")
        if secrets.compare_digest(token, self._token):
            try:
                status, data, where = self._read(f"{self._path}/{key}", request.headers.get("Range"))
            except FileNotFoundError:
                pass
            except Exception as error:  # its text may have what the URL has
                status, self._failed = 500, type(error).__name__
        request.send_response(status)
        request.send_header("Content-Length", str(len(data)))
        if where:
            request.send_header("Content-Range", where)
        request.end_headers()
        request.wfile.write(data)

    def _read(self, path: str, range_: str | None) -> tuple[int, bytes, str]:
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", range_ or "")
        if wanted is None or wanted.groups() == ("", ""):
            return 200, self._system.cat_file(path), ""
        size = self._system.info(path)["size"]
        if not wanted[1]:
            first, last = max(size - int(wanted[2]), 0), size
        else:
            first, last = int(wanted[1]), min(int(wanted[2]) + 1, size) if wanted[2] else size
        if first >= last:
            return 416, b"", f"bytes */{size}"
        return 206, self._system.cat_file(path, start=first, end=last), f"bytes {first}-{last - 1}/{size}"


class Upload:
    """A temporary folder that becomes a table in a file system: what marks it as one is written last."""

    def __init__(self, location: str) -> None:
        self._system, self._path = file_system(location)
        if self._system.exists(self._path + "/zarr.json"):
            raise ValueError(f"{redacted(location)}: something is there already: remove it, or choose another place")
        self._folder = tempfile.TemporaryDirectory(prefix="boxsum-")
        self.folder = str(Path(self._folder.name) / "table.zarr")

    def __enter__(self) -> Upload:
        return self

    def __exit__(self, failed: Any, *_: Any) -> None:
        try:
            if failed is None:
                self._put()
        finally:
            self._folder.cleanup()

    def _put(self) -> None:
        files = [str(p.relative_to(self.folder)) for p in Path(self.folder).rglob("*") if p.is_file()]
        for name in sorted(files, key=lambda name: name == "zarr.json"):
            self._system.pipe_file(f"{self._path}/{name.replace(os.sep, '/')}", (Path(self.folder) / name).read_bytes())
