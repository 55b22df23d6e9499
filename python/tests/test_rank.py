"""Rank filters beside scikit-image's."""

import warnings

import boxsum
import numpy as np
import pytest
from boxsum.compat.skimage import rank as fast

rank = pytest.importorskip("skimage.filters.rank")
morphology = pytest.importorskip("skimage.morphology")

NAMES = [name for name in fast.__all__ if name not in ("percentile", "mean_bilateral", "windowed_histogram")]


def picture(rng):
    shape = tuple(int(n) for n in rng.integers(1, 50, 2))
    dtype = np.uint8 if rng.random() < 0.7 else np.uint16
    high = 256 if dtype == np.uint8 else int(rng.choice([3, 300, 1000, 65536]))
    y, x = np.indices(shape)
    smooth = high * (0.5 + 0.3 * np.sin(x / 7) * np.cos(y / 9))
    return (smooth if rng.random() < 0.5 else rng.random(shape) * high).astype(dtype)


def window(rng):
    kind = rng.integers(3)
    if kind == 0:
        return morphology.disk(int(rng.integers(0, 7))), 0, 0
    height, width = (int(n) for n in rng.integers(1, 14, 2))
    shift_x, shift_y = int(rng.integers(width)) - width // 2, int(rng.integers(height)) - height // 2
    return (np.ones((height, width)) if kind == 1 else rng.integers(0, 2, (height, width))), shift_x, shift_y


def many_levels(image):
    """Report whether histograms of 16 levels fit those of an image."""
    return image.dtype == np.uint8 or image.max() > 15


@pytest.mark.parametrize("name", fast.__all__)
def test_like_peer(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    warnings.simplefilter("ignore")
    for _ in range(200):
        image = picture(rng)
        footprint, shift_x, shift_y = window(rng)
        settings = {"shift_x": shift_x, "shift_y": shift_y}
        if rng.random() < 0.3:
            settings["mask"] = rng.random(image.shape) < rng.random()
        if name == "percentile":
            settings["p0"] = float(rng.choice([0, 0.2, 0.5, 0.9, 1]))
        elif name == "mean_bilateral":
            settings["s0"], settings["s1"] = (int(n) for n in rng.integers(0, 300, 2))
        elif name == "windowed_histogram" and rng.random() < 0.5:
            # beyond the levels of an image of uint16, scikit-image reads foreign memory
            settings["n_bins"] = int(rng.integers(1, 17 if many_levels(image) else 5))
        want, got = getattr(rank, name)(image, footprint, **settings), getattr(fast, name)(image, footprint, **settings)
        assert got.dtype == want.dtype and got.shape == want.shape
        if name == "entropy":
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
        else:
            np.testing.assert_array_equal(got, want)
        out = np.empty_like(want)
        getattr(fast, name)(image, footprint, out=out, **settings)
        np.testing.assert_array_equal(out, got)


def test_forwarded():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    volume, square = rng.integers(0, 256, (5, 6, 7), dtype=np.uint8), np.ones((3, 3))
    for name in NAMES:
        want = getattr(rank, name)(volume, np.ones((3, 3, 3)), shift_z=1)
        np.testing.assert_array_equal(getattr(fast, name)(volume, np.ones((3, 3, 3)), shift_z=1), want)
    floats = rng.random((9, 8))
    np.testing.assert_array_equal(fast.mean(floats, square), rank.mean(floats, square))
    np.testing.assert_array_equal(fast.median(volume[0]), rank.median(volume[0]))
    np.testing.assert_array_equal(fast.pop(volume[0], square), rank.pop(volume[0], square))
    wide = np.empty(volume[0].shape, np.uint16)
    np.testing.assert_array_equal(fast.sum(volume[0], square, out=wide), rank.sum(volume[0], square, out=np.empty_like(wide)))
    np.testing.assert_array_equal(fast.mean(volume[0], square, mask=floats[:6, :7]), rank.mean(volume[0], square, mask=floats[:6, :7]))
    with pytest.raises(AttributeError):
        fast.no_such_filter  # noqa: B018


def test_same_mistakes():
    image = np.zeros((6, 7), np.uint8)
    for module in (rank, fast):
        with pytest.raises(NotImplementedError):
            module.mean(image, np.ones((3, 3)), out=image)
        with pytest.raises(AssertionError):
            module.mean(image, np.ones((3, 3)), shift_x=2)
        with pytest.raises(ValueError):
            module.mean(image, np.ones((3, 3, 3)))
        with pytest.raises(ValueError):
            module.mean(image[:0], np.ones((3, 3)))
    for given in (image, image.astype(np.float64)):
        with pytest.raises(ValueError, match="mask must have shape"):  # where scikit-image reads beyond the mask
            fast.mean(given, np.ones((3, 3)), mask=np.ones((6, 6), bool))
        with pytest.raises(ValueError, match="out must have shape"):  # where it writes beyond the destination
            fast.mean(given, np.ones((3, 3)), out=np.empty((2, 2), np.uint8))
    with pytest.raises(ValueError, match="out must have shape"):
        fast.windowed_histogram(image, np.ones((3, 3)), out=np.empty((6, 7)), n_bins=4)


@pytest.mark.parametrize("statistic", ["minimum", "equalize", "otsu", "majority", "mean", "threshold"])
def test_function(statistic):
    rng = np.random.default_rng(2)
    color = rng.integers(0, 100, (20, 31, 3), dtype=np.uint8)
    name = statistic
    whole = boxsum.rank_filter(color, statistic, (5, 4))
    for c in range(3):
        plane = color[..., c]
        want = getattr(rank, name)(np.ascontiguousarray(plane), np.ones((4, 5)))
        np.testing.assert_array_equal(boxsum.rank_filter(plane, statistic, (5, 4)), want)  # which is not contiguous
        np.testing.assert_array_equal(whole[..., c], want)
    mask = rng.random(color.shape[:2]) < 0.5
    hidden = np.ma.masked_array(color[..., 0], ~mask)
    want = getattr(rank, name)(np.ascontiguousarray(color[..., 0]), np.ones((4, 5)), mask=mask)
    np.testing.assert_array_equal(boxsum.rank_filter(hidden, statistic, (5, 4)), want)
    np.testing.assert_array_equal(boxsum.rank_filter(color[..., 0], statistic, footprint=np.ones((4, 5)), mask=mask), want)
    place = color.copy()
    assert boxsum.rank_filter(place, statistic, (5, 4), out=place) is place
    np.testing.assert_array_equal(place, whole)


def test_floats():
    rng = np.random.default_rng(3)
    color = rng.integers(0, 20, (9, 8, 3), dtype=np.uint16)
    shares = boxsum.rank_filter(color, "histogram", 5, bins=20, dtype=np.float32)
    assert shares.shape == (9, 8, 3, 20) and shares.dtype == np.float32
    np.testing.assert_allclose(shares.sum(axis=3), 1, rtol=1e-6)
    alone = boxsum.rank_filter(color[..., 1], "histogram", 5, bins=20)
    assert alone.dtype == np.float64 and alone.shape == (9, 8, 20)
    np.testing.assert_array_equal(shares[:, :, 1], alone.astype(np.float32))
    bits = boxsum.rank_filter(color, "entropy", 5)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_allclose(bits[..., 1], -np.nansum(alone * np.log2(alone), axis=2), atol=1e-12)


def test_levels():
    image = np.array([[10, 20, 30]], np.uint16)
    assert boxsum.rank_filter(image, "equalize", 3, levels=4096).tolist() == [[2047, 2730, 4095]]
    assert boxsum.rank_filter(image, "equalize", 3).tolist() == [[15, 20, 30]]
    mask = np.array([[0, 1, 1]], np.uint8)
    assert boxsum.rank_filter(image, "autolevel", 5, mask=mask, levels=256).tolist() == [[0, 0, 255]]


def test_mistakes():
    image = np.zeros((6, 7), np.uint8)
    for settings in (
        {"window": 0}, {"window": None}, {"window": 3, "footprint": np.ones((3, 3))}, {"window": 3, "fraction": 2}, {"window": 3, "fraction": np.nan},
        {"window": 3, "mask": np.ones((5, 7), bool)}, {"window": 3, "out": np.empty((5, 7), np.uint8)}, {"window": 3, "shift": (2, 0)},
        {"window": 3, "shift": 1}, {"window": None, "footprint": np.ones(3)}, {"window": None, "footprint": np.ones((0, 3))},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            boxsum.rank_filter(image, "percentile", **settings)
    with pytest.raises(ValueError):
        boxsum.rank_filter(image, "no such statistic", 3)
    with pytest.raises(ValueError):
        boxsum.rank_filter(image, "bilateral-mean", 3, below=-1)
    with pytest.raises(ValueError):
        boxsum.rank_filter(image, "histogram", 3, bins=0)
    with pytest.raises(ValueError):
        boxsum.rank_filter(image.astype(np.uint16) + 9, "equalize", 3, levels=9)
    for bad in (image.astype(np.float32), image.astype(np.int16), image > 0):
        with pytest.raises(TypeError):
            boxsum.rank_filter(bad, "mean", 3)
    with pytest.raises(TypeError):
        boxsum.rank_filter(image, None, 3)
    with pytest.raises(TypeError):
        boxsum.rank_filter(image, "mean", 3, dtype=np.float32)
    with pytest.raises(TypeError):
        boxsum.rank_filter(image, "entropy", 3, dtype=np.uint8)
    with pytest.raises(ValueError):
        boxsum.rank_filter(image[0], "mean", 3)
