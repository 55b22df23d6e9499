"""Arguments that have one meaning are accepted: types of pixels, colors, names of cascades. What is missing is named."""

import sys

import boxsum
import numpy as np
import pytest

RNG = np.random.default_rng(7)
INTEGERS = ["i1", "i2", "i4", "u4", "i8", "u8"]


def noise(dtype, shape=(15, 18)):
    if np.dtype(dtype).kind == "f":
        return RNG.normal(0.5, 0.2, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return RNG.integers(max(limits.min, -1 << 40), min(limits.max, 1 << 40), shape, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_filtered_exactly(dtype):
    image = noise(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, mode="reflect"), (3, 3)).reshape(image.shape + (9,))
    sums = windows.astype(object).sum(-1)
    want = np.array([(2 * s + 9) // 18 for s in sums.flat]).reshape(image.shape)  # rounded, ties up
    for got in (boxsum.blur(image, 1), boxsum.box_filter(image, 3), boxsum.blur(image.astype(image.dtype.newbyteorder(">")), 1)):
        assert got.dtype == image.dtype
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(boxsum.median(image, 3), np.sort(windows, -1)[..., 4])
    np.testing.assert_allclose(boxsum.local_mean(image, 3, dtype="f8"), windows.astype("f8").mean(-1))
    np.testing.assert_allclose(boxsum.local_std(image, 3, dtype="f8"), windows.astype("f8").std(-1))
    np.testing.assert_allclose(boxsum.box_filter(image, 3, mean=False), windows.astype("f8").sum(-1))
    assert boxsum.box_filter(image, 3, dtype="f4").dtype == "f4"
    assert boxsum.guided(image, 1, 100).dtype == boxsum.blur(image, sigma=2).dtype == image.dtype
    blocks = image[:14].reshape(7, 2, 9, 2).transpose(0, 2, 1, 3).reshape(7, 9, 4).astype(object).sum(-1)
    np.testing.assert_array_equal(boxsum.downsample(image[:14], 2), [[(2 * s + 4) // 8 for s in row] for row in blocks])
    there = image.copy()
    assert boxsum.blur(there, 1, out=there) is there
    np.testing.assert_array_equal(there, want)
    stack = np.stack([image, image[::-1]])
    np.testing.assert_array_equal(boxsum.blur(stack, 1, axes=(-2, -1)), [want, want[::-1]])


def test_float16():
    image = noise("f2")
    assert boxsum.blur(image, 2).dtype == np.float16
    np.testing.assert_array_equal(boxsum.blur(image, 2), boxsum.blur(image.astype("f4"), 2).astype("f2"))
    np.testing.assert_array_equal(boxsum.median(image, 3), boxsum.median(image.astype("f4"), 3))
    np.testing.assert_array_equal(boxsum.local_std(image, 3), boxsum.local_std(image.astype("f4"), 3))
    np.testing.assert_array_equal(boxsum.binarize(image, window=5), boxsum.binarize(image.astype("f4"), window=5))
    np.testing.assert_array_equal(boxsum.match(image, image[3:7, 4:9]), boxsum.match(image.astype("f4"), image[3:7, 4:9].astype("f4")))


def test_bool():
    image = noise("u1") > 128
    bits = image.astype("u1")
    np.testing.assert_array_equal(boxsum.local_mean(image, 3), boxsum.local_mean(bits, 3))
    assert boxsum.median(image, 3).dtype == bool
    np.testing.assert_array_equal(boxsum.median(image, 3), boxsum.median(bits, 3) > 0)
    np.testing.assert_array_equal(boxsum.match(image, image[3:7, 4:9]), boxsum.match(bits, bits[3:7, 4:9]))
    with pytest.raises(TypeError, match=r"blur does not support bool, which cannot hold means \(use local_mean"):
        boxsum.blur(image, 1)
    with pytest.raises(TypeError, match="already black and white"):
        boxsum.binarize(image)


def test_what_cannot_be_rounded_back():
    image = np.array([[1 << 60, 1]])
    with pytest.raises(TypeError, match=r"use .astype\(float\) to round them"):
        boxsum.blur(image, 1)
    out = np.empty((2, 2), "i4")
    with pytest.raises(ValueError, match=r"out must have shape .*, got \(2, 2\)"):
        boxsum.blur(np.zeros((3, 3), "i4"), 1, out=out)
    with pytest.raises(TypeError, match="out must have type .*, got int32"):
        boxsum.blur(np.zeros((2, 2), "i2"), 1, out=out)
    holes = np.ones((5, 5), "i2")
    assert (boxsum.blur(holes, 1, mask=holes == 0) == 0).all() and (boxsum.blur(np.ma.masked_array(holes, holes == 1), 1) == 0).all()


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
def test_colors_are_binarized_in_gray(dtype):
    photo = noise(dtype, (15, 18, 3))
    weights = np.array([9798, 19235, 3735])
    if photo.dtype.kind == "u":
        gray = ((photo.astype(np.int64) @ weights + (1 << 14)) >> 15).astype(dtype)
    else:
        gray = (photo.astype("f8") @ weights / 32768).astype(dtype)
    clear = np.dstack([photo, np.zeros_like(photo[..., :1])])
    for image in (photo, clear):
        assert np.mean(boxsum.binarize(image, window=5) == boxsum.binarize(gray, window=5)) > (0.99 if photo.dtype.kind == "f" else 0.9999)
        np.testing.assert_allclose(boxsum.threshold_map(image, "niblack", window=5), boxsum.threshold_map(gray, "niblack", window=5), rtol=1e-4)
    with pytest.raises(ValueError, match=r"image must be gray, of shape \(H, W\), or RGB"):
        boxsum.binarize(photo[..., :2])
    with pytest.raises(TypeError, match="pass white="):
        boxsum.binarize(gray.astype("i4"))
    if dtype == "u1":
        np.testing.assert_array_equal(boxsum.binarize(gray.astype("i4"), window=5, white=255), boxsum.binarize(gray, window=5))
        np.testing.assert_array_equal(boxsum.binarize(gray.astype("i4"), "niblack", window=5), boxsum.binarize(gray, "niblack", window=5))


def test_paths_where_arrays_are_wanted(tmp_path):
    for call in (boxsum.integral, boxsum.volume):
        with pytest.raises(TypeError, match="got the path 'scan.zarr'.*out='table.zarr'"):
            call("scan.zarr")
    with pytest.raises(TypeError, match=r"got the path 'photo.png' \(read the file first\)$"):
        boxsum.blur("photo.png", 3)
    none = str(tmp_path / "none.zarr")
    for call in (
        lambda: boxsum.open(none),
        lambda: boxsum.integral(none, out=str(tmp_path / "table.zarr")),
        lambda: boxsum.volume(none, out=tmp_path / "table.zarr"),
        lambda: boxsum.detect.Cascade(tmp_path / "none.zarr"),
        lambda: boxsum.detect.Cascade(none),
    ):
        with pytest.raises(FileNotFoundError, match="No such file or directory") as found:
            call()
        assert found.value.errno == 2 and found.value.filename == none
    with pytest.raises(IsADirectoryError):
        boxsum.detect.Cascade(tmp_path)
    with pytest.raises(FileNotFoundError, match='no cascade is named "quagga"') as found:
        boxsum.detect.Cascade("quagga")
    assert found.value.errno == 2 and found.value.filename is None


def test_cascades_by_name(tmp_path, monkeypatch):
    import oracle

    path = oracle.cascade("haarcascade_frontalface_alt2")
    wanted = boxsum.detect.Cascade(path)
    (tmp_path / "haarcascade_zebra.xml").write_bytes(open(path, "rb").read())
    monkeypatch.setenv("BOXSUM_CASCADES", str(tmp_path))
    found = boxsum.detect.Cascade("zebra")
    assert found.window == wanted.window and found.features == wanted.features and str(tmp_path) in repr(found)
    assert boxsum.compat.cv2.CascadeClassifier("zebra").empty()  # OpenCV knows no names


MODULES = ["boxsum.detect", "boxsum.compat.scipy", "boxsum.compat.skimage", "boxsum.compat.cv2", "boxsum.compat.cv2.ximgproc"]


@pytest.mark.parametrize("name", MODULES)
def test_modules_export_their_own_names(name):
    __import__(name)
    module = sys.modules[name]
    public = {n for n in vars(module) if not n.startswith("_")}
    assert public == set(module.__all__), f"{name} has {public ^ set(module.__all__)}"
    assert set(dir(module)) >= set(module.__all__)
    if "cv2" not in name:
        assert set(dir(module)) == set(module.__all__)


def test_opencv_behind_the_drop_in():
    real = pytest.importorskip("cv2")
    from boxsum.compat import cv2

    assert cv2.imdecode is real.imdecode and cv2.__version__ == real.__version__ and cv2.error is real.error and cv2.UMat is real.UMat
    assert cv2.COLOR_BGR2GRAY == real.COLOR_BGR2GRAY and cv2.data is real.data and cv2.integral is not real.integral
    assert {"integral", "imread", "error"} <= set(dir(cv2))
    if hasattr(real, "ximgproc"):
        assert cv2.ximgproc.thinning is real.ximgproc.thinning and cv2.ximgproc.guidedFilter is not real.ximgproc.guidedFilter
    for name in ("no_such_name", "__no_such_name__"):
        with pytest.raises(AttributeError, match=name):
            getattr(cv2, name)
    for name in cv2._constants.__all__:
        assert getattr(cv2, name) == getattr(real, name, getattr(cv2, name))


def test_the_drop_in_without_opencv():
    import subprocess

    code = (
        "import sys; sys.modules['cv2'] = None\n"
        "from boxsum.compat import cv2\nimport numpy as np\n"
        "print(cv2.blur(np.ones((3, 3), 'u1'), (3, 3)).sum(), 'integral' in dir(cv2), issubclass(cv2.error, Exception))\n"
        "try: cv2.imread\nexcept AttributeError as e: print(e)\n"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert got[0] == "9 True True" and "'imread': it would be OpenCV's, which is not installed" in got[1]
