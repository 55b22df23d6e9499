"""Blurs, local statistics and thresholds beside their definitions and Doxa."""

import json
import math
import os
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import layouts

import boxsum

PIXELS = ("u1", "u2", "f4", "f8")
BORDERS = ("reflect101", "reflect", "replicate", "constant", "wrap", "clip")
METHODS = ("sauvola", "niblack", "wolf", "nick", "trsingh", "phansalkar", "bradley", "meanc", "isauvola", "su", "otsu")


def indices(n, before, after, border):
    """Which pixel of a line stands at each place of it and its surroundings, -1 for none."""
    at = np.arange(-before, n + after)
    if border == "replicate":
        return at.clip(0, n - 1)
    if border == "wrap":
        return at % n
    if border == "reflect":
        at = at % (2 * n)
        return np.where(at < n, at, 2 * n - 1 - at)
    if border == "reflect101":
        period = max(1, 2 * n - 2)
        at = at % period
        return np.where(at < n, at, period - at)
    return np.where((at < 0) | (at >= n), -1, at)


def windows(image, size, border, value=0, shift=(0, 0)):
    """The windows round all pixels as (H, W, C, h, w), and which of their pixels are there."""
    image = image.reshape(image.shape[:2] + (-1,))
    (w, h), (dx, dy) = size, shift
    left, up = w // 2 - dx, h // 2 - dy
    rows, columns = indices(image.shape[0], up, h - 1 - up, border), indices(image.shape[1], left, w - 1 - left, border)
    there = (rows >= 0)[:, None] & (columns >= 0)[None]
    padded = np.where(there[..., None], image[rows][:, columns], image.dtype.type(value))
    view = np.lib.stride_tricks.sliding_window_view
    counted = there[..., None] if border == "clip" else np.ones_like(there[..., None])
    return view(padded, (h, w), (0, 1)).astype("f8"), np.broadcast_to(view(counted, (h, w), (0, 1)), view(padded, (h, w), (0, 1)).shape)


def statistics(image, size, border, value=0, shift=(0, 0)):
    """Sums, means and variances of the windows round all pixels."""
    values, there = windows(image, size, border, value, shift)
    n = there.sum((3, 4))
    sums = (values * there).sum((3, 4))
    mean = sums / n
    variance = ((values - mean[..., None, None]) ** 2 * there).sum((3, 4)) / n
    return tuple(a.reshape(image.shape) for a in (sums, mean, variance))


def scaled(image):
    """An image whose floats are no whole numbers."""
    return image / np.float32(7) if image.dtype == np.float32 else image / 7 if image.dtype.kind == "f" else image


@st.composite
def cases(draw):
    dtype = draw(st.sampled_from(PIXELS))
    array, values = draw(layouts(dtype, side=20))
    size = draw(st.tuples(st.integers(1, 30), st.integers(1, 30)))
    return array, values, size, draw(st.sampled_from(BORDERS)), draw(st.sampled_from([None, 1, 3]))


@settings(max_examples=150, deadline=None)
@given(cases())
def test_definitions(case):
    array, image, size, border, workers = case
    named = {"border": border, "workers": workers, "value": 3}
    if 0 in image.shape:
        assert boxsum.blur(array, 1, **named).shape == image.shape
        return
    before = image.copy()
    sums, mean, variance = statistics(image, size, border, 3)
    got = boxsum.box_filter(array, size, **named)
    assert got.dtype == image.dtype and got.shape == image.shape and got.flags.c_contiguous
    close = {"rtol": 1e-5, "atol": 1e-5} if image.dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-10}
    if image.dtype.kind == "u":
        n = np.rint(sums / np.where(mean == 0, 1, mean))
        n = np.where(mean == 0, 1, n)
        np.testing.assert_array_equal(got, (2 * sums + n) // (2 * n))
        np.testing.assert_array_equal(boxsum.box_filter(array, size, mean=False, **named), sums)
    else:
        np.testing.assert_allclose(got, mean, **close)
        np.testing.assert_allclose(boxsum.box_filter(array, size, mean=False, **named), sums, rtol=1e-10, atol=1e-9)
    for dtype in ("f4", "f8"):
        loose = {"rtol": 2e-6, "atol": 1e-5} if dtype == "f4" else {"rtol": 1e-10, "atol": 1e-7}
        deviation = np.sqrt(variance)
        np.testing.assert_allclose(boxsum.local_mean(array, size, dtype=dtype, **named), mean, **loose)
        np.testing.assert_allclose(boxsum.local_std(array, size, dtype=dtype, **named), deviation, **loose)
        np.testing.assert_allclose(boxsum.local_var(array, size, dtype=dtype, **named), variance, rtol=loose["rtol"], atol=loose["atol"])
        both = boxsum.local_mean_std(array, size, dtype=dtype, **named)
        np.testing.assert_array_equal(both[0], boxsum.local_mean(array, size, dtype=dtype, **named))
        np.testing.assert_array_equal(both[1], boxsum.local_std(array, size, dtype=dtype, **named))
        contrast = (image - mean) / np.maximum(deviation, 2)
        np.testing.assert_allclose(boxsum.normalize(array, size, floor=2, dtype=dtype, **named), contrast, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(image, before)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_medians_and_entropies(case):
    array, image, size, border, workers = case
    size = (min(size[0], 9), min(size[1], 9))
    if 0 in image.shape:
        return
    values, there = windows(image, size, border, 3)
    values = np.where(there, values, np.nan).reshape(values.shape[:3] + (-1,))
    ordered = np.sort(values, -1)
    middle = (np.isfinite(values).sum(-1, keepdims=True) - 1) // 2
    want = np.take_along_axis(ordered, middle, -1)[..., 0].reshape(image.shape)
    np.testing.assert_array_equal(boxsum.median(array, size, border=border, value=3, workers=workers), want)
    if image.dtype == np.uint8:
        want = np.empty(values.shape[:3])
        for at in np.ndindex(want.shape):
            counts = np.unique(values[at][np.isfinite(values[at])], return_counts=True)[1]
            p = counts / counts.sum()
            want[at] = -(p * np.log2(p)).sum()
        np.testing.assert_allclose(boxsum.entropy(array, size, border=border, value=3), want.reshape(image.shape), atol=1e-5)


@pytest.mark.parametrize("dtype", PIXELS)
def test_radii(dtype):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 200, (23, 31, 2)).astype(dtype)
    for border in BORDERS:
        np.testing.assert_array_equal(boxsum.blur(image, (3, 1), border=border), boxsum.box_filter(image, (7, 3), border=border))
        for kind in ("u1", "u2", "u4", "i8"):
            radii = rng.integers(0, 6, (23, 31)).astype(kind)
            got = boxsum.blur(image, radii, border=border)
            for r in range(6):
                here = radii == r
                want = boxsum.blur(image, r, border=border)[here]
                if image.dtype.kind == "u":
                    np.testing.assert_array_equal(got[here], want)
                else:
                    np.testing.assert_allclose(got[here], want, rtol=1e-6)
    both = np.zeros((23, 31, 2), np.uint16) + np.array([3, 1], np.uint16)
    np.testing.assert_allclose(boxsum.blur(image, both), boxsum.blur(image, (3, 1)), rtol=1e-6)


def test_gaussians():
    rng = np.random.default_rng(0)
    noise = rng.random((200, 230)).astype(np.float32)
    ndimage = pytest.importorskip("scipy.ndimage")
    for sigma in (3, (10, 4)):
        theirs = ndimage.gaussian_filter(noise, sigma if sigma == 3 else sigma[::-1], mode="mirror")
        assert all(np.abs(boxsum.blur(noise, sigma=sigma, passes=n) - theirs).mean() < 0.002 for n in (3, 4))
    np.testing.assert_array_equal(boxsum.blur(noise, 15, gaussian=True), boxsum.blur(noise, sigma=((31**2 - 1) / 12) ** 0.5))
    image = (noise * 255).astype(np.uint8)
    want = boxsum.blur(image, sigma=5)
    assert boxsum.blur(image, sigma=5, out=image) is image
    np.testing.assert_array_equal(image, want)


@pytest.mark.parametrize("dtype", PIXELS)
def test_guides(dtype):
    rng = np.random.default_rng(3)
    image = scaled(rng.integers(0, 200, (30, 40)).astype(dtype))
    for border in ("reflect101", "clip"):
        for guide in (None, rng.random((30, 40)).astype("f4") * 50, rng.integers(0, 99, (30, 40, 3)).astype("u1")):
            got = boxsum.guided(image, 3, 30.0, guide=guide, border=border)
            assert got.dtype == image.dtype
            np.testing.assert_allclose(got, by_definition(image, image if guide is None else guide, 7, 30.0, border), rtol=1e-4, atol=0.501 if image.dtype.kind == "u" else 1e-3)


def by_definition(image, guide, size, epsilon, border):
    """The guided filter, with means of windows."""

    def mean(a):
        return statistics(np.asarray(a, "f8"), (size, size), border)[1]

    p = image.astype("f8")
    g = guide.astype("f8").reshape(guide.shape[:2] + (-1,))
    n = g.shape[2]
    covariance = np.empty(p.shape + (n,))
    matrix = np.empty(p.shape + (n, n))
    middle = mean(g)
    for i in range(n):
        covariance[..., i] = mean(g[..., i] * p) - middle[..., i] * mean(p)
        for j in range(n):
            matrix[..., i, j] = mean(g[..., i] * g[..., j]) - middle[..., i] * middle[..., j] + epsilon * (i == j)
    a = np.linalg.solve(matrix, covariance[..., None])[..., 0]
    b = mean(p) - (a * middle).sum(-1)
    return (mean(a) * g).sum(-1) + mean(b)


@pytest.mark.parametrize("dtype", PIXELS)
def test_smaller_and_best(dtype):
    rng = np.random.default_rng(4)
    image = rng.integers(0, 200, (33, 41, 3)).astype(dtype)
    got = boxsum.downsample(image, (4, 3))
    assert got.shape == (11, 11, 3) and got.dtype == image.dtype
    for y, x in ((0, 0), (10, 10), (4, 7)):
        block = image[3 * y : 3 * y + 3, 4 * x : 4 * x + 4].astype("f8")
        want = block.mean((0, 1))
        np.testing.assert_allclose(got[y, x], np.floor(want + 0.5) if image.dtype.kind == "u" else want, rtol=1e-6)
    boxes, means = boxsum.brightest(image, (5, 4), 6)
    assert len(boxes) == 6 and list(means) == sorted(means, reverse=True)
    table = boxsum.integral(image)
    np.testing.assert_allclose(boxsum.box_mean(table, boxes).mean(-1), means)
    every = np.array([[x, y, x + 5, y + 4] for y in range(30) for x in range(37)])
    np.testing.assert_allclose(means[0], boxsum.box_mean(table, every).mean(-1).max())
    np.testing.assert_allclose(boxsum.brightest(image, (5, 4), darkest=True)[1][0], boxsum.box_mean(table, every).mean(-1).min())
    assert len(boxsum.brightest(image, 50)[0]) == 0


@pytest.mark.parametrize("dtype", PIXELS)
def test_out(dtype):
    rng = np.random.default_rng(5)
    image = rng.integers(0, 200, (40, 50)).astype(dtype)
    want = boxsum.blur(image, 4)
    room = np.full((44, 60), 9, dtype)
    out = room[2:42, 3:53]
    assert boxsum.blur(image, 4, out=out) is out
    np.testing.assert_array_equal(out, want)
    outside = room.copy()
    outside[2:42, 3:53] = 9
    assert (outside == 9).all()
    room[2:42, 3:53] = image
    for function, arguments in ((boxsum.blur, (4,)), (boxsum.median, (3,)), (boxsum.guided, (3, 50.0))):
        want = function(image, *arguments)
        out[...] = image
        function(out, *arguments, out=out)
        np.testing.assert_array_equal(out, want)
    with pytest.raises(ValueError, match="part of the image's memory"):
        boxsum.blur(room[:40, :50], 4, out=room[1:41, :50])
    with pytest.raises(ValueError, match="shape"):
        boxsum.blur(image, 4, out=np.empty((40, 51), dtype))
    with pytest.raises(TypeError, match="out must have type .*, got int8"):
        boxsum.blur(image, 4, out=np.empty((40, 50), "i1"))
    with pytest.raises(TypeError, match="out must be an array"):
        boxsum.blur(image, 4, out=[1])
    with pytest.raises(ValueError, match="read-only"):
        frozen = np.empty((40, 50), dtype)
        frozen.flags.writeable = False
        boxsum.blur(image, 4, out=frozen)
    with pytest.raises(ValueError, match="memory layout"):
        boxsum.blur(image, 4, out=np.empty((50, 40), dtype).T)
    mean, std = np.empty((40, 50), "f4"), np.empty((40, 50), "f4")
    got = boxsum.local_mean_std(image, 9, out=(mean, std))
    assert got[0] is mean and got[1] is std
    np.testing.assert_array_equal(std, boxsum.local_std(image, 9, dtype="f4"))
    with pytest.raises(ValueError, match="overlap|memory"):
        boxsum.local_mean_std(image, 9, out=(mean, mean))
    page = np.empty((40, 50), np.uint8)
    assert boxsum.binarize(image, white=255, out=page) is page


def test_in_place_pages():
    image = np.random.default_rng(6).integers(0, 256, (61, 83)).astype(np.uint8)
    for method in METHODS:
        want = boxsum.binarize(image, method, window=15)
        work = image.copy()
        boxsum.binarize(work, method, window=15, out=work)
        np.testing.assert_array_equal(work, want)
        assert set(np.unique(want)) <= {0, 255}
        if method != "isauvola":
            level = boxsum.threshold_map(image, method, window=15, dtype="f8")
            np.testing.assert_array_equal(np.where(image > level, 255, 0), want)
    with pytest.raises(ValueError, match="isauvola"):
        boxsum.threshold_map(image, "isauvola")


@pytest.mark.parametrize("dtype", PIXELS)
def test_sauvola_of_all_types(dtype):
    rng = np.random.default_rng(7)
    white = {"u1": 255, "u2": 65535}.get(dtype, 1.0)
    image = (rng.random((50, 60)) * white).astype(dtype)
    _, mean, variance = statistics(image, (9, 9), "clip")
    want = mean * (1 + 0.3 * (np.sqrt(variance) / (white * 128 / 255) - 1))
    np.testing.assert_allclose(boxsum.threshold_map(image, window=9, k=0.3), want, rtol=1e-5)
    got = boxsum.binarize(image, window=9, k=0.3) == 255
    sure = np.abs(image - want) > 1e-6 * white
    np.testing.assert_array_equal(got[sure], (image > want)[sure])


DOXA = """
import json, sys
import doxapy, numpy as np
names = dict(sauvola="SAUVOLA", niblack="NIBLACK", wolf="WOLF", nick="NICK", trsingh="TRSINGH", phansalkar="PHANSALKAR",
             bradley="BRADLEY", isauvola="ISAUVOLA", su="SU", otsu="OTSU")
pages = np.load(sys.argv[1])
done = {}
for i, (key, method, settings) in enumerate(json.load(open(sys.argv[2]))):
    image = pages[key]
    out = np.empty_like(image)
    binarization = doxapy.Binarization(getattr(doxapy.Binarization.Algorithms, names[method]))
    binarization.initialize(image)
    binarization.to_binary(out, settings)
    done[str(i)] = out
np.savez(sys.argv[3], **done)
"""


def test_doxa(tmp_path):
    python = os.environ.get("BOXSUM_DOXA_PYTHON")
    if not python:
        pytest.skip("BOXSUM_DOXA_PYTHON must name a Python that has doxapy; make test-python sets one up")
    rng = np.random.default_rng(8)
    pages = {}
    for i in range(12):
        h, w = rng.integers(3, 70, 2)
        page = rng.integers(0, 256, (h, w)) if i % 3 else 200 - 40 * (rng.random((h, w)) < 0.1) + rng.integers(0, 9, (h, w)) - np.arange(w)
        pages[f"p{i}"] = page.astype(np.uint8)
    runs = []
    for key in pages:
        for method in METHODS:
            if method == "meanc":
                continue
            for window, k in ((int(rng.integers(2, 40)), 0.2), (15, float(np.round(rng.random() - 0.3, 2)))):
                settings = {"window": window}
                if method not in ("bradley", "su", "otsu"):
                    settings["k"] = k
                runs.append((key, method, settings))
    np.savez(tmp_path / "pages.npz", **pages)
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([python, "-c", DOXA, tmp_path / "pages.npz", tmp_path / "runs.json", tmp_path / "done.npz"], check=True, env=environment, timeout=300)
    done = np.load(tmp_path / "done.npz")
    for i, (key, method, settings) in enumerate(runs):
        np.testing.assert_array_equal(boxsum.binarize(pages[key], method, **settings), done[str(i)], err_msg=f"{method} {settings} of {pages[key].shape}")


IMAGE = np.zeros((8, 9), np.uint8)


@pytest.mark.parametrize(
    ("function", "arguments", "named", "error", "text"),
    [
        (boxsum.blur, (IMAGE,), {}, TypeError, "radius or sigma .* must be given, got neither"),
        (boxsum.blur, (IMAGE, 1), {"sigma": 2}, TypeError, "only one of radius and sigma may be given, got 1 and 2"),
        (boxsum.blur, (IMAGE, -1), {}, ValueError, "radius must be .*, got -1"),
        (boxsum.blur, (IMAGE, 1.5), {}, TypeError, "radius must be an integer"),
        (boxsum.blur, (IMAGE, (1, 2, 3)), {}, ValueError, "one number, or two"),
        (boxsum.blur, (IMAGE, 1 << 40), {}, ValueError, "radius must be"),
        (boxsum.blur, (IMAGE, 1), {"border": "mirror"}, ValueError, "mirror"),
        (boxsum.blur, (IMAGE, 1), {"border": 4}, TypeError, "border must be 'reflect101'"),
        (boxsum.blur, (IMAGE, 1), {"border": "constant", "value": 300}, ValueError, "border value is 300"),
        (boxsum.blur, (IMAGE, 1), {"border": "constant", "value": "x"}, TypeError, "value must be a number"),
        (boxsum.blur, (IMAGE, 1), {"workers": 0}, ValueError, "workers must be .*, got 0"),
        (boxsum.blur, (IMAGE,), {"sigma": -1}, ValueError, "-1"),
        (boxsum.blur, (IMAGE,), {"sigma": float("nan")}, ValueError, "NaN"),
        (boxsum.blur, (IMAGE,), {"sigma": 1, "passes": 9}, ValueError, "passes must be .*, got 9"),
        (boxsum.blur, (IMAGE, IMAGE[:4]), {}, ValueError, "radii"),
        (boxsum.blur, (IMAGE, IMAGE.astype("f4")), {}, TypeError, "radius must be an array of integers, got float32"),
        (boxsum.blur, (IMAGE, IMAGE.astype("i4") - 1), {}, ValueError, "got -1 to"),
        (boxsum.blur, (IMAGE.astype("c8"), 1), {}, TypeError, "pixels of complex64 cannot be filtered"),
        (boxsum.blur, (IMAGE > 0, 1), {}, TypeError, "blur does not support bool"),
        (boxsum.blur, (IMAGE[0], 1), {}, ValueError, "image must have shape"),
        (boxsum.blur, (np.zeros((2, 3, 4, 5), "u1"), 1), {}, ValueError, "image must have shape"),
        (boxsum.blur, (None, 1), {}, TypeError, "did imread find the file"),
        (boxsum.median, (np.ma.masked_equal(IMAGE, 0), 1), {}, ValueError, "masked"),
        (boxsum.box_filter, (IMAGE, 0), {}, ValueError, "window must be from 1 to .*, got 0"),
        (boxsum.box_filter, (IMAGE, (3, -1)), {}, ValueError, "window must be from 1 to .*, got -1"),
        (boxsum.box_filter, (IMAGE, 3), {"shift": (2, 0)}, ValueError, "keeps the pixel inside the window"),
        (boxsum.box_filter, (IMAGE, 3), {"dtype": "i4"}, TypeError, "dtype must be float32 or float64, got int32"),
        (boxsum.box_filter, (IMAGE, 3), {"mean": False, "dtype": "u1"}, TypeError, "dtype must be uint32, float32 or float64 for sums, got uint8"),
        (boxsum.box_filter, (IMAGE, 9000), {"mean": False, "dtype": "u4"}, TypeError, "too small for windows"),
        (boxsum.local_mean, (IMAGE, 3), {"dtype": "u1"}, TypeError, "float32 or float64"),
        (boxsum.local_mean, (IMAGE, 3), {"out": np.zeros((8, 9), "f4"), "dtype": "f8"}, TypeError, "out must have type float64 like dtype, got float32"),
        (boxsum.local_mean_std, (IMAGE, 3), {"out": IMAGE}, ValueError, "a pair"),
        (boxsum.normalize, (IMAGE, 3), {"floor": -1}, ValueError, "minimum deviation"),
        (boxsum.guided, (IMAGE, 3, -1), {}, ValueError, "epsilon"),
        (boxsum.guided, (IMAGE, 3, 1), {"guide": IMAGE[:5]}, ValueError, "guide is"),
        (boxsum.guided, (np.zeros((4, 5, 2), "u1"), 3, 1), {}, ValueError, "1 or 3 channels"),
        (boxsum.entropy, (IMAGE.astype("f4"), 3), {}, ValueError, r"range=\(low, high\)"),
        (boxsum.entropy, (IMAGE, 3), {"range": (3, 3)}, ValueError, "with low < high"),
        (boxsum.downsample, (IMAGE, 0), {}, ValueError, "factor must be .*, got 0"),
        (boxsum.brightest, (IMAGE, 0), {}, ValueError, "size must be .*, got 0"),
        (boxsum.brightest, (IMAGE, 2, -1), {}, ValueError, "count must be .*, got -1"),
        (boxsum.binarize, (IMAGE, "otsy"), {}, ValueError, "otsy"),
        (boxsum.binarize, (IMAGE, 3), {}, TypeError, "method must be the name"),
        (boxsum.binarize, (IMAGE,), {"window": 0}, ValueError, "window must be from 1 to .*, got 0"),
        (boxsum.binarize, (IMAGE,), {"k": float("nan")}, ValueError, "k must be a finite number, got nan"),
        (boxsum.binarize, (IMAGE,), {"k": float("inf")}, ValueError, "K is"),
        (boxsum.binarize, (IMAGE,), {"k": "x"}, TypeError, "k must be a number"),
        (boxsum.binarize, (IMAGE,), {"r": -1}, ValueError, "r must be greater than 0, got -1"),
        (boxsum.binarize, (IMAGE, "su"), {"min_n": -1}, ValueError, "min_n must be .*, got -1"),
        (boxsum.binarize, (IMAGE, "su"), {"border": "wrap"}, ValueError, "want clip for su"),
        (boxsum.binarize, (IMAGE.astype("u2"), "su"), {}, TypeError, "uint8"),
        (boxsum.binarize, (np.zeros((4, 5, 2), "u1"),), {}, ValueError, "image must be gray"),
        (boxsum.binarize, (IMAGE,), {"out": np.zeros((8, 9), "f4")}, TypeError, "out must have type uint8, got float32"),
    ],
)
def test_errors(function, arguments, named, error, text):
    with pytest.raises(error, match=text):
        function(*arguments, **named)


class OnDevice:
    """What looks like an array of a GPU."""

    shape, dtype = (8, 9), np.dtype("u1")

    @property
    def __cuda_array_interface__(self):
        raise AssertionError("it was read")

    def __array__(self, *arguments, **named):
        raise AssertionError("it was copied")


class Claimed(OnDevice):
    __cuda_array_interface__ = {"shape": (8, 9), "typestr": "|u1", "data": (4096, False), "version": 3, "strides": None, "stream": None}


def test_arrays_of_a_device_are_never_copied():
    for function, more in ((boxsum.median, (3,)), (boxsum.guided, (3, 1.0)), (boxsum.entropy, (3,)), (boxsum.downsample, (2,)), (boxsum.normalize, (3,))):
        with pytest.raises(TypeError, match="array must be in host memory"):
            function(Claimed(), *more)
    with pytest.raises(TypeError, match="array must be in host memory"):
        boxsum.blur(IMAGE, 3, out=Claimed())


def test_large_results_have_no_gaps():
    image = np.zeros((1500, 1501), np.uint8)
    for _ in range(3):
        assert boxsum.blur(image, 3).flags.c_contiguous
        assert boxsum.local_mean(image, 3).flags.c_contiguous


def test_nan_touches_its_own_windows():
    image = np.ones((30, 40), np.float32)
    image[10, 20] = np.nan
    for function in (boxsum.local_mean, boxsum.local_std):
        bad = np.isnan(function(image, 5))
        assert bad[8:13, 18:23].all() and bad.sum() == 25


def usual_images():
    """Images of every type, contiguous or not, of which the extension module filters some."""
    rng = np.random.default_rng(5)
    for dtype in (*PIXELS, "i2", "?", ">u2", "f2"):
        for shape in ((9, 13), (9, 13, 3), (9, 13, 1), (1, 1), (0, 4), (3, 0), (5,), (3, 40, 40)):
            image = (rng.random(shape) * 200).astype(dtype)
            yield image
            if image.ndim > 1:
                yield from (image.T, image[:, ::2], image[::-1])


def answer(function, *arguments, **named):
    """What a call returns or raises."""
    try:
        result = function(*arguments, **named)
    except Exception as wrong:
        return type(wrong), str(wrong)
    return result.dtype, result.shape, result.tobytes()


@pytest.mark.filterwarnings("ignore:an array of shape")
@pytest.mark.parametrize("name", ["blur", "box_filter"])
def test_usual_calls(name):
    """The extension module runs usual calls: their results and errors are those of the function in Python."""
    short = getattr(boxsum, name)

    def long(*arguments, **named):
        return short(*arguments, mask=None, **named)  # an argument that the extension module leaves to Python

    sizes = [0, 1, 2, 7, (1, 2), (3, 0), -1, True, 1.5, "3", 1 << 29, 1 << 40, np.int64(2), [1, 2], (1, 2, 3), None]
    options = [{}, *({"border": b} for b in (*BORDERS, "mirror", None, 3)), *({"workers": n} for n in (None, 1, 2, 0, -1, 1.0, "1"))]
    for image in usual_images():
        for size in sizes if image.shape == (9, 13) else (1, (1, 2)):
            for named in options:
                assert answer(short, image, size, **named) == answer(long, image, size, **named), (image.dtype, image.shape, size, named)
        key = "radius" if name == "blur" else "window"
        assert answer(short, image, **{key: 1}) == answer(long, image, **{key: 1})
        for out in (image.copy(), np.zeros_like(image, order="F"), np.zeros((9, 13), "u1"), np.zeros((9, 12), image.dtype), [1], 3, image[:]):
            twice = [o.copy(order="K") if isinstance(o, np.ndarray) and o is not image else o for o in (out, out)]
            assert answer(short, image, 1, out=twice[0]) == answer(long, image, 1, out=twice[1])


def test_usual_calls_write_to_out():
    image = np.random.default_rng(6).integers(0, 256, (40, 50), dtype=np.uint8)
    want = boxsum.blur(image, 3, mask=None)
    out = np.zeros((40, 60), np.uint8)
    assert boxsum.blur(image, 3, out=out[:, 5:55], workers=1).base is out
    np.testing.assert_array_equal(out[:, 5:55], want)
    assert not out[:, :5].any() and not out[:, 55:].any()
    frozen = np.zeros((40, 50), np.uint8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        boxsum.blur(image, 3, out=frozen)
    with pytest.raises(ValueError, match="memory"):
        boxsum.blur(image[:-1], 3, out=image[1:])
    assert boxsum.blur(image, 3, out=image) is image
    np.testing.assert_array_equal(image, want)
    large = np.zeros((2000, 1500), np.uint8)
    assert boxsum.blur(large, 3).shape == boxsum.box_filter(large, 3).shape == large.shape


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(9, 7), (40, 33, 3), (0, 5), (1, 1)])
def test_usual_calls(shape, dtype):
    """Usual calls run without Python code, which a border value requires, and return the same."""
    a = (np.random.default_rng(3).random(shape) * 250).astype(dtype)
    calls = [(f, {"window": w}) for f in (boxsum.box_filter, boxsum.local_mean, boxsum.local_std, boxsum.local_var) for w in (3, (5, 2))]
    calls += [(boxsum.blur, {"radius": 2}), *((boxsum.blur, {"sigma": s}) for s in (0, 1, 0.8, 7.5))]
    for function, size in calls:
        for more in ({}, {"border": "clip"}, {"workers": 2}):
            want = function(a, **size, value=0, **more)
            made = [function(a, **size, **more), function(a, **size, out=np.empty_like(want), **more), function(a[::-1][::-1], **size, **more)]
            if "sigma" not in size:
                made.append(function(a, *size.values(), **more))
            for got in made:
                assert got.dtype == want.dtype and got.shape == want.shape
                assert got.tobytes() == want.tobytes(), (function.__name__, size, more)
    for wrong in ({"sigma": -1}, {"sigma": -0.5}, {"sigma": math.nan}, {"sigma": math.inf}, {"sigma": 1, "border": "none"}, {"sigma": 1, "workers": 0}, {"sigma": 1, "radius": 1}):
        with pytest.raises((TypeError, ValueError)) as short:
            boxsum.blur(a, **wrong)
        with pytest.raises(short.type) as long:
            boxsum.blur(a, **wrong, value=0)
        assert str(long.value) == str(short.value)
    with pytest.raises(TypeError, match="out"):
        boxsum.local_mean(a, 3, out=np.empty(shape, "i4"))
