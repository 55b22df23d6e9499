"""Non-local means beside OpenCV's, to the bit."""

import boxsum
import numpy as np
import pytest
from boxsum.compat import cv2 as fast

cv2 = pytest.importorskip("cv2")


def picture(rng, shape, dtype):
    white = np.iinfo(dtype).max
    y, x = np.indices(shape[:2])
    smooth = 0.5 + 0.3 * np.sin(x / 5) * np.cos(y / 7)
    smooth = smooth.reshape(smooth.shape + (1,) * (len(shape) - 2))
    return (np.clip(smooth + rng.choice([0.05, 0.2, 1]) * (rng.random(shape) - 0.5), 0, 1) * white).astype(dtype)


@pytest.mark.parametrize("seed", range(200))
def test_denoising(seed):
    rng = np.random.default_rng(seed)
    dtype = np.uint16 if seed % 4 == 3 else np.uint8
    shape = tuple(int(n) for n in rng.integers(1, 50, 2))
    if seed % 3 == 1:
        shape += (int(rng.integers(2, 5)),)
    image = picture(rng, shape, dtype)
    h = float(rng.choice([0, 1, 3, 10, 50])) * (257 if dtype == np.uint16 else 1)
    patch, search = (int(n) for n in rng.integers(1, 12, 2))
    if dtype == np.uint8 and seed % 2:
        want = cv2.fastNlMeansDenoising(image, None, h, patch, search)
        got = fast.fastNlMeansDenoising(image, None, h, patch, search)
        np.testing.assert_array_equal(boxsum.nl_means(image, h, patch=patch, search=search), want)
    else:
        norm = cv2.NORM_L1 if dtype == np.uint16 or seed % 4 == 2 else cv2.NORM_L2
        want = cv2.fastNlMeansDenoising(image, [h], None, patch, search, norm)
        got = fast.fastNlMeansDenoising(image, h=[h] * (image.shape[2] if image.ndim == 3 else 1), templateWindowSize=patch, searchWindowSize=search, normType=norm)
        np.testing.assert_array_equal(boxsum.nl_means(image[:, ::-1][:, ::-1], h, patch=patch, search=search, absolute=norm == cv2.NORM_L1), want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    out = np.empty_like(want)
    assert fast.fastNlMeansDenoising(image, out, h) is out if dtype == np.uint8 else True


@pytest.mark.parametrize("seed", range(100))
def test_frames(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(8, 40, 2)) + ((3,) if seed % 2 else ())
    frames = [picture(rng, shape, np.uint8) for _ in range(7)]
    index, count = 3, int(rng.choice([1, 3, 5, 7]))
    patch, search = (int(n) | 1 for n in rng.integers(1, 9, 2))
    want = cv2.fastNlMeansDenoisingMulti(frames, index, count, None, 10, patch, search)
    np.testing.assert_array_equal(fast.fastNlMeansDenoisingMulti(frames, index, count, None, 10, patch, search), want)
    others = [frames[i] for i in range(index - count // 2, index + count // 2 + 1) if i != index]
    np.testing.assert_array_equal(boxsum.nl_means(frames[index], 10, patch=patch, search=search, frames=others), want)
    place = frames[index].copy()
    assert boxsum.nl_means(place, 10, patch=patch, search=search, frames=others, out=place) is place
    np.testing.assert_array_equal(place, want)


def test_forwarded():
    rng = np.random.default_rng(1)
    image = picture(rng, (20, 30, 2), np.uint8)
    np.testing.assert_array_equal(fast.fastNlMeansDenoising(image, [3, 9]), cv2.fastNlMeansDenoising(image, [3, 9]))
    color = picture(rng, (20, 30, 3), np.uint8)
    np.testing.assert_array_equal(fast.fastNlMeansDenoisingColored(color, None, 5, 5), cv2.fastNlMeansDenoisingColored(color, None, 5, 5))
    again = fast.fastNlMeansDenoising(cv2.UMat(color), None, 5)
    assert isinstance(again, cv2.UMat)
    np.testing.assert_array_equal(again.get(), cv2.fastNlMeansDenoising(color, None, 5))


def test_arguments_of_opencv():
    """None stands for the default, the sign of the strength does not matter, and there is one strength or one for each channel."""
    image = picture(np.random.default_rng(2), (20, 30, 3), np.uint8)
    for named in ({"h": None}, {"h": -4}, {"templateWindowSize": None}, {"searchWindowSize": None, "h": 6}, {"h": [5]}, {"h": [5.0] * 3, "normType": 2}):
        np.testing.assert_array_equal(fast.fastNlMeansDenoising(image, **named), cv2.fastNlMeansDenoising(image, **named))
    for module in (cv2, fast):
        for h in ([5, 5], [], "5"):
            with pytest.raises(module.error):
                module.fastNlMeansDenoising(image, h=h)


def test_mistakes():
    image = np.zeros((6, 7), np.uint8)
    for settings in (
        {"strength": -1}, {"strength": np.nan}, {"patch": 0}, {"search": 0}, {"search": 10**6}, {"frames": [image[1:]]},
        {"frames": [image.astype(np.uint16)]}, {"out": np.empty((3, 3), np.uint8)}, {"search": 4001},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            boxsum.nl_means(image, **settings)
    for bad in (image.astype(np.complex64), image > 0):
        with pytest.raises(TypeError):
            boxsum.nl_means(bad)
    with pytest.raises(ValueError):
        boxsum.nl_means(image[0])
    with pytest.raises(ValueError):
        boxsum.nl_means(np.zeros((4, 5, 6), np.uint8))
    for module in (cv2, fast):
        for bad in (image.astype(np.float32), image.astype(np.uint16)):
            with pytest.raises(module.error):
                module.fastNlMeansDenoising(bad, None, 3)
        for index, count in ((0, 3), (1, 2), (5, 1)):
            with pytest.raises(module.error):
                module.fastNlMeansDenoisingMulti([image] * 3, index, count)


@pytest.mark.parametrize("seed", range(60))
def test_scikit_image(seed):
    restoration = pytest.importorskip("skimage.restoration")
    from boxsum.compat import skimage

    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 30 if seed % 3 else 10, 2 if seed % 3 else 3))
    channel_axis = None
    if seed % 2:
        channel_axis = int(rng.integers(-1, len(shape) + 1))
        shape = list(shape)
        shape.insert(channel_axis % (len(shape) + 1), 3)
    dtype = [np.float64, np.float32, np.uint8, np.uint16, np.float16][seed % 5]
    image = (rng.random(shape) * (200 if np.dtype(dtype).kind == "u" else 1)).astype(dtype)
    named = {"channel_axis": channel_axis, "preserve_range": seed % 4 == 0, "sigma": 0.05 * (seed % 2)}
    h = float(rng.uniform(0.05, 0.5)) * (200 if named["preserve_range"] and np.dtype(dtype).kind == "u" else 1)
    arguments = int(rng.integers(1, 7)), int(rng.integers(0, 5)), h
    want = restoration.denoise_nl_means(image, *arguments, **named)
    got = skimage.denoise_nl_means(image, *arguments, **named)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=(1e-8 if want.dtype == np.float64 else 1e-5) * max(1, float(image.max())))


def test_forwarded_scikit_image():
    restoration = pytest.importorskip("skimage.restoration")
    from boxsum.compat import skimage

    image = np.random.default_rng(1).random((12, 14))
    np.testing.assert_array_equal(skimage.denoise_nl_means(image, 5, 3, fast_mode=False), restoration.denoise_nl_means(image, 5, 3, fast_mode=False))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: boxsum.nl_means(a, 0),
        lambda a: boxsum.nl_means(a, noise=-1),
        lambda a: boxsum.nl_means(a, frames=[a]),
        lambda a: boxsum.nl_means(a, volume=True),
        lambda a: boxsum.nl_means(np.full((3, 3), np.nan)),
        lambda a: boxsum.nl_means(np.zeros((3, 3), np.uint8), noise=1),
    ],
)
def test_refused_floats(call):
    with pytest.raises(ValueError):
        call(np.zeros((5, 6)))
