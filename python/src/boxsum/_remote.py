"""Stores on other machines, which the library reads through this module.

Web servers are read by Python's own client; other URLs, such as s3://, are read and written
by fsspec's file systems.
"""

from __future__ import annotations

import base64
import ctypes
import http.client
import itertools
import os
import re
import ssl
import tempfile
import threading
import urllib.request
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit, urlunsplit

from . import _native

BUILT_IN = ("file", "http", "https", "mem", "python")  # the last is for a Bridge


def is_remote(location: str) -> bool:
    """Report whether a location is a URL for fsspec."""
    scheme, mark, _ = location.partition("://")
    return bool(mark) and scheme not in BUILT_IN


def redacted(location: str) -> str:
    """Return a URL without its user, password and query.

    This includes what would be a password if a / or ? in it is not escaped.
    """
    scheme, mark, rest = location.partition("://")
    shown = re.split(r"[?#]", rest, maxsplit=1)[0]
    if "@" in shown:
        shown = shown.rpartition("@")[2]
    elif "@" in rest and ":" in shown.partition("/")[0]:
        shown = "…"
    return scheme + mark + shown


def file_system(location: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it."""
    scheme = location.partition("://")[0]
    try:
        import fsspec

        location, options = s3_options(location)
        system, path = fsspec.core.url_to_fs(location, **options)
    except Exception as error:  # may come from any part; its message may contain the URL
        need = "opening it needs fsspec and the package for this scheme" if isinstance(error, ImportError) else "fsspec does not accept this URL"
        extra = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}.get(scheme)
        hint = f" (pip install {extra})" if extra and isinstance(error, ImportError) else ""
        raise ValueError(
            f"{redacted(location)}: {need}{hint}"
        ) from None
    return system, path.rstrip("/")


def s3_options(location: str) -> tuple[str, dict[str, Any]]:
    """Return an S3 URL without its query, and the query's options for s3fs.

    The command accepts the same URLs.
    """
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
        raise ValueError(f"options must be endpoint, region, use_path_style, anonymous or profile, got {', '.join(sorted(said))}")
    return plain, options


def located(error: OSError, url: str, location: str) -> OSError:
    """Return an error about a store with its location as the file name, instead of a URL in the message."""
    if error.filename is not None:
        return error
    return OSError(error.errno, str(error.strerror).removeprefix(f"{url}: ").replace(url, location), location)


class Bridge:
    """A store in an fsspec file system, readable by the library for as long as this object lives."""

    def __init__(self, location: str) -> None:
        self._system, self._path = file_system(location)
        self._location, self._failed = redacted(location), ""
        number = next(_numbers)
        _bridges[number] = self
        self.url = f"python://{number}/store"

    @contextmanager
    def named(self) -> Iterator[None]:
        """Make errors name the user's URL and the error of the file system."""
        try:
            yield
        except ValueError as error:
            text = str(error).replace(self.url, self._location)
            error.args = (f"{text} ({self._failed})" if self._failed else text,)
            raise
        except OSError as error:
            raise located(error, self.url, self._location) from None

    def read(self, key: str, offset: int, length: int) -> bytes:
        """Return a part of an object in the store."""
        path = f"{self._path}/{key}"
        try:
            if offset == 0 and length < 0:
                return self._system.cat_file(path)
            size = self._system.info(path)["size"]
            first = size + offset if offset < 0 else offset
            last = size if offset < 0 or length < 0 else offset + length
            if not 0 <= first <= last <= size:
                raise _Short(f"the object has {size} bytes, fewer than requested")
            return self._system.cat_file(path, start=first, end=last)
        except (FileNotFoundError, _Short):
            raise
        except Exception as error:  # its message may contain the URL
            self._failed = type(error).__name__
            raise OSError("the object cannot be read") from None


_numbers = itertools.count(1)
_bridges: weakref.WeakValueDictionary[int, Bridge] = weakref.WeakValueDictionary()


class _Short(Exception):
    """The wrong bytes, or fewer than requested, were received."""


class _Web:
    """An HTTP client that keeps connections and uses the machine's proxies."""

    most = (1 << 31) - 1  # maximum bytes of an object
    wait = 60.0  # seconds to wait for the next bytes
    _piece = 64 << 20  # most bytes to allocate before they arrive
    _redirects = 10
    _idle = 32  # maximum idle connections

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: list[tuple[tuple[str, str, str], http.client.HTTPConnection]] = []
        self._context: ssl.SSLContext | None = None

    def read(self, base: str, key: str, offset: int, length: int) -> bytes:
        """Return a part of an object, as ``boxsum_reader`` in python/clib/boxsum.h describes."""
        parts = urlsplit(base)
        url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + "/" + quote(key, safe="/!$&'()*+,;=:@~"), parts.query, ""))
        headers = {"Accept-Encoding": "identity", "User-Agent": "boxsum"}
        if offset < 0:
            headers["Range"] = f"bytes={offset}"
        elif length >= 0:
            headers["Range"] = f"bytes={offset}-{offset + length - 1}"
        elif offset > 0:
            headers["Range"] = f"bytes={offset}-"
        for _ in range(self._redirects + 1):
            parts = urlsplit(url)
            place, connection, response = self._ask(parts, headers)
            moved = response.headers.get("Location") if response.status in (301, 302, 303, 307, 308) else None
            try:
                data = b"" if moved else self._part(response, offset, length)
            except BaseException:
                connection.close()
                raise
            self._keep(place, connection, response)
            if moved is None:
                return data
            url = urljoin(url, moved)
            if urlsplit(url).scheme not in ("http", "https"):
                raise _Short("the server redirects to a URL that is not http or https")
        raise _Short("too many redirects")

    def _ask(self, parts: Any, headers: dict[str, str]) -> tuple[tuple[str, str, str], http.client.HTTPConnection, http.client.HTTPResponse]:
        if parts.username is not None:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers = {**headers, "Authorization": "Basic " + base64.b64encode(user.encode()).decode()}
        host = parts.netloc.rpartition("@")[2]
        proxy = "" if urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(parts.scheme, "")
        place = (parts.scheme, host, proxy)
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        through, secret = urlsplit(""), {}
        if proxy:
            through = urlsplit(proxy if "://" in proxy else "http://" + proxy)
            if through.username is not None:
                user = f"{unquote(through.username)}:{unquote(through.password or '')}"
                secret = {"Proxy-Authorization": "Basic " + base64.b64encode(user.encode()).decode()}
            if parts.scheme == "http":
                target, headers = urlunsplit(("http", host, parts.path or "/", parts.query, "")), {**headers, **secret, "Host": host}
        while True:
            connection = self._kept(place)
            known = connection is not None
            if connection is None and proxy:
                connection = self._connection(parts.scheme, through.netloc.rpartition("@")[2], tunnel=(host, secret) if parts.scheme == "https" else None)
            elif connection is None:
                connection = self._connection(parts.scheme, host)
            try:
                connection.request("GET", target, headers=headers)
                return place, connection, connection.getresponse()
            except BaseException as error:
                connection.close()
                if not known or not isinstance(error, (http.client.HTTPException, OSError)):
                    raise  # otherwise retry: the server may have closed a kept connection

    def _connection(self, scheme: str, host: str, tunnel: tuple[str, dict[str, str]] | None = None) -> http.client.HTTPConnection:
        if scheme == "http":
            return http.client.HTTPConnection(host, timeout=self.wait)
        with self._lock:
            if self._context is None:
                self._context = ssl.create_default_context()
                paths = ssl.get_default_verify_paths()
                if os.name != "nt" and not (paths.cafile or paths.capath):  # a Python on macOS without certificates
                    try:
                        import certifi

                        self._context.load_verify_locations(certifi.where())
                    except ImportError:
                        pass
        connection = http.client.HTTPSConnection(host, timeout=self.wait, context=self._context)
        if tunnel:
            connection.set_tunnel(tunnel[0], headers=tunnel[1])
        return connection

    def _kept(self, place: tuple[str, str, str]) -> http.client.HTTPConnection | None:
        with self._lock:
            for i in reversed(range(len(self._connections))):
                if self._connections[i][0] == place:
                    return self._connections.pop(i)[1]
        return None

    def _keep(self, place: tuple[str, str, str], connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        if not response.isclosed() and response.length is not None and response.length <= 1 << 16:
            response.read()  # drain an unused page
        if not response.isclosed() or response.will_close:
            connection.close()
            return
        with self._lock:
            self._connections.append((place, connection))
            ended = self._connections.pop(0)[1] if len(self._connections) > self._idle else None
        if ended:
            ended.close()

    def _part(self, response: http.client.HTTPResponse, offset: int, length: int) -> bytes:
        size: int | None = response.length
        want: int | None = -offset if offset < 0 else length if length >= 0 else None
        if response.status in (404, 410):
            raise FileNotFoundError
        if response.status == 206:
            want = covered(response.headers.get("Content-Range", ""), offset, want)
        elif response.status == 200:  # a server without ranges sends everything: cut out the part
            skip = offset
            if offset < 0:
                if size is None:  # the end is known only when it arrives
                    data = self._take(response, None)
                    if len(data) < -offset:
                        raise _Short(f"the object has {len(data)} bytes, want at least {-offset}")
                    return data[offset:]
                skip = size + offset
            if skip < 0 or size is not None and skip > size:
                raise _Short(f"the object has {size} bytes, fewer than requested")
            while skip:
                some = len(response.read(min(skip, 1 << 20)))
                if not some:
                    raise _Short("the object ends before the requested part")
                skip -= some
                size = None if size is None else size - some
            if want is None:
                want = size
        else:
            raise _Short(f"{response.status} {response.reason}")
        return self._take(response, want)

    def _take(self, response: http.client.HTTPResponse, want: int | None) -> bytes:
        if want is not None and want > self.most:
            raise _Short(f"the object is too large, want at most {self.most} bytes")
        parts, left = [], self.most + 1 if want is None else want
        while left:
            some = response.read(min(left, self._piece))
            if not some:
                break
            parts.append(some)
            left -= len(some)
        if left and want is not None:
            raise _Short(f"the object is truncated: {left} of {want} bytes are missing")
        if not left and want is None:
            raise _Short(f"the object is too large, want at most {self.most} bytes")
        return parts[0] if len(parts) == 1 else b"".join(parts)


def covered(header: str, offset: int, want: int | None) -> int:
    """Return the number of bytes in a Content-Range, which must match the request.

    Examples are "bytes 5-9/20", or a star if the server does not know the size.
    """
    found = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", header.strip(), re.ASCII)
    first, last = (int(found[1]), int(found[2])) if found else (0, -1)
    if found is None or last < first or found[3] != "*" and last >= int(found[3]):
        raise _Short(f"invalid Content-Range {header[:80]!r}")
    to_end = found[3] == "*" or last == int(found[3]) - 1
    if offset >= 0 and first != offset or want is not None and last - first + 1 != want or (offset < 0 or want is None) and not to_end:
        raise _Short(f"the server sent Content-Range {header[:80]!r}, which was not requested")
    return last - first + 1


_web = _Web()


def _read(store: bytes, key: bytes, offset: int, length: int, answer: int) -> None:
    """Read for the library, which calls this in any of its threads."""
    data, failed, missing = b"", None, 0
    try:
        place, name = store.decode(), key.decode()
        if place.startswith("python://"):
            data = _bridges[int(place[len("python://") :].partition("/")[0])].read(name, offset, length)
        else:
            data = _web.read(place, name, offset, length)
    except FileNotFoundError:
        missing = 1
    except BaseException as error:
        failed = said(error)
    _native.load().boxsum_answer(answer, data, len(data), failed, missing)


def said(error: BaseException) -> bytes:
    """Return the message of an error, without text that may contain parts of a URL."""
    if isinstance(error, ssl.SSLError):
        text = getattr(error, "verify_message", "") or error.reason or "TLS failed"
    elif isinstance(error, OSError):
        text = error.strerror or (str(error) if error.args == ("cannot be read",) else type(error).__name__)
    else:
        text = str(error) if isinstance(error, _Short) else type(error).__name__
    return text.replace("\0", "").encode("utf-8", "replace")


_told: Any = None  # the library instance that has the function
_function: Any = None


def ready() -> None:
    """Register the reader with the library."""
    global _told, _function
    library = _native.load()
    if _told is library:
        return
    if _function is None:
        _function = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(_read)
    library.boxsum_answer.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_int]
    library.boxsum_answer.restype = None
    library.boxsum_read_by.restype = None
    library.boxsum_read_by(_function)
    _told = library


class Upload:
    """A temporary folder that is uploaded to a file system as a table.

    The file that marks it as a table is written last.
    """

    def __init__(self, location: str) -> None:
        self._system, self._path = file_system(location)
        if self._system.exists(self._path + "/zarr.json"):
            raise ValueError(f"{redacted(location)} already exists (remove it, or choose another place)")
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
