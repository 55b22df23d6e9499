"""Drop-in filters, thresholds, templates and cascades beside the originals."""

import itertools
import platform
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import cascade, pixels

import boxsum.detect
from boxsum.compat import cv2 as ours
from boxsum.compat import scipy as ours_scipy
from boxsum.compat import skimage as ours_skimage

cv2 = pytest.importorskip("cv2")
filters = pytest.importorskip("skimage.filters")
ndimage = pytest.importorskip("scipy.ndimage")

BORDERS = (cv2.BORDER_CONSTANT, cv2.BORDER_REPLICATE, cv2.BORDER_REFLECT, cv2.BORDER_REFLECT_101)


def some(shape, dtype, seed=0):
    """Pixels whose sums OpenCV has room for."""
    if np.dtype(dtype) in (np.int32, np.int64):
        return np.random.default_rng(seed).integers(-30000, 30000, shape).astype(dtype)
    if np.dtype(dtype).kind == "f":
        return (np.random.default_rng(seed).random(shape) * 200 - 50).astype(dtype)
    return pixels(shape, dtype, seed)


@st.composite
def images(draw, dtypes, channels=(None, 1, 3)):
    shape = (draw(st.integers(1, 30)), draw(st.integers(1, 30)))
    c = draw(st.sampled_from(channels))
    return some(shape if c is None else (*shape, c), draw(st.sampled_from(dtypes)), draw(st.integers(0, 1000)))


def same(got, want, exact=True, tolerance=2e-6):
    assert got.shape == want.shape and got.dtype == want.dtype
    if exact:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(want).max(initial=0))))


def near(got, want, image):
    """The same, but for what OpenCV rounds in float32: means of 16 bits and more, and floats that become integers."""
    if want.dtype.kind == "f" or image.dtype == want.dtype == np.uint8:
        same(got, want, want.dtype.kind != "f")
    else:
        assert got.dtype == want.dtype and got.shape == want.shape and np.abs(got.astype(np.int64) - want.astype(np.int64)).max() <= 1


@settings(max_examples=100, deadline=None)
@given(images(("u1", "u2", "i2", "i4", "f4", "f8")), st.tuples(st.integers(0, 9), st.integers(0, 9)), st.sampled_from(BORDERS), st.data())
def test_blur(image, half, border, data):
    size = (2 * half[0] + 1, 2 * half[1] + 1)
    anchor = data.draw(st.sampled_from([(-1, -1), (0, 0), (size[0] - 1, -1)]))
    integers = image.dtype.kind != "f"
    got, theirs = (o.blur(image, size, anchor=anchor, borderType=border) for o in (ours, cv2))
    if integers:
        total = cv2.boxFilter(image.astype("f8"), -1, size, anchor=anchor, normalize=False, borderType=border)
        n = size[0] * size[1]
        np.testing.assert_array_equal(got, np.floor((2 * total + n) / (2 * n)))
    near(got, theirs, image)
    for depth in (-1, cv2.CV_16S, cv2.CV_32F, cv2.CV_64F):
        for normalize in (True, False):
            named = {"anchor": anchor, "normalize": normalize, "borderType": border}
            near(ours.boxFilter(image, depth, size, **named), cv2.boxFilter(image, depth, size, **named), image)
            if image.dtype != np.int32 and depth != cv2.CV_16S and (1 not in image.shape[:2] or anchor == (-1, -1)):  # OpenCV makes the kernel smaller there
                theirs = cv2.sqrBoxFilter(image, depth, size, anchor=anchor, normalize=normalize, borderType=border)
                same(ours.sqrBoxFilter(image, depth, size, anchor=anchor, normalize=normalize, borderType=border), theirs, False, 1e-5)


@pytest.mark.parametrize("size", [2, 4, 6, 8, 10, 16, 18])
def test_even_kernels_are_right(size):
    """Where OpenCV is not: ours is the nearest, ties up."""
    image = pixels((40, 50), "u1")
    total = cv2.boxFilter(image.astype("f8"), -1, (size, size), normalize=False)
    n = size * size
    np.testing.assert_array_equal(ours.blur(image, (size, size)), np.floor((2 * total + n) / (2 * n)))
    assert np.abs(ours.blur(image, (size, size)).astype(int) - cv2.blur(image, (size, size))).max() <= 1


def test_dst_and_umat():
    image = pixels((40, 50, 3), "u1")
    want = cv2.blur(image, (5, 7))
    dst = np.zeros_like(image)
    assert ours.blur(image, (5, 7), dst) is dst
    np.testing.assert_array_equal(dst, want)
    work = image.copy()
    assert ours.blur(work, (5, 7), work) is work
    np.testing.assert_array_equal(work, want)
    other = ours.blur(image, (5, 7), np.zeros((3, 3)))  # of another shape: OpenCV makes a new one
    np.testing.assert_array_equal(other, want)
    umat = ours.blur(cv2.UMat(image), (5, 7))
    assert isinstance(umat, cv2.UMat)
    np.testing.assert_array_equal(umat.get(), want)
    gray = np.ascontiguousarray(image[:, :, 0])
    umat = ours.adaptiveThreshold(cv2.UMat(gray), 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 7, 3)
    np.testing.assert_array_equal(umat.get(), cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 7, 3))
    umat = ours.matchTemplate(cv2.UMat(gray), gray[3:9, 4:10], cv2.TM_SQDIFF)
    np.testing.assert_allclose(umat.get(), ours.matchTemplate(gray, gray[3:9, 4:10], cv2.TM_SQDIFF))


@settings(max_examples=80, deadline=None)
@given(images(("u1",), (None, 1)), st.integers(1, 20), st.floats(-20, 20), st.sampled_from([255, 1, 7.6, 300, -3]), st.booleans())
def test_adaptive_threshold(image, half, offset, white, inverse):
    arguments = (white, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV if inverse else cv2.THRESH_BINARY, 2 * half + 1, offset)
    same(ours.adaptiveThreshold(image, *arguments), cv2.adaptiveThreshold(image, *arguments))


@pytest.mark.skipif(not hasattr(cv2, "ximgproc"), reason="cv2 has no ximgproc: install opencv-contrib-python-headless")
@pytest.mark.parametrize("method", range(4))
@pytest.mark.parametrize("kind", range(5))
def test_niblack(method, kind):
    k = (-0.2, 0.2, 0.2, -0.2)[method]
    for seed, size in ((0, 3), (1, 15), (2, 31)):
        image = cv2.GaussianBlur(pixels((70, 90), "u1", seed), (0, 0), 1.5)
        theirs = cv2.ximgproc.niBlackThreshold(image, 200, kind, size, k, binarizationMethod=method, r=100)
        got = ours.ximgproc.niBlackThreshold(image, 200, kind, size, k, binarizationMethod=method, r=100)
        assert got.dtype == theirs.dtype and (got != theirs).mean() < 0.001  # thresholds half way between two levels


@pytest.mark.skipif(not hasattr(cv2, "ximgproc"), reason="cv2 has no ximgproc: install opencv-contrib-python-headless")
@pytest.mark.parametrize("method", [0, 2, 3])
@pytest.mark.parametrize("dtype", ["u2", "i2", "f4", "f8"])
def test_niblack_of_all_types(method, dtype):
    image = (cv2.GaussianBlur(pixels((70, 90), "u1", 7), (0, 0), 1.5) * 9.25 - (900 if dtype == "i2" else 0)).astype(dtype)
    for kind in range(5):
        theirs, got = (library.ximgproc.niBlackThreshold(image, 200, kind, 15, -0.2, binarizationMethod=method) for library in (cv2, ours))
        assert got.dtype == theirs.dtype and (~np.isclose(got, theirs, rtol=1e-4)).mean() < 0.002


@pytest.mark.skipif(not hasattr(cv2, "ximgproc"), reason="cv2 has no ximgproc: install opencv-contrib-python-headless")
@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("channels", [(None, None), (3, None), (None, 3), (3, 3), (2, None)])
def test_guided(dtype, channels):
    shapes = [(40, 50) if c is None else (40, 50, c) for c in channels]
    guide, image = (cv2.GaussianBlur(pixels(shape, "u1", i), (0, 0), 2).astype(dtype) for i, shape in enumerate(shapes))
    for radius, eps in ((1, 50.0), (6, 300.0)):
        theirs = cv2.ximgproc.guidedFilter(guide, image, radius, eps)
        got = ours.ximgproc.guidedFilter(guide, image, radius, eps)
        assert got.dtype == theirs.dtype and got.shape == theirs.shape
        difference = np.abs(got.astype("f8") - theirs)
        assert difference.max() <= 1 and (difference > 0.01).mean() < 0.02  # theirs is float32
        if dtype == "u1":
            deep = ours.ximgproc.guidedFilter(guide, image, radius, eps, dDepth=cv2.CV_32F)
            np.testing.assert_allclose(deep, cv2.ximgproc.guidedFilter(guide, image, radius, eps, dDepth=cv2.CV_32F), atol=0.05)


def scores_of(image, template, method, mask=None):
    """What matchTemplate has to give, in float64, and the size of the sums that it is made from."""
    pixels, part = (np.atleast_3d(a).astype("f8") for a in (image, template))
    weights = np.ones(part.shape) if mask is None else np.broadcast_to(np.atleast_3d(mask), part.shape).astype("f8")
    windows = np.lib.stride_tricks.sliding_window_view(pixels, part.shape[:2], (0, 1)).transpose(0, 1, 3, 4, 2)
    if method >= cv2.TM_CCOEFF:
        part = part - (part * weights).sum((0, 1)) / weights.sum((0, 1))
        windows = windows - ((windows * weights).sum((2, 3)) / weights.sum((0, 1)))[:, :, None, None]
    part, windows = part * weights, windows * weights
    found = ((windows - part) ** 2 if method < cv2.TM_CCORR else windows * part).sum((2, 3, 4))
    squares = (part**2).sum(), (windows**2).sum((2, 3, 4))
    if method % 2:
        found /= np.sqrt(squares[0] * squares[1])
        found = np.minimum(found, 1) if method == cv2.TM_SQDIFF_NORMED and mask is None else found
    return found, float((template.astype("f8") ** 2).sum() + (image.astype("f8") ** 2).sum())


@settings(max_examples=60, deadline=None)
@given(images(("u1", "f4"), (None, 3)), st.integers(0, 5), st.booleans(), st.data())
def test_match_template(image, method, found, data):
    assume(image.shape[0] > 2 and image.shape[1] > 2)
    h, w = data.draw(st.integers(2, image.shape[0])), data.draw(st.integers(2, image.shape[1]))
    template = np.ascontiguousarray(image[:h, :w]) if found else some((h, w, *image.shape[2:]), image.dtype, 7)
    mask = np.ones((h, w), np.uint8)
    mask[0, 0] = 0
    for m in (None, mask):
        got, theirs = (o.matchTemplate(image, template, method, mask=m) for o in (ours, cv2))
        assert got.shape == theirs.shape and got.dtype == theirs.dtype
        right, energy = scores_of(image, template, method, m)
        scale = max(1.0, float(np.abs(right).max())) if method % 2 else energy
        # Ours is a float32 of numbers that are; OpenCV takes sums in float32 from each other.
        np.testing.assert_allclose(got, right, rtol=0, atol=(2e-6 if method % 2 else 3e-7) * scale)
        np.testing.assert_allclose(theirs, right, rtol=0, atol=(3e-4 if method % 2 else 4e-6) * scale)


def test_match_template_of_flat_images():
    image = pixels((20, 30), "u1")
    for template in (np.full((5, 6), 9, np.uint8), np.zeros((5, 6), np.uint8)):
        for method in range(6):
            got, theirs = ours.matchTemplate(image, template, method), cv2.matchTemplate(image, template, method)
            np.testing.assert_allclose(got, theirs, rtol=2e-5, atol=0.02 if method == cv2.TM_CCOEFF else 2e-5)  # theirs is noise where ours is 0


def test_cv2_errors():
    gray, color = pixels((9, 10), "u1"), pixels((9, 10, 3), "u1")
    for call in (
        lambda o: o.blur(gray, (0, 3)), lambda o: o.blur(gray, 3), lambda o: o.blur(gray, (3, 3), anchor=(5, 5)), lambda o: o.blur(gray, (3, 3), borderType=cv2.BORDER_WRAP),
        lambda o: o.blur(gray, (3, 3), borderType=9), lambda o: o.blur(gray[:0], (3, 3)), lambda o: o.blur(None, (3, 3)), lambda o: o.blur(gray.astype("i1"), (3, 3)),
        lambda o: o.boxFilter(gray, cv2.CV_8S, (3, 3)), lambda o: o.sqrBoxFilter(gray.astype("i4"), -1, (3, 3)), lambda o: o.boxFilter(gray.astype("f4"), cv2.CV_32S, (3, 3)),
        lambda o: o.adaptiveThreshold(color, 255, 0, 0, 3, 1), lambda o: o.adaptiveThreshold(gray, 255, 0, 0, 4, 1), lambda o: o.adaptiveThreshold(gray, 255, 0, 5, 3, 1),
        lambda o: o.adaptiveThreshold(gray.astype("f4"), 255, 0, 0, 3, 1), lambda o: o.matchTemplate(gray, color, 0), lambda o: o.matchTemplate(gray, gray.astype("f4"), 0),
        lambda o: o.matchTemplate(gray, gray, 9),
    ):  # fmt: skip
        for library in (cv2, ours):
            with pytest.raises(cv2.error):
                call(library)
    for call in (
        lambda: ours.ximgproc.niBlackThreshold(color, 255, 0, 3, 0.1),
        lambda: ours.ximgproc.niBlackThreshold(gray, 255, 0, 4, 0.1),
        lambda: ours.ximgproc.guidedFilter(gray, gray, 3, 1, scale=0.5),
        lambda: ours.ximgproc.guidedFilter(gray[:4], gray, 3, 1),
    ):
        with pytest.raises(cv2.error):
            call()


@settings(max_examples=60, deadline=None)
@given(images(("u1", "u2", "i2", "b1", "f4", "f8", "f2"), (None,)), st.tuples(st.integers(0, 20), st.integers(0, 20)), st.floats(-1, 1))
def test_skimage_thresholds(image, half, k):
    size = (2 * half[0] + 1, 2 * half[1] + 1)
    # Their differences of squares cancel where windows are flat: in float32 and float16 nothing is left of them.
    wide = image.astype(np.float64) if image.dtype in (np.float32, np.float16) else image
    for name in ("threshold_niblack", "threshold_sauvola"):
        theirs, got = getattr(filters, name)(wide, size, k=k).astype(getattr(filters, name)(image, size, k=k).dtype), getattr(ours_skimage, name)(image, size, k=k)
        top = float(np.abs(image.astype(np.float64)).max())  # what they round is of this size, also where thresholds are small
        same(got + top, theirs + top, False, 2e-3 if got.dtype == np.float16 else 1e-5)
    if image.dtype == np.float16:
        return
    for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
        theirs, got = (m.threshold_local(image, size, method="mean", offset=2, mode=mode, cval=3.5) for m in (filters, ours_skimage))
        same(got, theirs, False, 1e-5 if image.dtype == np.float32 else 1e-9)


def test_skimage_more():
    image = pixels((30, 40), "u1")
    for method, param in (("gaussian", None), ("gaussian", 2.0), ("median", None), ("generic", np.max)):
        same(ours_skimage.threshold_local(image, 5, method=method, param=param), filters.threshold_local(image, 5, method=method, param=param), False, 1e-9)
    solid = pixels((8, 9, 10), "u2")
    for name in ("threshold_niblack", "threshold_sauvola"):
        same(getattr(ours_skimage, name)(solid, (3, 5, 7)), getattr(filters, name)(solid, (3, 5, 7)), False, 1e-6)
    same(ours_skimage.threshold_local(solid, 3, method="mean"), filters.threshold_local(solid, 3, method="mean"), False, 1e-9)
    for library in (ours_skimage, filters):
        with pytest.raises(ValueError, match="even"):
            library.threshold_sauvola(image, 4)
        with pytest.raises(ValueError, match="odd"):
            library.threshold_local(image, 4)
        with pytest.raises(ValueError, match="Invalid method"):
            library.threshold_local(image, 3, method="mode")


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "i4"])
def test_skimage_match_template(dtype):
    from skimage.feature import match_template

    image = some((30, 41), dtype)
    for shape in ((5, 6), (7, 9), (30, 41), (1, 4)):
        template = image[: shape[0], : shape[1]].copy()
        template[0] = template[0][::-1]
        for pad, mode in ((False, "constant"), (True, "constant"), (True, "reflect")):
            want, got = (f(image, template, pad_input=pad, mode=mode) for f in (match_template, ours_skimage.match_template))
            same(got, want, False, 1e-3 if dtype == "f4" else 2e-5)
    solid = some((8, 9, 10), dtype)
    same(ours_skimage.match_template(solid, solid[1:4, 2:6, 3:6]), match_template(solid, solid[1:4, 2:6, 3:6]), False, 1e-4)
    assert not ours_skimage.match_template(image, np.ones((3, 3), dtype)).any()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_skimage_match_template_of_unknown_pixels(dtype, axes, bad):
    image = np.random.default_rng(axes).random((12, 14, 9)[:axes]).astype(dtype)
    template = image[(slice(2, 5), slice(3, 7), slice(1, 4))[:axes]].copy()
    want = ours_skimage.match_template(image, template)
    where = (8, 9, 4)[:axes]
    want[tuple(slice(at - n + 1, at + 1) for at, n in zip(where, template.shape))] = np.nan
    image[where] = bad
    np.testing.assert_allclose(ours_skimage.match_template(image, template), want, atol=1e-5)
    template.flat[5] = bad
    with pytest.raises(ValueError, match="must not contain NaN or infinity"):
        ours_skimage.match_template(image, template)


@pytest.mark.parametrize(
    "named", [{"mode": "bad"}, {"mode": None}, {"mode": 3}, {"mode": "bad", "pad_input": True}, {"constant_values": [1, 2, 3]}, {"constant_values": "a"}, {"mode": "edge", "constant_values": "a"}]
)
def test_skimage_match_template_arguments(named):
    from skimage.feature import match_template

    image = some((12, 13), "f8")
    want, got = (outcome(f, image, image[2:5, 3:7].copy(), **named) for f in (match_template, ours_skimage.match_template))
    assert got is want if isinstance(want, type) else np.allclose(got, want, atol=2e-5)
    with pytest.raises(ValueError, match="template must have 3 axes"):
        ours_skimage.match_template(np.zeros((5, 5, 5)), image[:2, :2])


def test_skimage_match_template_pads_floats():
    """What lies round an image need not be of its type."""
    from skimage.feature import match_template

    for dtype in ("u1", "u2", "b1", "i2", "f8"):
        image = some((30, 41), dtype)
        template = image[4:12, 5:16]
        settings = [dict(constant_values=value) for value in (-5, 300, 100.7, 0.5, 7)] + [dict(mode=mode) for mode in ("mean", "median", "linear_ramp", "edge", "wrap")]
        for named in settings:
            same(ours_skimage.match_template(image, template, pad_input=True, **named), match_template(image, template, pad_input=True, **named), False, 2e-5)


def test_skimage_arrays_of_numbers():
    from skimage.transform import integral_image, integrate

    numbers = np.random.default_rng(1).random((20, 30))
    for dtype in ("u1", "f4", "f8"):
        image = some((20, 30), dtype)
        for k in (numbers, numbers[:1], np.float64(0.3)):
            for name in ("threshold_niblack", "threshold_sauvola"):
                same(getattr(ours_skimage, name)(image, 5, k), getattr(filters, name)(image, 5, k), False, 1e-5)
        same(ours_skimage.threshold_sauvola(image, 5, 0.2, numbers), filters.threshold_sauvola(image, 5, 0.2, numbers), False, 1e-5)
        for library in (ours_skimage, filters):
            for size, wrong in (((3,), RuntimeError), ((3, 3, 3), ValueError)):
                with pytest.raises(wrong):
                    library.threshold_sauvola(image, size)
    table, corners = integral_image(image), np.array([[True, False], [False, True]])
    same(ours_skimage.integrate(table, corners, corners), integrate(table, corners, corners), False)


MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-mirror", "grid-constant")


@settings(max_examples=150, deadline=None)
@given(images(("u1", "u2", "i2", "i4", "i8", "b1", "f4", "f8"), (None, 3)), st.tuples(st.integers(1, 40), st.integers(1, 40)), st.sampled_from(MODES), st.data())
def test_uniform_filter(image, size, mode, data):
    origin = tuple(data.draw(st.integers(-(n // 2), (n - 1) // 2)) for n in size)
    cval = data.draw(st.sampled_from([0, 7, -3.5]))
    assume(not (mode in ("constant", "grid-constant") and cval not in (0, 1) and image.dtype.kind == "b"))  # refused
    output = data.draw(st.sampled_from([None, np.float32, np.float64]))
    theirs, got = (f(image, size, output=output, mode=mode, cval=cval, origin=origin, axes=(0, 1)) for f in (ndimage.uniform_filter, ours_scipy.uniform_filter))
    same(got, theirs, got.dtype.kind != "f", 1e-5 if got.dtype == np.float32 else 1e-9)


def test_uniform_filter_more():
    solid = some((6, 7, 8), "i2")
    for size in (3, (2, 1, 5), 1, (9, 9, 9)):
        same(ours_scipy.uniform_filter(solid, size), ndimage.uniform_filter(solid, size))
    waves = solid + 1j * solid[::-1]
    same(ours_scipy.uniform_filter(waves, 3), ndimage.uniform_filter(waves, 3), False, 1e-9)
    same(ours_scipy.uniform_filter(solid, 3, mode=("wrap", "nearest", "mirror")), ndimage.uniform_filter(solid, 3, mode=("wrap", "nearest", "mirror")))
    for shape in ((6, 7, 8), (6, 7), (9,)):
        for dtype, cval in itertools.product(("u1", "f4", "f8"), (np.nan, np.inf, -np.inf, 1e39)):
            image = some(shape, dtype)
            want, got = (library.uniform_filter(image, 3, output=np.float64, mode="constant", cval=cval) for library in (ndimage, ours_scipy))
            if np.isfinite(cval):
                same(got, want, False, 1e-9)
            else:
                assert np.isfinite(got).any() or not np.isfinite(want).any()
                np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    line = [2, 8, 0, 4, 1, 9, 9, 0]
    same(ours_scipy.uniform_filter1d(line, 3, origin=1), ndimage.uniform_filter1d(line, 3, origin=1))
    work = some((20, 30), "f4")
    want = ndimage.uniform_filter(work, 5)
    assert ours_scipy.uniform_filter(work, 5, output=work) is work
    same(work, want, False, 1e-5)
    work = some((20, 30), "u1")
    want = ndimage.uniform_filter(work, 5)
    ours_scipy.uniform_filter(work, 5, output=work)
    same(work, want)
    for library in (ours_scipy, ndimage):
        with pytest.raises(ValueError, match="invalid origin"):
            library.uniform_filter(work, 3, origin=2)
        with pytest.raises(RuntimeError, match="boundary mode"):
            library.uniform_filter(work, 3, mode="odd")
        with pytest.raises(RuntimeError, match="shape"):
            library.uniform_filter(work, 3, output=np.zeros((2, 2)))
        with pytest.raises(RuntimeError, match="length"):
            library.uniform_filter(work, (3, 3, 3))
        with pytest.raises(ValueError, match="axis|axes"):
            library.uniform_filter(work, 3, axes=(5,))


SCALARS = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", ">i4", ">f8", "c8", "c16")


def outcome(function, *arguments, **named):
    """The result of a call, or the type of its error."""
    try:
        return function(*arguments, **named)
    except Exception as error:
        return type(error)


def extreme(rng, shape, dtype):
    """Pixels of the whole range of a type."""
    dtype = np.dtype(dtype)
    if dtype.kind in "fc":
        return (rng.normal(size=shape) * 300 + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    return pixels(shape, dtype.newbyteorder("="), int(rng.integers(1000))).astype(dtype)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="C leaves open what becomes of floats beyond an integer type")
def test_uniform_filter_of_all_types_into_all():
    """Integers to the bit, also of 64 bits and where they do not fit the output."""
    rng = np.random.default_rng(11)
    for i in range(1500):
        shape = tuple(rng.integers(1, 12, int(rng.integers(1, 4))).tolist())
        image, size = extreme(rng, shape, rng.choice(SCALARS)), int(rng.integers(1, 9))
        output = None if rng.random() < 0.2 else np.dtype(rng.choice(SCALARS))
        origin, cval = int(rng.integers(-(size // 2), (size - 1) // 2 + 1)), float(rng.choice([0, 7, -3.5, 0.1]))
        named = dict(size=size, output=output, mode=str(rng.choice(MODES)), cval=cval, origin=origin)
        if i % 2:
            named["axis"] = int(rng.integers(-len(shape), len(shape)))
        name = "uniform_filter1d" if i % 2 else "uniform_filter"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an output that is promoted to complex
            want, got = (outcome(getattr(o, name), image, **named) for o in (ndimage, ours_scipy))
        if isinstance(got, type) and isinstance(want, np.ndarray):
            assert want.dtype == bool and got is RuntimeError, (name, image.dtype, shape, named)
        elif isinstance(want, type):
            assert got is want, (name, image.dtype, shape, named)
        else:
            same(got, want, want.dtype.kind not in "fc", 1e-5)


def test_skimage_refuses_as_theirs():
    arrays = [np.zeros(shape, dtype) for shape in ((0, 0), (0, 5), (5, 0), (0,), (3, 0, 4)) for dtype in ("u1", "f4")]
    arrays += [np.arange(9.0), np.array(3.0), np.eye(5) * 1j, np.eye(3).astype(object), np.eye(7).astype(np.longdouble), np.full((5, 5), np.nan), np.ones((1, 1))]
    for image in arrays:
        for size in (1, 3, (3, 1), [3], 3.0, -3, np.int64(5), 4, "3", 0, None, True):
            for name, named in (("threshold_niblack", {}), ("threshold_sauvola", {}), ("threshold_sauvola", {"r": 2}), ("threshold_local", {"method": "mean"})):
                with np.errstate(all="ignore"):
                    want, got = (outcome(getattr(o, name), image, size, **named) for o in (filters, ours_skimage))
                if isinstance(want, type):
                    assert got is want, (name, image.dtype, image.shape, size, got, want)
                elif image.dtype != object:
                    same(np.asarray(got), np.asarray(want), False, 1e-5)


def test_uniform_filter_refuses_as_scipy():
    image = pixels((5, 7), "u1")
    frozen = np.zeros((5, 7))
    frozen.flags.writeable = False
    numbers = (0, -1, 2.0, 2.7, "3", None, np.int8(3), np.float64(3), [3], (3,), (3, 3), (2.5, 3), True, np.nan, 10**20, np.array(3), 3j)
    calls = [{"size": size} for size in numbers] + [{"axis": axis} for axis in (2, -3, 0.0, (0,), None, True, np.int64(1), "0")]
    calls += [{"origin": origin} for origin in (2, -2, -1, 1.0, 0.5, None, "0", (1,), (1, -1), True, np.int8(-1))]
    calls += [{"mode": mode} for mode in ("odd", None, ["reflect"], ("reflect", "wrap"), ("reflect", "odd"), 1, b"reflect")]
    calls += [{"cval": cval, "mode": "constant"} for cval in (None, "1", 1j, np.nan, [1], np.float32(2), True)]
    outputs = (np.zeros((2, 2)), np.zeros((5, 7), ">f4"), np.zeros((5, 7), "f2"), np.float16, "f4", "u1", "?", "U5", "nonsense", object, np.longdouble, complex, "c8", frozen, frozen.tolist())
    calls += [{"output": output} for output in outputs]
    calls += [{"axes": axes} for axes in ((0, 0), (5,), 1.0, "01", (), [0, 1], (0.0,), np.array([1]), {0}, 3.5, object(), 1, -1, 2, -3)]
    for named in calls:
        for name in ("uniform_filter", "uniform_filter1d"):
            if name == "uniform_filter" and "axis" in named or name == "uniform_filter1d" and "axes" in named:
                continue
            want, got = (outcome(getattr(o, name), image, **{"size": 3, **named}) for o in (ndimage, ours_scipy))
            if isinstance(want, type):
                assert got is want, (name, named, got, want)
            else:
                same(got, want, want.dtype.kind != "f")
    arrays = (5, np.zeros(()), [], np.zeros((0, 3)), np.zeros((3, 0, 2), "u1"), np.zeros((3, 3), "f2"), np.zeros((3, 3), object), np.zeros((3, 3), "M8[s]"), "abc", None)
    for source in (*arrays, [[1, 2], [3]], np.zeros((3, 3), np.longdouble), np.ma.masked_array(np.ones((3, 3)), True), np.zeros((3, 3), "V4")):
        for name, size in (("uniform_filter", 3), ("uniform_filter1d", 3), ("uniform_filter", 1)):
            want, got = (outcome(getattr(o, name), source, size) for o in (ndimage, ours_scipy))
            if isinstance(want, type):
                assert got is want, (name, source, got, want)
            elif want.dtype != object:
                same(got, want, want.dtype.kind not in "f")
    for call in (lambda: ours_scipy.uniform_filter(image, 3, np.dtype(bool)), lambda: ours_scipy.uniform_filter(image > 9, 3, mode="constant", cval=2)):
        with pytest.raises(RuntimeError, match="output must not be bool"):
            call()
    with pytest.raises(ValueError, match="axes must be"):
        ours_scipy.uniform_filter(image, 3, axes=iter([0]))


def test_box_filter_where_opencv_loses_sums():
    """The differences that docs/migrate/opencv.md states: OpenCV wraps sums of int32, and an infinity stays in its running sums."""
    image = np.full((4, 6), 2**30, np.int32)
    np.testing.assert_array_equal(ours.boxFilter(image, cv2.CV_64F, (3, 3), normalize=False), 9.0 * 2**30)
    np.testing.assert_array_equal(ours.boxFilter(image, cv2.CV_32S, (3, 3)), image)
    np.testing.assert_array_equal(ours.boxFilter(image, cv2.CV_32S, (3, 3), normalize=False), -(2**31))
    image = np.ones((9, 9))
    image[0, 4] = np.inf
    got = ours.boxFilter(image, -1, (3, 3))
    assert np.isinf(got[:2, 3:6]).all()
    got[:2, 3:6] = 1
    np.testing.assert_array_equal(got, 1)


def test_uniform_filter_finds_the_same_of_several_mistakes():
    wrong = {
        "size": (0, -1, 3.0, "3", None, 10**20), "axis": (5, -3, 0.0, 5.0, None, np.nan, np.inf), "origin": (9, -9, 0.5, "1"),
        "mode": ("odd", None), "output": (np.zeros((1, 1)), "U5", np.float16, "c8"),
    }  # fmt: skip
    for image in (np.ones((4, 6)), np.ones((4, 6), "f2"), np.ones((4, 6), "c16")):
        for (a, some), (b, others) in itertools.combinations(wrong.items(), 2):
            for x, y in itertools.product(some, others):
                named = {"size": 3, a: x, b: y}
                for name in ("uniform_filter", "uniform_filter1d") if "axis" not in named else ("uniform_filter1d",):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # an output that is promoted to complex
                        want, got = (outcome(getattr(o, name), image, **named) for o in (ndimage, ours_scipy))
                    assert (got is want) if isinstance(want, type) else not isinstance(got, type), (name, image.dtype, named, got, want)
    for image in (np.ones((4, 6)), np.ones((4, 6), "f2")):  # along the second axis only
        for named in ({"origin": (0, 9)}, {"mode": ("wrap", "odd")}, {"origin": (9, 0), "mode": ("odd", "wrap")}):
            assert outcome(ours_scipy.uniform_filter, image, 3, **named) is outcome(ndimage.uniform_filter, image, 3, **named)


DEPTHS = (-1, cv2.CV_8U, cv2.CV_8S, cv2.CV_16U, cv2.CV_16S, cv2.CV_32S, cv2.CV_32F, cv2.CV_64F)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="C leaves open what becomes of floats beyond int")
def test_boxes_of_all_depths():
    """Random calls, of images of one row too, with results that saturate, and with anchors and borders that are refused."""
    rng = np.random.default_rng(12)
    refused = 0
    for _ in range(1200):
        shape = tuple(rng.integers(1, 12, 2).tolist()) + ((3,) if rng.random() < 0.2 else ())
        image, size = extreme(rng, shape, rng.choice(["u1", "u2", "i2", "f4", "f8"])), tuple(rng.integers(1, 7, 2).tolist())
        anchor = [(-1, -1), (0, 0), (size[0] - 1, size[1] - 1), (0, -1), (-2, 0), (-7, -1), (size[0], 0), (0, size[1])][rng.integers(8)]
        if image.dtype.kind == "f" and (anchor[0] >= size[0] or anchor[1] >= size[1]):
            anchor = (-1, -1)  # boxFilter of OpenCV reads beyond the image there
        depth, normalize, kind = int(rng.choice(DEPTHS)), bool(rng.integers(2)), int(rng.choice([0, 1, 2, 3, 4, 16, 17, 19, 20]))
        for name in ("boxFilter", "sqrBoxFilter"):
            want, got = (outcome(getattr(o, name), image, depth, size, anchor=anchor, normalize=normalize, borderType=kind) for o in (cv2, ours))
            about = (name, image.dtype, shape, depth, size, anchor, normalize, kind)
            if isinstance(want, type) or isinstance(got, type):
                kernel = [1 if normalize and kind and n == 1 else k for n, k in zip((shape[1], shape[0]), size)]
                assert got is cv2.error, about
                if got is not want:  # where OpenCV takes an anchor beyond the kernel, or any border for one pixel
                    beyond = image.dtype.kind == "f" and any(at >= k for at, k in zip(anchor, kernel))
                    assert beyond or (1, 1) in (size, tuple(kernel)), about
                refused += 1
            elif got.dtype.kind == "f":
                same(got, want, False, 1e-5)
            else:
                apart = np.abs(got.astype(np.int64) - want.astype(np.int64)).max()
                negative = name == "boxFilter" and image.dtype == np.int16 and got.dtype.kind == "u"  # OpenCV's greatest value
                assert apart <= 1 or negative, about
    assert refused > 200
    assert ours.sqrBoxFilter(np.full((3, 3), 50000, np.uint16), cv2.CV_8U, (3, 3)).max() == 0  # 2.5e9 is no int
    image = extreme(rng, (9, 9), "f4")
    for size, number in (((3, 5), 3), ((6, 6), 3), ((3, 5), None)):
        want, got = (outcome(o.boxFilter, image, -1, size, anchor=None, normalize=None, borderType=number) for o in (cv2, ours))
        assert got is want if isinstance(want, type) else np.allclose(got, want, rtol=1e-5, atol=1e-3)


def test_adaptive_threshold_takes_and_refuses_as_theirs():
    image = pixels((9, 11), "u1")
    calls = [(255, 0, 0, 3, C) for C in (np.inf, -np.inf, np.nan, 1e300, 1e10, -1e10, -300, "2", None, True, 1j, np.float32(2))]
    calls += [(255, 0, 1, 3, C) for C in (np.inf, -np.inf, np.nan, 1e10, -1e10)]
    calls += [(white, 0, 0, 3, 2) for white in (np.nan, np.inf, -1, 1e300, 254.5, 253.5, "255", None, False, np.uint8(7))]
    calls += [(255, method, 0, 3, 2) for method in (0.0, True, None, 2, -1)] + [(255, 0, kind, 3, 2) for kind in (0.0, True, None, 2, 8, -1)]
    calls += [(white, method, kind, size, 2) for white in (-1, np.nan, 255) for method in (0, 1, 5) for kind in (0, 5) for size in (3, 4)]
    calls += [(255, 0, 0, size, 2) for size in (1, -3, 4, 3.0, "3", None, 21, np.int64(3), 10**10 + 1)]
    for arguments in calls:
        want, got = (outcome(o.adaptiveThreshold, image, *arguments) for o in (cv2, ours))
        assert got is want if isinstance(want, type) else np.array_equal(got, want), (arguments, got, want)
    for dtype in ("b1", "u1", "i1", "u2", "i4", "i8", "f4"):
        for source in (pixels((9, 11), dtype), pixels((9, 11, 1), dtype), pixels((9, 11, 3), dtype), pixels((0, 11), dtype), (1, 2, 3)):
            for method in (cv2.ADAPTIVE_THRESH_MEAN_C, cv2.ADAPTIVE_THRESH_GAUSSIAN_C):
                want, got = (outcome(o.adaptiveThreshold, source, 255, method, 0, 3, 2) for o in (cv2, ours))
                assert got is want if isinstance(want, type) else np.array_equal(got, want), (dtype, np.shape(source), method)


@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("channels", [4, 5, 9, 128])
def test_match_template_with_channels(dtype, channels):
    image = (np.random.default_rng(channels).random((12, 13, channels)) * 200).astype(dtype)
    template = image[2:6, 3:8].copy()
    template[0, 0] = 0
    taken = 0
    for method in range(6):
        for mask in (None, np.ones((4, 5), np.uint8), np.random.default_rng(1).random((4, 5), np.float32)):
            want, got = (outcome(o.matchTemplate, image, template, method, mask=mask) for o in (cv2, ours))
            if isinstance(want, type):
                assert got is want, (method, mask is None)
            else:
                taken += 1
                same(got, want, False, 1e-3)
    assert taken == (18 if channels == 4 else 9)


def test_names():
    """Constants and types are those of OpenCV 5."""
    for name in dir(ours):
        if name.startswith(("CV_", "BORDER_", "CASCADE_", "TM_", "THRESH_", "ADAPTIVE_")):
            assert getattr(ours, name) == getattr(cv2, name), name
    assert ours.error is cv2.error and ours.UMat is cv2.UMat and ours.CV_32SC3 == ours.CV_32S + 64
    for name in ("nothing", "__wrapped__"):
        with pytest.raises(AttributeError):
            getattr(ours, name)


def test_borders_that_wrap():
    for dtype in ("f4", "f8"):
        image = some((9, 11), dtype)
        for size in ((3, 3), (5, 5)):  # others OpenCV does not take
            same(ours.blur(image, size, borderType=cv2.BORDER_WRAP), cv2.blur(image, size, borderType=cv2.BORDER_WRAP), False, 1e-5)
        for library in (ours, cv2):
            for call in (lambda: library.sqrBoxFilter(image, -1, (3, 3), borderType=cv2.BORDER_WRAP), lambda: library.blur(some((9, 11), "u1"), (3, 3), borderType=cv2.BORDER_WRAP)):
                with pytest.raises(cv2.error):
                    call()
    for dtype in ("i8", "u8"):
        image = np.abs(some((9, 11), "i4")).astype(dtype)
        same(ours.blur(image, (3, 3)), cv2.blur(image, (3, 3)))
        with pytest.raises(cv2.error, match="fit in int32"):
            ours.blur(image + np.array(1 << 40, dtype), (3, 3))


@pytest.mark.parametrize(("name", "size", "kind"), [("haarcascade_frontalface_alt2", 20, 0), ("lbpcascade_frontalface", 24, 1)])
def test_cascade(name, size, kind):
    """Beside OpenCV's, which is in its extra modules since 5."""
    data = pytest.importorskip("skimage.data")
    path = cascade(name)
    photo = data.astronaut()
    bgr = np.ascontiguousarray(photo[:, :, ::-1])
    mine = ours.CascadeClassifier(path)
    assert not mine.empty() and mine.getOriginalWindowSize() == (size, size) and mine.getFeatureType() == kind
    found = boxsum.detect.Cascade(path).detect(photo, min_size=40)
    assert any(x0 < 225 < x1 and y0 < 115 < y1 for x0, y0, x1, y1 in found.boxes)  # her face
    assert isinstance(mine.detectMultiScale(photo[:10, :10]), tuple)
    if hasattr(cv2, "CascadeClassifier"):
        theirs = cv2.CascadeClassifier(path)
        assert theirs.getOriginalWindowSize() == mine.getOriginalWindowSize()
        for image, scale, neighbors, least in ((bgr, 1.1, 3, (0, 0)), (bgr[:, :, 1].copy(), 1.2, 0, (30, 30)), (bgr[50:300], 1.3, 1, (0, 0))):
            for name in ("detectMultiScale", "detectMultiScale2"):
                got, want = (getattr(c, name)(image, scale, neighbors, minSize=least) for c in (mine, theirs))
                got, want = (r if isinstance(r, tuple) else (r,) for r in (got, want))
                assert sorted(zip(*(np.asarray(a).tolist() for a in got))) == sorted(zip(*(np.asarray(a).tolist() for a in want)))
                assert all(np.asarray(a).dtype == np.asarray(b).dtype for a, b in zip(got, want))
            got, want = (c.detectMultiScale3(image, scale, neighbors, minSize=least, outputRejectLevels=True) for c in (mine, theirs))
            assert sorted(zip(*(np.asarray(a).tolist() for a in got))) == sorted(zip(*(np.asarray(a).tolist() for a in want)))
    for least, most in ((None, None), ((-5, -5), (0, 0)), ((0, 0), (60, 0)), ((0, 0), (-1, 60)), ((60, 60), (120, 120)), ((95, 95), (-1, -1)), ((-30, 300), (9, -1))):
        got = mine.detectMultiScale(bgr, 1.1, 0, minSize=least, maxSize=most)
        assert len(got) or least != (95, 95)  # OpenCV takes the nearest size where there is none between
        if hasattr(cv2, "CascadeClassifier"):
            assert sorted(map(tuple, got)) == sorted(map(tuple, theirs.detectMultiScale(bgr, 1.1, 0, minSize=least, maxSize=most)))
    for c in (mine, *([theirs] if hasattr(cv2, "CascadeClassifier") else [])):
        with pytest.raises((cv2.error, TypeError)):
            c.detectMultiScale(bgr, minNeighbors=3.0)
    empty = ours.CascadeClassifier()
    assert empty.empty() and not empty.load("none.xml") and mine.detectMultiScale(np.zeros((0, 0), np.uint8)) == ()
    for call in (lambda: empty.detectMultiScale(photo), empty.getOriginalWindowSize, empty.getFeatureType, empty.isOldFormatCascade, lambda: mine.detectMultiScale(photo, "1"), lambda: mine.detectMultiScale(photo, 1.0), lambda: mine.detectMultiScale(photo.astype("f4"))):
        with pytest.raises(cv2.error):
            call()


def test_masks_of_all_methods():
    """Masks with weights, and for every channel, by OpenCV's definitions: what is masked is multiplied by its weight."""
    rng = np.random.default_rng(5)
    for dtype in ("u1", "f4"):
        for channels in (1, 3):
            image = rng.integers(0, 256, (23, 31, channels)).astype(dtype).squeeze()
            templ = rng.integers(0, 256, (5, 8, channels)).astype(dtype).squeeze()
            for mask in (rng.integers(0, 2, (5, 8)).astype("u1"), rng.random((5, 8), np.float32), rng.random(templ.shape, np.float32)):
                m = np.atleast_3d(mask).astype("f8") * np.ones(channels)
                windows = np.lib.stride_tricks.sliding_window_view(np.atleast_3d(image).astype("f8"), (5, 8), (0, 1)).transpose(0, 1, 3, 4, 2)
                t = np.atleast_3d(templ).astype("f8")
                near, far = m * (t - (m * t).sum((0, 1)) / m.sum((0, 1))), m * (windows - (m * windows).sum((2, 3), keepdims=True) / m.sum((0, 1)))
                inner, axes = (windows * t * m * m), (2, 3, 4)
                scale = np.sqrt(((t * m) ** 2).sum() * ((windows * m) ** 2).sum(axes))
                wants = {
                    ours.TM_SQDIFF: ((windows - t) ** 2 * m * m).sum(axes),
                    ours.TM_SQDIFF_NORMED: ((windows - t) ** 2 * m * m).sum(axes) / scale,
                    ours.TM_CCORR: inner.sum(axes),
                    ours.TM_CCORR_NORMED: inner.sum(axes) / scale,
                    ours.TM_CCOEFF: (near * far).sum(axes),
                    ours.TM_CCOEFF_NORMED: (near * far).sum(axes) / np.sqrt((near**2).sum() * (far**2).sum(axes)),
                }
                for method, want in wants.items():
                    got = ours.matchTemplate(image, templ, method, mask=mask)
                    assert got.dtype == np.float32
                    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5 * max(1, np.abs(want).max()), err_msg=f"{dtype} {channels} {mask.dtype} {method}")
    spoilt = np.ones((9, 9), np.float32)
    spoilt[4, 4] = np.nan
    scores = ours.matchTemplate(spoilt, spoilt[:3, :3], ours.TM_CCORR, mask=np.full((3, 3), 0.5, np.float32))
    assert np.isnan(scores).sum() == 9 and scores[0, 0] == 9 / 4
    with pytest.raises(ours.error, match="templ and mask must be finite"):
        ours.matchTemplate(spoilt, spoilt[3:6, 3:6], ours.TM_CCORR, mask=np.full((3, 3), 0.5, np.float32))


def test_columns_in_order():
    """Images whose columns lie side by side, of all types."""
    rng = np.random.default_rng(6)
    for dtype in ("u1", "u2", "i2", "i4", "f4", "f8"):
        image = rng.integers(0, 100, (19, 23)).astype(dtype)
        turned = np.asfortranarray(image)
        for call in (lambda a: ours.blur(a, (5, 3)), lambda a: ours.boxFilter(a, -1, (4, 7), normalize=False)):
            assert np.array_equal(call(image), call(turned)), dtype
    for call in (ours.blur, lambda a, k: ours.sqrBoxFilter(a, -1, k)):
        assert np.array_equal(call(np.asfortranarray(image.astype("i2")), (3, 3)), call(image.astype("i2"), (3, 3)))


def test_edges_of_calls():
    """What random calls beside the other libraries found."""
    cv2, filters = pytest.importorskip("cv2"), pytest.importorskip("skimage.filters")
    feature = pytest.importorskip("skimage.feature")
    image = np.random.default_rng(8).integers(0, 200, (6, 7)).astype(np.uint8)
    for border in (5, -1, 33):  # of no effect on kernels of one pixel
        assert (ours.boxFilter(image, 5, (1, 1), normalize=False, borderType=border) == cv2.boxFilter(image, 5, (1, 1), normalize=False, borderType=border)).all()
        assert (ours.blur(image, (1, 1), borderType=border) == cv2.blur(image, (1, 1), borderType=border)).all()
        assert (ours.blur(image[:1, :1], (3, 1), borderType=-1) == cv2.blur(image[:1, :1], (3, 1), borderType=-1)).all()
    holes = image.astype(np.float32)
    holes[2, 3] = np.nan
    for kind in range(5):
        theirs, got = (library.ximgproc.niBlackThreshold(holes, 255, kind, 3, 0.2) for library in (cv2, ours))
        assert (np.isnan(got) == np.isnan(theirs)).all()
    for library in (cv2, ours):
        with pytest.raises(cv2.error):
            library.ximgproc.niBlackThreshold(image[:0], 255, 0, 3, 0.2)
    for library in (filters, ours_skimage):
        with pytest.raises(ValueError, match="Sigma values less than zero"):
            library.threshold_local(image, -1)
    for template, error in ((image[:0, :3], IndexError), (image[:2, :3] * 1j, TypeError)):
        for library in (feature, ours_skimage):
            with pytest.raises(error):
                library.match_template(image, template)
    metrics = pytest.importorskip("skimage.metrics")
    for library in (metrics, ours_skimage):
        with pytest.raises(ValueError, match="complex"):
            library.structural_similarity(np.ones((9, 9), complex), np.ones((9, 9), complex))
        with pytest.raises(KeyError):
            library.peak_signal_noise_ratio(np.ones((0, 9), complex), np.ones((0, 9), complex))
    swapped = np.random.default_rng(9).random((30, 30)).astype(">f4")
    same(ours_skimage.hog(swapped), feature.hog(swapped), False, 1e-6)
    assert ours_skimage.hog(swapped).dtype == feature.hog(swapped).dtype
    for library in (feature, ours_skimage):
        with pytest.raises(ValueError, match="empty"):
            library.match_template(image[:0], image[:0, :3])
