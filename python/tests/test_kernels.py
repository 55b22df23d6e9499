"""Sums of boxes beside their definitions and scikit-image."""

import boxsum
import numpy as np
import pytest
from boxsum.compat import skimage as fast

feature = pytest.importorskip("skimage.feature")


def padded(image, reach, border):
    mode = {"reflect101": "reflect", "reflect": "symmetric", "replicate": "edge", "constant": "constant", "wrap": "wrap", "clip": "constant"}[border]
    named = {"constant_values": 3} if border == "constant" else {}
    return np.pad(image, [(reach, reach)] * 2 + [(0, 0)] * (image.ndim - 2), mode, **named)


@pytest.mark.parametrize("seed", range(200))
def test_sums(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 30, 2)) + ((3,) if seed % 3 == 0 else ())
    dtype = [np.uint8, np.uint16, np.float32, np.float64, np.int16][seed % 5]
    image = (rng.random(shape) * 200).astype(dtype)
    border = str(rng.choice(["reflect101", "reflect", "replicate", "constant", "wrap", "clip"]))
    corners = rng.integers(-5, 5, (4, 2))
    kernel = np.hstack([corners, corners + rng.integers(1, 4, (4, 2)), rng.integers(-9, 9, (4, 1))])
    wide = padded(image.astype(np.float64), 9, border)
    want = np.zeros(shape)
    for x0, y0, x1, y1, weight in kernel:
        for y in range(y0, y1):
            for x in range(x0, x1):
                want += weight * wide[9 + y : 9 + y + shape[0], 9 + x : 9 + x + shape[1]]
    got = boxsum.filter_boxes(image, kernel, border=border, value=3, dtype=np.float64)
    np.testing.assert_allclose(got, want, atol=1e-9 if dtype in (np.float32, np.float64) else 0, rtol=0)
    out = np.empty(shape, np.float32)
    assert boxsum.filter_boxes(image[::-1][::-1], kernel, border=border, value=3, out=out) is out
    np.testing.assert_array_equal(out, got.astype(np.float32))


@pytest.mark.parametrize("seed", range(60))
def test_hessian(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 60, 2))
    sigma = float(rng.uniform(1, 6))
    dtype = [np.float64, np.float32, np.uint8, np.uint16, np.int16][seed % 5]
    image = rng.random(shape) - 0.5 * (seed % 2) if seed % 5 < 2 else rng.integers(0, 256, shape)
    image = image.astype(dtype)
    want = feature.hessian_matrix_det(image, sigma)
    got = fast.hessian_matrix_det(image, sigma)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-13, rtol=0)


def test_forwarded():
    image = np.random.default_rng(1).random((20, 22))
    np.testing.assert_array_equal(fast.hessian_matrix_det(image, 2, approximate=False), feature.hessian_matrix_det(image, 2, approximate=False))
    np.testing.assert_array_equal(fast.hessian_matrix_det(image, 0.5), feature.hessian_matrix_det(image, 0.5))


def test_kernels():
    weights = np.random.default_rng(1).integers(-1, 2, (7, 9))
    made = np.zeros((7, 9))
    for x0, y0, x1, y1, weight in boxsum.box_kernel(weights, anchor=(2, 3)):
        made[int(y0) + 3 : int(y1) + 3, int(x0) + 2 : int(x1) + 2] += weight
    np.testing.assert_array_equal(made, weights)
    for kernel in (boxsum.box_kernel("dob", 3), boxsum.box_kernel("star", 4, 2), boxsum.box_kernel("octagon", (5, 2), (3, 0))):
        assert np.abs(boxsum.filter_boxes(np.full((50, 60), 7, np.uint8), kernel)).max() < 1e-5


def test_targets():
    rng = np.random.default_rng(2)
    power = rng.exponential(1, (300, 400)).astype(np.float32)
    found = boxsum.targets(power, 2, 6, 0.01)
    assert found.dtype == bool and abs(found.mean() - 0.01) < 0.002
    np.testing.assert_array_equal(boxsum.targets(np.sqrt(power), 2, 6, 1e-3, amplitudes=True).shape, power.shape)
    out = np.empty(power.shape, np.uint8)
    assert boxsum.targets(power, 2, 6, 0.01, out=out) is out
    np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize("method", ["lee", "kuan", "frost", "gamma-map"])
def test_despeckle(method):
    ndimage = pytest.importorskip("scipy.ndimage")
    rng = np.random.default_rng(3)
    image = (np.where(np.indices((60, 70))[1] > 30, 100, 20) * rng.gamma(4, 1 / 4, (60, 70))).astype(np.float64)
    got = boxsum.despeckle(image, method, window=5, looks=4, damping=1.5)
    mean, square = (ndimage.uniform_filter(v, 5) for v in (image, image**2))
    ratio, noise = (square - mean**2) * 25 / 24 / mean**2, 1 / 4
    weight = np.maximum(1 - noise / ratio, 0)
    if method == "frost":
        total = weights = 0
        for y in range(-2, 3):
            for x in range(-2, 3):
                part = np.exp(-1.5 * ratio * max(abs(x), abs(y)))
                total, weights = total + part * np.roll(image, (-y, -x), (0, 1)), weights + part
        want = total / weights
    elif method == "gamma-map":
        alpha = (1 + noise) / (ratio - noise)
        beta = alpha - 4 - 1
        want = (beta * mean + np.sqrt(np.maximum((beta * mean) ** 2 + 16 * alpha * mean * image, 0))) / (2 * alpha)
        want = np.where(ratio <= noise, mean, np.where(ratio >= 2 * noise, image, want))
    else:
        weight = weight / (1 + noise if method == "kuan" else 1)
        want = image * weight + mean * (1 - weight)
    np.testing.assert_allclose(got[2:-2, 2:-2], want[2:-2, 2:-2], rtol=1e-9)
    assert boxsum.despeckle(image.astype(np.uint8), method).dtype == np.float32


@pytest.mark.parametrize(
    "call",
    [
        lambda a: boxsum.filter_boxes(a, []),
        lambda a: boxsum.filter_boxes(a, [[0, 0, 1, 1]]),
        lambda a: boxsum.filter_boxes(a, [[0, 0, 0.5, 1, 1]]),
        lambda a: boxsum.filter_boxes(a, [[0, 0, 0, 1, 1]]),
        lambda a: boxsum.filter_boxes(a, [[0, 0, 1, 1, np.nan]]),
        lambda a: boxsum.filter_boxes(a, [[0, 0, 1, 1, 1]], border="no"),
        lambda a: boxsum.filter_boxes(a, [[0, 0, 1, 1, 1]], margin=-1),
        lambda a: boxsum.filter_boxes(np.full((4, 4), np.nan), [[0, 0, 1, 1, 1]]),
        lambda a: boxsum.hessian(a, 0.1),
        lambda a: boxsum.targets(a, -1, 2),
        lambda a: boxsum.targets(a, 1, 2, 0),
        lambda a: boxsum.despeckle(a, "mean"),
        lambda a: boxsum.despeckle(a, window=4),
        lambda a: boxsum.despeckle(a, looks=0),
        lambda a: boxsum.despeckle(-np.ones((5, 5))),
        lambda a: boxsum.box_kernel("disc", 2),
        lambda a: boxsum.box_kernel("dob"),
        lambda a: boxsum.box_kernel("star", 2, 2),
        lambda a: boxsum.box_kernel([1, 2]),
        lambda a: boxsum.box_kernel([[0]]),
    ],
)
def test_refused(call):
    with pytest.raises(ValueError):
        call(np.zeros((5, 6), np.uint8))
