"""Local equalization beside OpenCV's and scikit-image's, to the bit."""

import boxsum
import numpy as np
import pytest
from boxsum.compat import cv2 as fast
from boxsum.compat import skimage as fast_skimage

cv2 = pytest.importorskip("cv2")
exposure = pytest.importorskip("skimage.exposure")


def picture(rng, shape, dtype):
    high = np.iinfo(dtype).max
    y, x = np.indices(shape)
    image = (0.5 + 0.3 * np.sin(x / 17) * np.cos(y / 11) + 0.1 * rng.random(shape)) * high
    return (image if rng.random() < 0.6 else rng.random(shape) * high).astype(dtype)


@pytest.mark.parametrize("seed", range(200))
def test_clahe(seed):
    rng = np.random.default_rng(seed)
    dtype = np.uint8 if seed % 3 else np.uint16
    image = picture(rng, tuple(rng.integers(1, 200, 2)), dtype)
    clip, tiles = float(rng.choice([0, 0.7, 2, 4, 40])), tuple(int(n) for n in rng.integers(1, 10, 2))
    theirs, ours = cv2.createCLAHE(clip, tiles), fast.createCLAHE(clip, tiles)
    shift = int(rng.integers(0, 5)) if seed % 4 == 0 else 0
    theirs.setBitShift(shift)
    ours.setBitShift(shift)
    want = theirs.apply(image)
    assert np.array_equal(ours.apply(image), want)
    if shift == 0:
        assert np.array_equal(boxsum.clahe(image, clip, tiles), want)
        assert np.array_equal(boxsum.clahe(image[:, ::-1], clip, tiles), theirs.apply(np.ascontiguousarray(image[:, ::-1])))
    out = np.empty_like(image)
    assert ours.apply(image, out) is out and np.array_equal(out, want)
    assert (ours.getClipLimit(), ours.getTilesGridSize(), ours.getBitShift()) == (theirs.getClipLimit(), theirs.getTilesGridSize(), shift)


@pytest.mark.parametrize("seed", range(200))
def test_equalize_adapthist(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 90, 2))
    image = picture(rng, shape, np.uint8 if seed % 3 else np.uint16)
    if seed % 4 == 1:
        image = (image / np.iinfo(image.dtype).max).astype(np.float32 if seed % 8 == 1 else np.float64)
    elif seed % 16 == 2:
        image = image > image.mean()
    settings = {}
    if seed % 3 == 1:
        settings["kernel_size"] = int(rng.integers(1, 40))
    elif seed % 3 == 2:
        settings["kernel_size"] = tuple(int(n) for n in rng.integers(1, 100, 2))
    settings["clip_limit"] = float(rng.choice([0, 0.01, 0.05, 0.3, 1.0]))
    settings["nbins"] = int(rng.choice([16, 100, 256, 300]))
    want, got = exposure.equalize_adapthist(image, **settings), fast_skimage.equalize_adapthist(image, **settings)
    assert got.dtype == want.dtype and np.array_equal(got, want)


def test_colors():
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    np.testing.assert_array_equal(fast_skimage.equalize_adapthist(image), exposure.equalize_adapthist(image))
    ours = boxsum.clahe(image, 3, color=True)
    assert np.array_equal(ours.max(axis=2), boxsum.clahe(image.max(axis=2), 3))
    apart = boxsum.clahe(image, 3)
    assert all(np.array_equal(apart[..., c], boxsum.clahe(np.ascontiguousarray(image[..., c]), 3)) for c in range(3))


def test_mistakes():
    image = np.zeros((9, 9), np.uint8)
    for settings in ({"clip": -1}, {"clip": np.nan}, {"tiles": 0}, {"tiles": (1, 2, 3)}, {"tiles": 10**6}, {"out": np.empty((3, 3), np.uint8)}):
        with pytest.raises(ValueError):
            boxsum.clahe(image, **settings)
    for bad in (image.astype(np.float32), image.astype(np.int16)):
        with pytest.raises(TypeError):
            boxsum.clahe(bad)
    with pytest.raises(ValueError):
        boxsum.clahe(image[0])
    for module in (cv2, fast):
        for bad in (image.astype(np.float32), np.zeros((9, 9, 3), np.uint8)):
            with pytest.raises(module.error):
                module.createCLAHE().apply(bad)
    for module in (exposure, fast_skimage):
        for settings in ({"kernel_size": (1, 2, 3)},):
            with pytest.raises(ValueError):
                module.equalize_adapthist(image, **settings)
        with pytest.raises(ValueError):
            module.equalize_adapthist(image + 5.0)
    for settings in ({"kernel_size": 0}, {"nbins": 0}, {"clip_limit": np.nan}):
        with pytest.raises(ValueError):
            fast_skimage.equalize_adapthist(image, **settings)


def test_arguments_of_opencv():
    """NaN is no limit, and what is no number is a TypeError, with and without OpenCV."""
    image = picture(np.random.default_rng(3), (20, 30), np.uint8)
    np.testing.assert_array_equal(fast.createCLAHE(np.inf, (3, 2)).apply(image), cv2.createCLAHE(0, (3, 2)).apply(image))  # OpenCV converts infinity to an int
    made = fast.createCLAHE(np.nan, (3, 2))
    np.testing.assert_array_equal(made.apply(image), cv2.createCLAHE(np.nan, (3, 2)).apply(image))
    for arguments in ((None,), (None, None), (3, None)):
        np.testing.assert_array_equal(fast.createCLAHE(*arguments).apply(image), cv2.createCLAHE(*arguments).apply(image))
    for module in (cv2, fast):
        for arguments in (("2",), (2, 3), (2, ("2", 3))):
            with pytest.raises(TypeError):
                module.createCLAHE(*arguments)
        with pytest.raises(TypeError):
            module.createCLAHE().setClipLimit("2")


@pytest.mark.filterwarnings("ignore:Downcasting")
@pytest.mark.parametrize("dtype", ["i2", "i4", "u1", "f4"])
@pytest.mark.parametrize("shape", [(24, 30), (40,), (9, 12, 5), (8, 12, 3)])
def test_equalize_adapthist_of_all_layouts(dtype, shape):
    """What is not equalized here is equalized by scikit-image."""
    rng = np.random.default_rng(4)
    image = (rng.random(shape) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, shape)).astype(dtype)
    for given in (image, np.asfortranarray(image), image[::-1], image[..., ::-1]):
        want, got = (library.equalize_adapthist(given, clip_limit=0.02) for library in (exposure, fast_skimage))
        assert want.dtype == got.dtype
        np.testing.assert_array_equal(want, got)
