"""Comparisons of images beside scikit-image's, and their mistakes."""

import boxsum
import numpy as np
import pytest
from boxsum.compat import skimage as fast

metrics = pytest.importorskip("skimage.metrics")

pytestmark = pytest.mark.filterwarnings("ignore:Setting data_range|Inputs have mismatched")


def pairs(rng, shape, dtype):
    span = {"u1": 255, "u2": 65535, "i2": 20000}.get(np.dtype(dtype).str[1:], 1)
    a = rng.random(shape) * span
    b = np.clip(a + rng.normal(0, 0.1 * span, shape), 0, span)
    return a.astype(dtype), b.astype(dtype)


@pytest.mark.parametrize("seed", range(200))
def test_structural_similarity(seed):
    rng = np.random.default_rng(seed)
    dtype = ["u1", "u2", "f4", "f8", "i2", "?"][seed % 6]
    solid = seed % 5 == 4
    least = 7 if solid else 11
    settings = {}
    if seed % 3 == 1:
        settings["win_size"] = int(rng.integers(1, 5)) * 2 + 1
    if seed % 3 == 2:
        settings.update(gaussian_weights=True, sigma=float(rng.uniform(0.4, 1.5 if not solid else 0.8)))
        if seed % 2:
            settings["win_size"] = int(rng.integers(1, 4)) * 2 + 1
    shape = tuple(int(n) for n in rng.integers(least, 40 if not solid else 16, 3 if solid else 2))
    if seed % 4 == 0:
        axis = int(rng.integers(0, len(shape) + 1))
        shape = shape[:axis] + (int(rng.integers(1, 4)),) + shape[axis:]
        settings["channel_axis"] = axis - len(shape) if rng.random() < 0.5 else axis
    if np.dtype(dtype).kind == "f" or rng.random() < 0.3 or dtype == "?":
        settings["data_range"] = float(rng.uniform(0.5, 2)) * (1 if np.dtype(dtype).kind in "fb" else 255)
    if rng.random() < 0.3:
        settings.update(use_sample_covariance=False, K1=0.02, K2=0.05)
        if rng.random() < 0.2:
            settings["K1"] = 0.0
    settings["full"] = bool(rng.random() < 0.7)
    settings["gradient"] = bool(rng.random() < 0.3)
    a, b = pairs(rng, shape, dtype)
    if min(n for i, n in enumerate(shape) if settings.get("channel_axis", len(shape)) % len(shape) != i or "channel_axis" not in settings) < settings.get("win_size", 7):
        settings["win_size"] = 3
    want = metrics.structural_similarity(a, b, **settings)
    got = fast.structural_similarity(a, b, **settings)
    assert type(got) is type(want)
    narrow = dtype == "f4"
    for i, (w, g) in enumerate(zip(*(r if isinstance(r, tuple) else (r,) for r in (want, got)))):
        assert np.shape(w) == np.shape(g) and np.asarray(w).dtype == np.asarray(g).dtype
        np.testing.assert_allclose(g, w, rtol=2e-3 if narrow else 1e-7, atol=(2e-4 if i else 2e-6) if narrow else 1e-9)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "i2"])
def test_errors_of_pixels(dtype):
    rng = np.random.default_rng(3)
    for shape in ((5,), (4, 3), (3, 4, 5), (2, 3, 4, 5)):
        a, b = pairs(rng, shape, dtype)
        np.testing.assert_allclose(fast.mean_squared_error(a, b), metrics.mean_squared_error(a, b), rtol=1e-6)
        np.testing.assert_allclose(fast.peak_signal_noise_ratio(a, b), metrics.peak_signal_noise_ratio(a, b), rtol=1e-6)
        assert fast.peak_signal_noise_ratio(a, a) == np.inf
    with pytest.raises(ValueError):
        fast.mean_squared_error(a, a[0])


def test_mistakes_like_the_peer():
    rng = np.random.default_rng(4)
    a, b = pairs(rng, (9, 12), "u1")
    for settings in ({"win_size": 11}, {"win_size": 4}, {"K1": -1}, {"K2": -1}, {"sigma": -1}):
        for module in (metrics, fast):
            with pytest.raises(ValueError):
                module.structural_similarity(a, b, **settings)
    for module in (metrics, fast):
        with pytest.raises(ValueError):
            module.structural_similarity(a, b[:-1])
        with pytest.raises(ValueError):
            module.structural_similarity(a / 255, b / 255)
        with pytest.raises(ValueError):
            module.peak_signal_noise_ratio(a / 2.0, b / 2.0)
        with pytest.raises(ValueError):
            module.mean_squared_error(a * 1j, b)
        with pytest.raises(ValueError):
            module.peak_signal_noise_ratio(a, b * 1j, data_range=1)
        with pytest.raises(KeyError):
            module.peak_signal_noise_ratio(a * 1j, b * 1j)


def test_other_axes():
    """scikit-image compares arrays of other numbers of axes."""
    rng = np.random.default_rng(6)
    for shape, axis in (((40,), None), ((40, 3), -1), ((8, 9, 7, 8), None)):
        a, b = pairs(rng, shape, "u1")
        want, got = (module.structural_similarity(a, b, channel_axis=axis, full=True) for module in (metrics, fast))
        assert want[0] == got[0]
        np.testing.assert_array_equal(want[1], got[1])


def test_offset():
    rng = np.random.default_rng(5)
    a = rng.random((60, 70)) / 100
    b = a + rng.normal(0, 0.001, a.shape)
    low = boxsum.lncc(a[4:-4, 4:-4], b[4:-4, 4:-4], window=5)
    assert 0 < low <= 1
    near = [boxsum.ssim(a + offset, b + offset, data_range=0.01) for offset in (0, 10, 1000)]
    assert near[1] == pytest.approx(near[2], abs=1e-6) and near[1] < 1
    single = boxsum.ssim((a + 10).astype(np.float32), (b + 10).astype(np.float32), data_range=0.01)
    assert abs(single - near[1]) < 1e-3


def test_masks():
    rng = np.random.default_rng(6)
    a, b = pairs(rng, (30, 40), "f8")
    mask = rng.random(a.shape) < 0.8
    holes = np.where(mask, a, np.nan)
    want, similarity = boxsum.ssim(a, b, mask=mask, data_range=1, full=True)
    got, other = boxsum.ssim(holes, b, nan="skip", data_range=1, full=True)
    assert got == want and np.array_equal(similarity, other)
    assert np.isnan(boxsum.ssim(holes, b, data_range=1))
    assert boxsum.mse(holes, b, nan="skip") == pytest.approx(((a - b)[mask] ** 2).mean(), rel=1e-12)
    assert boxsum.lncc(a, a, mask=mask) == pytest.approx(1, abs=1e-2)
    out = np.empty(a.shape, np.float32)
    score, made = boxsum.ssim(a, b, data_range=1, out=out)
    assert made is out and isinstance(score, float)
    assert np.isnan(boxsum.mse(a, b, mask=np.zeros_like(mask)))


def test_volumes_and_channels():
    rng = np.random.default_rng(7)
    a, b = pairs(rng, (9, 12, 14), "u1")
    assert boxsum.ssim(a, b, volume=True) == pytest.approx(metrics.structural_similarity(a, b), abs=1e-12)
    a, b = pairs(rng, (12, 14, 3), "u2")
    assert boxsum.ssim(a[::2], b[::2], window=5) == pytest.approx(metrics.structural_similarity(a[::2], b[::2], win_size=5, channel_axis=-1), abs=1e-12)
    assert boxsum.ssim(a[:, ::-1], b[:, ::-1]) == pytest.approx(boxsum.ssim(a, b), abs=1e-12)
    assert boxsum.psnr(a, b) == pytest.approx(metrics.peak_signal_noise_ratio(a, b), abs=1e-9)
    a, b = pairs(rng, (170, 180), "u1")
    assert 0 < boxsum.ms_ssim(a, b) < 1


@pytest.mark.parametrize(
    ("error", "arguments", "settings"),
    [
        (ValueError, ((9, 9), (9, 8)), {}),
        (ValueError, ((9,), (9,)), {}),
        (ValueError, ((6, 9), (6, 9)), {}),
        (ValueError, ((9, 9), (9, 9)), {"window": 4}),
        (ValueError, ((9, 9), (9, 9)), {"window": 3, "sigma": 1.0}),
        (ValueError, ((9, 9), (9, 9)), {"sigma": -1.0}),
        (ValueError, ((9, 9), (9, 9)), {"data_range": 0}),
        (ValueError, ((9, 9), (9, 9)), {"nan": "drop"}),
        (ValueError, ((9, 9), (9, 9)), {"mask": np.ones((3, 3))}),
        (ValueError, ((9, 9), (9, 9)), {"out": np.empty((3, 3))}),
        (TypeError, ((9, 9), (9, 9)), {"out": np.empty((9, 9), np.int32)}),
        (TypeError, ((9, 9), (9, 9)), {"k1": "small"}),
        (ValueError, ((9, 9), (9, 9)), {"k1": -1.0}),
        (ValueError, ((9, 9), (9, 9)), {"volume": True}),
    ],
)
def test_mistakes(error, arguments, settings):
    a, b = (np.zeros(shape, np.uint8) for shape in arguments)
    with pytest.raises(error):
        boxsum.ssim(a, b, **settings)


def test_types():
    a = np.zeros((9, 9))
    with pytest.raises(ValueError):
        boxsum.ssim(a, a)
    with pytest.raises(TypeError):
        boxsum.ssim(a, a.astype(np.float32), data_range=1)
    with pytest.raises(TypeError):
        boxsum.ssim(a.astype(complex), a.astype(complex), data_range=1)
    assert boxsum.ssim(a > 0, a > 0) == 1
