"""Tables in stores, against NumPy."""

import json

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
    with pytest.raises(ValueError, match="there already"):
        boxsum.integral(image, out="memory://bucket/table.zarr")
    with pytest.raises(ValueError, match="memory://bucket/none.zarr: .*no Zarr"):
        boxsum.open("memory://bucket/none.zarr")
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


def test_mistakes(tmp_path):
    image = np.ones((20, 30), np.uint8)
    table = boxsum.integral(image, out=tmp_path / "table.zarr")
    with pytest.raises(ValueError):
        boxsum.integral(image, out=tmp_path / "table.zarr", squares=True)  # another one is there
    with pytest.raises(ValueError, match="leave out"):
        boxsum.integral(image, out=tmp_path / "x.zarr", tilted=True)
    with pytest.raises(ValueError):
        boxsum.open(tmp_path / "none.zarr")
    with pytest.raises(ValueError) as error:
        boxsum.open("s3://user:secret@bucket/x?key=secret")
    assert "secret" not in str(error.value)
    with pytest.raises(ValueError, match="4 numbers"):
        table.box_sum([1, 2, 3])
    (tmp_path / "table.zarr" / "sum" / "c" / "0" / "0").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="damaged|checksum|CRC"):
        boxsum.open(tmp_path / "table.zarr").box_sum([0, 0, 3, 3])
