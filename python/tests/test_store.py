"""Tables in stores, against NumPy."""

import json
import re
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import boxsum


def brute(image, boxes):
    return np.array([image[y0:y1, x0:x1].astype(object).sum(axis=(0, 1)) for x0, y0, x1, y1 in boxes])


def boxes_in(width, height, n=40, seed=1):
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.integers(0, width + 1, (n, 2))), np.sort(rng.integers(0, height + 1, (n, 2)))
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32", "float64", "bool", "int64"])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_images(tmp_path, dtype, channels):
    image = np.random.default_rng(2).integers(0, 100, (150, 90, *channels)).astype(dtype)
    made = boxsum.integral(image, out=tmp_path / "table.zarr")
    table = boxsum.open(tmp_path / "table.zarr")
    boxes = boxes_in(90, 150)
    assert table.shape == image.shape == made.shape
    assert np.array_equal(table.box_sum(boxes), brute(image, boxes).astype(table.dtype))
    assert np.array_equal(made.box_sum(boxes[0]), table.box_sum(boxes)[0])
    pixels = np.maximum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), 1)
    assert np.allclose(table.box_mean(boxes), brute(image, boxes).astype(float) / pixels.reshape(-1, *(1,) * len(channels)))
    with pytest.raises(ValueError, match="squares"):
        table.box_std(boxes)


def test_squares_and_volumes(tmp_path):
    image = np.random.default_rng(3).integers(0, 256, (130, 70)).astype(np.uint8)
    table = boxsum.integral(image, squares=True, out=str(tmp_path / "squares.zarr"))
    assert np.allclose(table.box_std([5, 6, 60, 101]), image[6:101, 5:60].std())
    assert np.allclose(table.box_var([5, 6, 60, 101]), image[6:101, 5:60].var())
    solid = np.random.default_rng(4).integers(0, 256, (9, 80, 70)).astype(np.uint8)
    table = boxsum.volume(solid, squares=True, out=tmp_path / "volume.zarr")
    assert table.shape == solid.shape
    part = solid[2:8, 6:71, 5:60]
    assert table.box_sum([5, 6, 2, 60, 71, 8]) == part.sum()
    assert np.allclose(table.box_std([5, 6, 2, 60, 71, 8]), part.std())


class Lazy:
    """What dask, xarray and h5py have in common."""

    def __init__(self, array):
        self._array, self.shape, self.dtype = array, array.shape, array.dtype
        self.largest = 0

    def __getitem__(self, where):
        part = self._array[where]
        self.largest = max(self.largest, part.size)
        return part


def test_parts(tmp_path):
    lazy = Lazy(np.random.default_rng(5).integers(0, 256, (2500, 1300)).astype(np.uint8))
    table = boxsum.integral(lazy, out=tmp_path / "table.zarr")
    assert lazy.largest <= 1 << 20
    boxes = boxes_in(1300, 2500)
    assert np.array_equal(table.box_sum(boxes), brute(lazy._array, boxes).astype(np.uint64))


def test_libraries(tmp_path):
    image = np.random.default_rng(6).integers(0, 256, (300, 200)).astype(np.uint8)
    boxes = boxes_in(200, 300)
    want = brute(image, boxes).astype(np.uint64)
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(store=str(tmp_path / "in.zarr"), shape=image.shape, chunks=(64, 64), dtype=image.dtype)
    array[:] = image
    assert np.array_equal(boxsum.integral(array, out=tmp_path / "a.zarr").box_sum(boxes), want)
    assert np.array_equal(boxsum.integral(tmp_path / "in.zarr", out=tmp_path / "b.zarr").box_sum(boxes), want)
    inclusive = zarr.open(str(tmp_path / "a.zarr"))["sum"][:]
    assert np.array_equal(inclusive, image.astype(np.uint64).cumsum(0).cumsum(1))
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(image, chunks=(70, 80))
    assert np.array_equal(boxsum.integral(lazy, out=tmp_path / "c.zarr").box_sum(boxes), want)
    xarray = pytest.importorskip("xarray")
    named = xarray.DataArray(lazy, dims=("y", "x"), coords={"y": np.arange(300)})
    assert np.array_equal(boxsum.integral(named, out=tmp_path / "d.zarr").box_sum(boxes), want)


def test_remote(tmp_path):
    """URLs that fsspec opens: tables are made there, of arrays there, and asked."""
    fsspec = pytest.importorskip("fsspec")
    image = np.random.default_rng(1).integers(0, 256, (70, 90)).astype(np.uint8)
    boxes = [[0, 0, 90, 70], [3, 4, 50, 60]]
    want = [image.sum(), image[4:60, 3:50].sum()]
    table = boxsum.integral(image, out="memory://bucket/table.zarr", squares=True)
    assert table.url == "memory://bucket/table.zarr"
    assert np.array_equal(table.box_sum(boxes), want)
    assert np.array_equal(boxsum.open("memory://bucket/table.zarr").box_sum(boxes), want)
    np.testing.assert_allclose(table.box_std([3, 4, 50, 60]), image[4:60, 3:50].std())
    with pytest.raises(ValueError, match="already exists"):
        boxsum.integral(image, out="memory://bucket/table.zarr")
    for call in (lambda: boxsum.open("memory://bucket/none.zarr"), lambda: boxsum.integral("memory://bucket/none.zarr", out="memory://bucket/other.zarr")):
        with pytest.raises(FileNotFoundError, match="not a Zarr array") as missing:
            call()
        assert missing.value.filename == "memory://bucket/none.zarr" and "python:" not in str(missing.value)
    fs = fsspec.filesystem("memory")
    about = {"zarr_format": 3, "node_type": "array", "shape": [70, 90], "data_type": "uint8", "fill_value": 0, "attributes": {}, "codecs": [{"name": "bytes"}]}
    about["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [70, 90]}}
    about["chunk_key_encoding"] = {"name": "default", "configuration": {"separator": "/"}}
    fs.pipe_file("/bucket/image.zarr/zarr.json", json.dumps(about).encode())
    fs.pipe_file("/bucket/image.zarr/c/0/0", image.tobytes())
    for out in (tmp_path / "local.zarr", "memory://bucket/other.zarr"):
        assert np.array_equal(boxsum.integral("memory://bucket/image.zarr", out=out).box_sum(boxes), want)
    fs.pipe_file("/bucket/table.zarr/sum/c/0/0", b"damaged")
    with pytest.raises(ValueError) as error:
        boxsum.open("memory://bucket/table.zarr").box_sum(boxes)
    assert "127.0.0.1" not in str(error.value)


class Files(BaseHTTPRequestHandler):
    """A web server with a folder: with ranges, without, or with what a test says for a path."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, dict(self.headers), self.client_address))
        path = self.path.partition("?")[0]
        if path in server.odd:
            return server.odd[path](self)
        file = server.folder / path.lstrip("/")
        if not file.is_file():
            return self.reply(404, b"not here")
        data, wanted = file.read_bytes(), re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not wanted or not server.ranges:
            return self.reply(200, data)
        first = int(wanted[1]) if wanted[1] else len(data) - int(wanted[2])
        last = min(int(wanted[2]) if wanted[1] and wanted[2] else len(data) - 1, len(data) - 1)
        if first > last:
            return self.reply(416, b"")
        self.reply(206, data[first : last + 1], {"Content-Range": f"bytes {first}-{last}/{len(data)}"})

    def reply(self, status, data, headers=(), length=True):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if length:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def web(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.daemon_threads = True
    server.folder, server.ranges, server.odd, server.requests = tmp_path, True, {}, []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("ranges", [True, False])
def test_web(tmp_path, web, ranges):
    """Tables and arrays on web servers, with ranges and without."""
    web.ranges = ranges
    image = np.random.default_rng(7).integers(0, 256, (700, 900)).astype(np.uint8)
    boxes = boxes_in(900, 700)
    want = brute(image, boxes).astype(np.uint64)
    boxsum.integral(image, out=tmp_path / "table.zarr")
    table = boxsum.open(web.url + "/table.zarr?token=secret", workers=4)
    assert np.array_equal(table.box_sum(boxes), want)
    assert len({address for _, _, address in web.requests}) < len(web.requests) / 2 or len(web.requests) < 8  # connections are kept
    assert all(path.endswith("?token=secret") for path, _, _ in web.requests)
    (tmp_path / "image.zarr").mkdir()
    about = {"zarr_format": 3, "node_type": "array", "shape": [700, 900], "data_type": "uint8", "fill_value": 0, "attributes": {}, "codecs": [{"name": "bytes"}]}
    about["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [700, 900]}}
    about["chunk_key_encoding"] = {"name": "default", "configuration": {"separator": "."}}
    (tmp_path / "image.zarr" / "zarr.json").write_text(json.dumps(about))
    (tmp_path / "image.zarr" / "c.0.0").write_bytes(image.tobytes())
    assert np.array_equal(boxsum.integral(web.url + "/image.zarr", out=tmp_path / "other.zarr").box_sum(boxes), want)
    with pytest.raises(FileNotFoundError, match="not a Zarr array") as missing:
        boxsum.open(web.url + "/none.zarr")
    assert missing.value.filename == web.url + "/none.zarr" and missing.value.errno == 2
    with pytest.raises((ValueError, OSError)) as error:
        boxsum.open(web.url.replace("://", "://user:secret@") + "/none.zarr?token=secret")
    assert "secret" not in str(error.value)
    assert any(headers.get("Authorization", "").startswith("Basic ") for _, headers, _ in web.requests)
    with pytest.raises(ValueError, match="read-only"):
        boxsum.integral(image, out=web.url + "/new.zarr")


def test_web_odd(tmp_path, web):
    """Servers that send more than was asked for, less, without end, or another part."""
    from boxsum._remote import _Web

    client = _Web()
    client.most = 1 << 20
    sent = {}
    whole = b"0123456789"
    (tmp_path / "ten").write_bytes(whole)
    web.odd["/stream"] = lambda r: r.reply(200, whole, length=False)
    web.odd["/part"] = lambda r: r.reply(206, b"234", {"Content-Range": sent["range"]} if sent["range"] else {})
    web.odd["/short"] = lambda r: (r.reply(200, b"", {"Content-Length": "100"}, length=False), r.wfile.write(b"short"))
    web.odd["/long"] = lambda r: r.reply(200, b"", {"Content-Length": "2000000000000"}, length=False)
    web.odd["/endless"] = lambda r: (r.reply(200, b"", length=False), [r.wfile.write(bytes(1 << 16)) for _ in range(1000)])
    web.odd["/moved"] = lambda r: r.reply(302, b"there", {"Location": "/ten"})
    web.odd["/round"] = lambda r: r.reply(302, b"", {"Location": "/round"})
    web.odd["/away"] = lambda r: r.reply(302, b"", {"Location": "file:///etc/hostname"})
    web.odd["/busy"] = lambda r: r.reply(503, b"later")
    for key in ("ten", "stream", "moved"):
        for web.ranges in (True, False):
            for offset, length, want in ((0, -1, whole), (2, 3, b"234"), (-4, -1, b"6789"), (7, -1, b"789"), (9, 1, b"9")):
                assert client.read(web.url, key, offset, length) == want
            for offset, length in ((-11, -1), (8, 5), (11, -1), (20, 1)):
                with pytest.raises(Exception, match="."):
                    client.read(web.url, key, offset, length)
    assert client.read(web.url, "endless", 2000, 5) == bytes(5)
    for key in ("short", "long", "endless", "round", "away", "busy"):
        for offset in (0, 7, -7):
            with pytest.raises(Exception, match="."):
                client.read(web.url, key, offset, -1)
    with pytest.raises(FileNotFoundError):
        client.read(web.url, "none", 0, -1)
    for sent["range"] in ("bytes 2-4/10", "bytes 2-4/*", "bytes 2-4/5", "bytes 1-3/10", "bytes 2-5/10", "bytes 2-4/4", "bytes */10", "", "lines 2-4/10"):
        for offset, length, good in ((2, 3, ("bytes 2-4/10", "bytes 2-4/*", "bytes 2-4/5")), (2, -1, ("bytes 2-4/*", "bytes 2-4/5")), (-3, -1, ("bytes 2-4/*", "bytes 2-4/5"))):
            if sent["range"] in good:
                assert client.read(web.url, "part", offset, length) == b"234"
            else:
                with pytest.raises(Exception, match="[Rr]ange"):
                    client.read(web.url, "part", offset, length)


def test_web_proxy(tmp_path, web, monkeypatch):
    """The proxy of the machine is asked for what it is set up for."""
    from boxsum._remote import _Web

    (tmp_path / "ten").write_bytes(b"0123456789")
    web.odd["http://far.example/x/ten"] = lambda r: r.reply(200, b"far")
    monkeypatch.setenv("http_proxy", web.url.replace("://", "://me:secret@"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    client = _Web()
    assert client.read("http://far.example/x", "ten", 0, -1) == b"far"
    assert web.requests[-1][1]["Host"] == "far.example" and web.requests[-1][1]["Proxy-Authorization"].startswith("Basic ")
    assert client.read(web.url, "ten", 0, -1) == b"0123456789"
    assert "Proxy-Authorization" not in web.requests[-1][1]


def test_web_secure(tmp_path, web):
    """Certificates are looked at."""
    from boxsum._remote import _Web

    secret = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pem = tmp_path / "pem"
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", pem, "-out", tmp_path / "certificate"], check=True, capture_output=True)  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("OpenSSL is not installed: install Debian's openssl")
    secret.load_cert_chain(tmp_path / "certificate", pem)
    web.socket = secret.wrap_socket(web.socket, server_side=True)
    (tmp_path / "ten").write_bytes(b"0123456789")
    address = f"https://localhost:{web.server_address[1]}"
    with pytest.raises(ssl.SSLError):
        _Web().read(address, "ten", 0, -1)
    with pytest.raises(ValueError, match="self.signed"):
        boxsum.open(address + "/x.zarr")
    client = _Web()
    client._context = ssl.create_default_context(cafile=str(tmp_path / "certificate"))
    for _ in range(3):
        assert client.read(address, "ten", 2, 3) == b"234"
    assert len({where for _, _, where in web.requests}) == 1
    client._context = ssl.create_default_context(cafile=str(tmp_path / "certificate"))
    with pytest.raises(ssl.SSLError):
        client.read(address.replace("localhost", "127.0.0.1"), "ten", 2, 3)  # another name


def test_s3_options():
    """URLs of S3 are those of the command."""
    from boxsum._remote import s3_options

    assert s3_options("s3://bucket/x") == ("s3://bucket/x", {})
    assert s3_options("gs://bucket/x?y") == ("gs://bucket/x?y", {})
    plain, options = s3_options("s3://bucket/x.zarr?endpoint=http://host:1&use_path_style=true&region=eu-west-1")
    assert plain == "s3://bucket/x.zarr"
    assert options == {"endpoint_url": "http://host:1", "client_kwargs": {"region_name": "eu-west-1"}, "config_kwargs": {"s3": {"addressing_style": "path"}}}
    with pytest.raises(ValueError) as error:
        s3_options("s3://bucket/x?key=secret")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "url, shown",
    [
        ("s3://bucket/x.zarr?key=secret", "s3://bucket/x.zarr"),
        ("s3://user:secret@bucket/x", "s3://bucket/x"),
        ("s3://user:sec/ret@bucket/x?a=secret", "s3://bucket/x"),
        ("s3://user:sec@ret@bucket/x", "s3://bucket/x"),
        ("s3://user:sec?ret@bucket/x", "s3://…"),
        ("s3://user:sec#ret@bucket/x", "s3://…"),
        ("gs://bucket/x?sign=a@secret", "gs://bucket/x"),
    ],
)
def test_redacted(url, shown):
    """No part of a password is shown, also of one that is not escaped."""
    from boxsum._remote import redacted

    assert redacted(url) == shown


def test_mistakes(tmp_path):
    image = np.ones((20, 30), np.uint8)
    table = boxsum.integral(image, out=tmp_path / "table.zarr")
    with pytest.raises(ValueError):
        boxsum.integral(image, out=tmp_path / "table.zarr", squares=True)  # another one is there
    with pytest.raises(ValueError, match="are not supported for a table in a store"):
        boxsum.integral(image, out=tmp_path / "x.zarr", tilted=True)
    with pytest.raises(FileNotFoundError) as missing:
        boxsum.open(tmp_path / "none.zarr")
    assert missing.value.filename == str(tmp_path / "none.zarr")
    with pytest.raises(ValueError) as error:
        boxsum.open("s3://user:secret@bucket/x?key=secret")
    assert "secret" not in str(error.value)
    with pytest.raises(ValueError, match="4 numbers"):
        table.box_sum([1, 2, 3])
    (tmp_path / "table.zarr" / "sum" / "c" / "0" / "0").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="damaged|checksum|CRC"):
        boxsum.open(tmp_path / "table.zarr").box_sum([0, 0, 3, 3])
