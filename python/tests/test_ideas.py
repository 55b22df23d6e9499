"""Rotated tables, histograms, moments and features."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from oracle import PIXELS, SUMS, pixels

import boxsum


@pytest.mark.parametrize("rotation", ["0", "1/2", "1/1", "3/4", "-2/3", "5/2", "-3"])
@pytest.mark.parametrize("shape", [(1, 1), (23, 31), (20, 17, 3)])
def test_rotated(rotation, shape):
    image = pixels(shape, "u1")
    table = boxsum.rotated(image, rotation)
    ratio = Fraction(rotation)
    height, width = shape[:2]
    y, x = np.mgrid[:height, :width]
    u, v, a, b = x, y, abs(ratio.numerator), ratio.denominator
    if ratio < 0:
        u = width - 1 - x
    if abs(ratio) > 1:
        u, v, a, b = (y, x if ratio > 0 else width - 1 - x, b, a)
    r, c = v + a * u // b, u - (a * v) // b
    np.testing.assert_array_equal(table.cells(np.stack([x, y], -1)), np.stack([c, r], -1))
    assert table.bounds.tolist() == [c.min(), r.min(), c.max() + 1, r.max() + 1]
    assert table.rotation == ratio and abs(np.tan(np.radians(table.degrees)) - float(ratio)) < 1e-9
    boxes = np.random.default_rng(0).integers(-30, 60, (200, 4))
    inside = [(c >= q[0]) & (c < q[2]) & (r >= q[1]) & (r < q[3]) for q in boxes]
    np.testing.assert_array_equal(table.area(boxes), [m.sum() for m in inside])
    np.testing.assert_array_equal(table.sum(boxes), [image[m].sum(0, dtype="u4") for m in inside])
    want = [image[m].mean(0) if m.any() else np.zeros(shape[2:]) for m in inside]
    np.testing.assert_allclose(table.mean(boxes), want)


def test_rotated_arguments():
    image = pixels((9, 8), "i4")
    assert boxsum.rotated(image, (2, 4)).rotation == Fraction(1, 2)
    assert boxsum.rotated(image, Fraction(1, 3)).dtype == np.int64
    assert boxsum.rotated(image[::-1].astype(">i4"), 1).sum([-99, -99, 99, 99]) == image.sum()
    assert boxsum.rotated(image.astype("u1"), 1, dtype="i4").sum([-99, -99, 99, 99]).dtype == np.int32
    table = boxsum.rotated(image, "1/2")
    for bad, error in [("x", ValueError), (0.5, TypeError), (None, TypeError), ("1/99999999999", ValueError)]:
        with pytest.raises(error):
            boxsum.rotated(image, bad)
    for bad in [(1, 0), (0, 0), "1/0", (2**70, 3), (2**64 + 1, 2), 2**64]:
        with pytest.raises(ValueError, match="rotation"):
            boxsum.rotated(image, bad)
    with pytest.raises(ValueError):
        table.nearest([1, 2, 3])
    with pytest.raises(ValueError):
        table.nearest([np.nan, 0, 1, 1, 0])
    assert "1/2" in repr(table)


@pytest.mark.parametrize("dtype", PIXELS)
@pytest.mark.parametrize("channels", [(), (3,)])
def test_histogram(dtype, channels):
    image = pixels((21, 17) + channels, dtype)
    span = (-9.0, 9.0) if image.dtype.kind == "f" else (float(np.iinfo(dtype).min), float(np.iinfo(dtype).max))
    table = boxsum.histogram(image, 7, span)
    boxes = np.random.default_rng(0).integers(-3, 25, (40, 4))
    layers = np.moveaxis(image.reshape(21, 17, -1), -1, 0)
    got = table.counts(boxes).reshape(40, len(layers), 7)
    weights = np.random.default_rng(1).random((21, 17))
    weighted = boxsum.histogram(image, 7, span, weights=weights).counts(boxes).reshape(40, len(layers), 7)
    masked = boxsum.histogram(image, 7, span, weights=weights > 0.5).counts(boxes).reshape(40, len(layers), 7)
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        cut = np.s_[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)]
        for c, layer in enumerate(layers):
            values = layer[cut].astype("f8").ravel()
            want = np.histogram(values, 7, span)[0]
            np.testing.assert_array_equal(got[i, c], want)
            np.testing.assert_allclose(weighted[i, c], np.histogram(values, 7, span, weights=weights[cut].ravel())[0], atol=1e-9)
            np.testing.assert_array_equal(masked[i, c], np.histogram(values[weights[cut].ravel() > 0.5], 7, span)[0])
    np.testing.assert_array_equal(table.edges, np.linspace(*span, 8).astype(dtype if dtype == "f4" else "f8"))


@pytest.mark.parametrize("dtype", ["b1", "i1", "u1", "i2", "u2", ">i2"])
def test_histogram_covers_all_values_by_default(dtype):
    """Those of the pixels as they came, not as they are converted."""
    low, high = (0, 1) if dtype == "b1" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    image = np.arange(low, high + 1).astype(dtype)[None]
    for bins in (2, 4) if image.size > 2 else (2,):
        table = boxsum.histogram(image, bins)
        assert table.counts([0, 0, image.size, 1]).tolist() == [image.size // bins] * bins
        assert table.edges[0] == low and table.edges[-1] == high + 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u4", "i8", "u8"])
def test_histogram_of_wide_pixels_needs_a_range(dtype):
    with pytest.raises(ValueError, match=r"range must be given for pixels of \w+, got None \(pass range=\(low, high\)\)"):
        boxsum.histogram(np.zeros((3, 4), dtype))


def test_how_right_central_moments_are():
    """The second order to a few units in the last place; the third to a few of the mass times the spread cubed."""
    rng = np.random.default_rng(0)
    bump = np.rint(200 * np.exp(-(np.mgrid[-20:21, -20:21] ** 2).sum(0) / 90)).astype(np.uint8)  # whose third moments cancel
    for image in (bump, rng.integers(250, 256, (60, 70), dtype=np.uint8), rng.integers(0, 1 << 32, (30, 40), dtype=np.uint32)):
        got = boxsum.moments(image).moments([0, 0, image.shape[1], image.shape[0]])
        whole = image.astype(object)
        mass = whole.sum()
        y, x = (np.array(a, object) for a in np.mgrid[: image.shape[0], : image.shape[1]])
        for p in range(4):  # raw ones are exact, and rounded once
            for q in range(4 - p):
                assert got[f"m{p}{q}"] == float((x**p * y**q * whole).sum())
        x, y = x * mass - (x * whole).sum(), y * mass - (y * whole).sum()  # from the centroid, times the mass
        want = {f"mu{p}{q}": Fraction((x**p * y**q * whole).sum(), mass ** (p + q)) for p in range(4) for q in range(4 - p) if p + q >= 2}
        spread = float((want["mu20"] + want["mu02"]) / mass) ** 0.5
        for name, value in want.items():
            order = int(name[2]) + int(name[3])
            scale = float(value) if name in ("mu20", "mu02") else float(mass) * spread**order
            assert abs(got[name] - float(value)) <= 8 * np.finfo(float).eps * abs(scale)


def test_histogram_statistics():
    image = pixels((30, 40), "u1")
    table = boxsum.histogram(image, 256)
    assert table.table.shape == (31, 41, 256)
    boxes = [[0, 0, 40, 30], [3, 4, 20, 25], [5, 5, 5, 9]]
    parts = [image, image[4:25, 3:20]]
    assert table.median(boxes).tolist() == [int(np.sort(p.ravel())[(p.size - 1) // 2]) for p in parts] + [-1]
    assert table.mode(boxes).tolist() == [int(np.bincount(p.ravel()).argmax()) for p in parts] + [-1]
    assert table.quantile(boxes[0], 1.0) == image.max() and table.quantile(boxes[0], 0.0) == image.min()
    shares = np.bincount(image.ravel()) / image.size
    shares = shares[shares > 0]
    np.testing.assert_allclose(table.entropy(boxes)[[0, 2]], [-(shares * np.log2(shares)).sum(), 0])
    out = np.zeros((31, 41, 16), np.uint32)
    assert boxsum.histogram(image, 16, out=out).table is out and out[-1, -1].sum() == 1200
    big = boxsum.histogram(pixels((300, 400), "u1"), 32)
    assert big.table[-1, -1].sum() == 120_000
    with pytest.raises(ValueError, match="range"):
        boxsum.histogram(image.astype("f4"))
    for bins in (0, 1, 257, -1):
        with pytest.raises(ValueError, match="bins"):
            boxsum.histogram(image, bins)
    for bad in [dict(range=(3, 3)), dict(range=(5, 1)), dict(range=(0, np.nan)), dict(weights=image[1:])]:
        with pytest.raises(ValueError):
            boxsum.histogram(image, 8, **bad)
    with pytest.raises(ValueError):
        table.quantile(boxes, 2)
    clamped = boxsum.histogram(image, 4, (100, 120), clamp=True)
    assert clamped.counts([0, 0, 40, 30]).sum() == image.size


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4", "f8"])
def test_moments(dtype):
    cv2 = pytest.importorskip("cv2")
    image = np.abs(pixels((40, 50), dtype).astype("f8")).clip(0, 30000).astype(dtype)
    table = boxsum.moments(image)
    boxes = [[0, 0, 50, 40], [3, 7, 30, 22], [10, 10, 11, 11]]
    got, hu, centroid = table.moments(boxes), table.hu(boxes), table.centroid(boxes)
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        want = cv2.moments(image[y0:y1, x0:x1].astype("f8"))
        for name, value in want.items():
            scale = max(1.0, abs(want["m00"]) * 50 ** sum(map(int, name[-2:])))
            assert abs(got[name][i] - value) <= 1e-9 * scale, name
        np.testing.assert_allclose(hu[i], cv2.HuMoments(want).ravel(), rtol=1e-5, atol=1e-12)
        if want["m00"]:
            np.testing.assert_allclose(centroid[i], [want["m10"] / want["m00"], want["m01"] / want["m00"]])
    assert table.ellipse(boxes).shape == (3, 3)
    assert table.moments([0, 0, 1, 1])["m00"] == image[0, 0]
    colored = boxsum.moments(np.stack([image, image], -1))
    np.testing.assert_array_equal(colored.hu(boxes)[:, 1], hu)
    with pytest.raises(ValueError):
        boxsum.moments(np.full((3, 3), np.nan))
    with pytest.raises(TypeError):
        boxsum.moments(image.astype(complex))


def test_haar():
    transform = pytest.importorskip("skimage.transform")
    feature = pytest.importorskip("skimage.feature")
    image = pixels((20, 18), "u1").astype("i4")
    inclusive = transform.integral_image(image[3:11, 5:14])  # theirs cannot start elsewhere: it cuts the table
    table = boxsum.integral(image)
    for kind in ("type-2-x", "type-2-y", "type-3-x", "type-3-y", "type-4"):
        want = feature.haar_like_feature(inclusive, 0, 0, 9, 8, kind)
        np.testing.assert_array_equal(boxsum.haar(table, [[5, 3]], size=(9, 8), kinds=[kind])[0], want)
    everything = boxsum.haar(table, [[0, 0], [9, 12]], size=(9, 8))
    listed = boxsum.haar_features((9, 8))
    np.testing.assert_array_equal(boxsum.haar(table, [[0, 0], [9, 12]], size=(9, 8), features=listed), everything)
    some = boxsum.haar(table, [[0, 0], [9, 12]], size=(9, 8), features=listed[::7], workers=1)
    np.testing.assert_array_equal(some, everything[:, ::7])
    assert boxsum.haar(table.astype("f8"), size=(4, 4)).dtype == np.float64
    flat = boxsum.integral(np.full((20, 20), 9, np.uint8))
    assert not boxsum.haar(flat, size=(12, 12), kinds="lienhart-maydt", corrected=True).any()
    color = boxsum.integral(np.stack([image, image * 2], -1))
    np.testing.assert_array_equal(boxsum.haar(color, size=(6, 6), channel=1), 2 * boxsum.haar(table, size=(6, 6)))
    assert boxsum.haar(table, np.zeros((0, 2), int)).shape[0] == 0
    assert boxsum.haar(table, features=np.zeros((0, 5), int)).shape == (1, 0)
    for bad in [dict(kinds="none"), dict(windows=[[15, 15]], size=(9, 9)), dict(size=(0, 4)), dict(features=[[99, 0, 0, 2, 2]]), dict(channel=4), dict(features=[[1, 0, 0, 3, 1]])]:
        with pytest.raises((ValueError, TypeError)):
            boxsum.haar(table, **bad)


def test_haar_along_a_rotation():
    image = pixels((60, 60), "u1")
    table = boxsum.rotated(image, "1/2")
    features = boxsum.haar_features((16, 16), "lienhart-maydt", rotation="1/2")
    values = boxsum.haar(table, [[20, 20]], size=(16, 16), features=features, upright=True)
    np.testing.assert_array_equal(boxsum.haar(table, [[20, 20]], size=(16, 16), kinds="lienhart-maydt", upright=True), values)
    kind, x0, y0, x1, y1 = features[len(features) // 3]
    flat = boxsum.rotated(np.full((60, 60), 9, np.uint8), "1/2")
    assert not boxsum.haar(flat, [[20, 20]], size=(16, 16), features=features, upright=True, corrected=True).any()


def test_types_of_sums_are_those_of_the_table_of_types():
    for pixel, sums in SUMS.items():
        for s in sums:
            assert boxsum.integral(np.ones((2, 2), pixel), dtype=s).dtype == np.dtype(s)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_64_bit_pixels(dtype):
    """Ones that fit 32 bits are exact, and so are floats up to 2**53; others are refused, or must be asked for."""
    image, box = np.arange(12, dtype=dtype).reshape(3, 4), [0, 0, 4, 3]
    assert boxsum.moments(image).moments(box)["m00"] == 66
    assert boxsum.histogram(image, 2, (0, 12)).counts(box).tolist() == [6, 6]
    assert boxsum.rotated(image, 0).sum(box) == 66 and boxsum.rotated(image, 0).dtype == dtype
    large = image << np.array(40, dtype)
    assert boxsum.moments(large).moments(box)["m00"] == 66 << 40
    assert boxsum.rotated(large, 0, dtype=float).sum(box) == 66 << 40
    with pytest.raises(TypeError, match="32 bits"):
        boxsum.rotated(large, 0)
    sums, squares, tilted = boxsum.integral(image, squares=True, tilted=True)
    assert (sums.dtype, squares.dtype, tilted.dtype) == (dtype, "f8", dtype) and squares[-1, -1] == 506
    huge = image << np.array(59, dtype)
    for refused in (lambda: boxsum.moments(huge), lambda: boxsum.histogram(huge, 2, (0, 12)), lambda: boxsum.integral(huge, nan="skip")):
        with pytest.raises(TypeError, match=r"from 0 to 6341068275337658368 do not fit in 2"):
            refused()


def test_means_of_sums_that_do_not_fit():
    """Of 16-bit pixels in 32 bits, and of 64-bit ones in 64: a table that integral made knows its pixels."""
    image, all_of_it = np.full((700, 701), 65535, np.uint16), [0, 0, 701, 700]
    for dtype in (np.uint32, np.int32):
        for source in (image, image[:, ::-1]):
            sums, squares = boxsum.integral(source, dtype=dtype, squares=True)
            assert boxsum.box_mean(sums, all_of_it) == 65535 and boxsum.box_std(sums, squares, all_of_it) == 0
            assert boxsum.box_mean(sums[:, :], all_of_it) == 65535
        tilted = boxsum.integral(image, dtype=dtype, tilted=True)[1]
        assert boxsum.tilted_mean(tilted, [350, 0, 300, 300]) == 65535
        tables = np.empty((2, 701, 702), dtype)
        boxsum.integral(image, out=tables[1])
        assert boxsum.box_mean(tables[1], all_of_it) == 65535
    assert boxsum.box_mean(boxsum.volume(image[None], dtype=np.uint32), [0, 0, 0, 701, 700, 1]) == 65535
    assert boxsum.box_mean(boxsum.integral(image.astype(np.uint32) << 16, dtype=np.uint32), [0, 0, 99, 99]) == 65535 << 16
    for value, dtype in ((1 << 62, "i8"), (-1 << 63, "i8"), ((1 << 64) - 1, "u8")):
        table = boxsum.integral(np.full((9, 8), value, dtype))
        assert boxsum.box_mean(table, [[0, 0, 8, 9], [1, 1, 2, 2]]).tolist() == [float(value)] * 2


def test_tables_of_the_library_are_not_pickled():
    image = np.ones((4, 5), np.uint8)
    for table in (boxsum.rotated(image, 1), boxsum.moments(image)):
        for way in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="make it again"):
                way(table)
    kept = pickle.loads(pickle.dumps(boxsum.histogram(image, 2)))
    assert kept.counts([0, 0, 5, 4]).tolist() == [20, 0]


def test_histogram_apart_from_its_image():
    memory = np.zeros(8000, np.uint8)
    image = memory[:400].reshape(20, 20)
    with pytest.raises(ValueError, match="memory"):
        boxsum.histogram(image, bins=4, out=memory[: 21 * 21 * 16].view(np.uint32).reshape(21, 21, 4))


@pytest.mark.parametrize(
    "arguments, error",
    [
        (dict(bins=2.5), TypeError),
        (dict(bins=1 << 64), ValueError),
        (dict(range=(0,)), ValueError),
        (dict(weights=np.ones((4, 5), complex)), TypeError),
    ],
)
def test_bad_histograms(arguments, error):
    with pytest.raises(error):
        boxsum.histogram(np.ones((4, 5), np.uint8), **arguments)


@pytest.mark.parametrize("arguments", [dict(channel=1 << 64), dict(features=[[1, 3, 3, 1, 1]]), dict(size=(1 << 64, 5)), dict(size=(5,))])
def test_bad_features(arguments):
    with pytest.raises(ValueError):
        boxsum.haar(boxsum.integral(np.ones((9, 9), np.uint8)), **{"size": (5, 5), **arguments})
