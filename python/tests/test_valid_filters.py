"""Filters of valid pixels: masks, NaN that is left out, masked arrays."""

import boxsum
import numpy as np
import pytest

PADS = {"reflect101": "reflect", "reflect": "symmetric", "replicate": "edge", "wrap": "wrap"}
STATISTICS = {"local_mean": np.mean, "local_var": np.var, "local_std": np.std}


def expected(statistic, image, valid, size, border):
    """Return a statistic of the valid pixels of every window, computed window by window."""
    across, down = size
    pads = [(down // 2, (down - 1) // 2), (across // 2, (across - 1) // 2)]
    if border == "clip":
        pixels, shown = np.pad(image.astype(float), pads), np.pad(valid, pads)
    elif border == "constant":
        pixels, shown = np.pad(image.astype(float), pads), np.pad(valid, pads, constant_values=True)
    else:
        pixels, shown = (np.pad(a, pads, mode=PADS[border]) for a in (image.astype(float), valid))
    windows, counts = (np.lib.stride_tricks.sliding_window_view(a, (down, across)) for a in (pixels, shown))
    result = np.full(image.shape, np.nan)
    for at in np.ndindex(image.shape):
        values = windows[at][counts[at]]
        if values.size:
            result[at] = statistic(values)
    return result


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
@pytest.mark.parametrize("border", ["reflect101", "reflect", "replicate", "wrap", "constant", "clip"])
def test_statistics_of_valid_pixels(dtype, border):
    rng = np.random.default_rng(3)
    image = rng.integers(0, 200, (14, 19)).astype(dtype)
    valid = rng.random(image.shape) > 0.5
    valid[:6, :7] = False  # windows without valid pixels
    ways = [(image, {"mask": valid}), (np.ma.masked_array(image, ~valid), {})]
    if image.dtype.kind == "f":
        holes = np.where(valid, image, np.nan).astype(dtype)
        ways += [(holes, {"nan": "skip"}), (np.where(np.arange(19) % 2, holes, image), {"nan": "skip", "mask": valid})]
    for size in [(3, 3), (4, 5)]:
        for name, statistic in STATISTICS.items():
            want = expected(statistic, image, valid, size, border)
            for a, named in ways:
                got = getattr(boxsum, name)(a, size, border=border, dtype="f8", **named)
                np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=f"{name} {size} {sorted(named)}")
        for a, named in ways:
            means, deviations = boxsum.local_mean_std(a, size, border=border, dtype="f8", **named)
            np.testing.assert_array_equal(means, boxsum.local_mean(a, size, border=border, dtype="f8", **named))
            np.testing.assert_array_equal(deviations, boxsum.local_std(a, size, border=border, dtype="f8", **named))
            sums = boxsum.box_filter(a, size, mean=False, dtype="f8", border=border, **named)
            np.testing.assert_allclose(sums, np.nan_to_num(expected(np.sum, image, valid, size, border)), rtol=1e-9, atol=1e-9)
            normal = boxsum.normalize(a, size, floor=1, border=border, dtype="f8", **named)
            want = np.where(valid, (image - means) / np.maximum(deviations, 1), np.nan)
            np.testing.assert_allclose(normal, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
def test_blurs_of_valid_pixels(dtype):
    rng = np.random.default_rng(4)
    image = rng.integers(0, 200, (14, 19)).astype(dtype)
    valid = rng.random(image.shape) > 0.6
    valid[:7, :8] = False
    want = expected(np.mean, image, valid, (5, 3), "reflect101")
    if image.dtype.kind == "u":
        want = np.floor(np.nan_to_num(want) + 0.5)
    for got in (boxsum.blur(image, (2, 1), mask=valid), boxsum.box_filter(image, (5, 3), mask=valid), boxsum.blur(np.ma.masked_array(image, ~valid), (2, 1))):
        assert got.dtype == image.dtype and type(got) is np.ndarray
        np.testing.assert_allclose(got, want, rtol=1e-6)
    image[~valid] = 0
    there = image.copy()
    assert boxsum.blur(there, (2, 1), mask=valid, out=there) is there
    np.testing.assert_allclose(there, want, rtol=1e-6)


def test_a_raster_with_holes_keeps_its_size():
    rng = np.random.default_rng(5)
    raster = rng.normal(10, 3, (120, 160)).astype("f4")
    raster[rng.random(raster.shape) < 0.07] = np.nan
    for filtered in (boxsum.blur(raster, 2, nan="skip"), boxsum.local_mean(raster, 5, nan="skip"), boxsum.local_std(raster, 5, nan="skip")):
        assert not np.isnan(filtered).any()
    assert np.isnan(boxsum.blur(raster, 2)).mean() > 0.7


def test_channels_and_batches():
    rng = np.random.default_rng(6)
    image = rng.random((9, 11, 3))
    mask = rng.random((9, 11)) > 0.3
    holes = image.copy()
    holes[rng.random(image.shape) > 0.7] = np.nan
    for a, named in ((image, {"mask": mask}), (image, {"mask": mask[..., None]}), (holes, {"nan": "skip"}), (image, {"mask": ~np.isnan(holes)})):
        got = boxsum.local_mean(a, 3, **named)
        for c in range(3):
            of = {k: m[..., min(c, m.shape[2] - 1)] if k == "mask" and m.ndim == 3 else m for k, m in named.items()}
            np.testing.assert_allclose(got[..., c], boxsum.local_mean(a[..., c], 3, **of), rtol=1e-12)
    stack = np.moveaxis(image, -1, 0)
    many, each = np.ascontiguousarray(stack), np.ascontiguousarray(np.moveaxis(~np.isnan(holes), -1, 0))
    for planes in (stack, many):
        for name in ("blur", "local_mean", "local_std", "normalize"):
            run = getattr(boxsum, name)
            size = 1 if name == "blur" else 3
            np.testing.assert_allclose(run(planes, size, axes=(-2, -1), mask=mask), [run(p, size, mask=mask) for p in many], rtol=1e-9)
            np.testing.assert_allclose(run(planes, size, axes=(-2, -1), mask=each), [run(p, size, mask=m) for p, m in zip(many, each)], rtol=1e-9)
            np.testing.assert_allclose(run(np.moveaxis(holes, -1, 0), size, axes=(-2, -1), nan="skip"), [run(p, size, nan="skip") for p in np.moveaxis(holes, -1, 0)], rtol=1e-9)
    hidden = np.ma.masked_array(image, np.isnan(holes))
    np.testing.assert_allclose(boxsum.local_mean(hidden, 3, mask=mask), boxsum.local_mean(image, 3, mask=~np.isnan(holes) & mask[..., None]))
    np.testing.assert_array_equal(boxsum.local_mean(np.ma.masked_array(image, False), 3), boxsum.local_mean(image, 3))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u4", "i8", "u8", "f2"])
def test_other_types(dtype):
    rng = np.random.default_rng(7)
    image = rng.integers(0, 100, (9, 11)).astype(dtype)
    valid = rng.random(image.shape) > 0.4
    valid[:5, :5] = False
    means = expected(np.mean, image, valid, (3, 5), "reflect101")
    want = means.astype(dtype) if dtype == "f2" else np.floor(np.nan_to_num(means) + 0.5)
    hidden = np.ma.masked_array(image, ~valid)
    stack, masked = np.stack([image, image]), np.ma.stack([hidden, hidden])
    for a, named in ((image, {"mask": valid}), (hidden, {}), (stack, {"mask": valid, "axes": (1, 2)}), (masked, {"axes": (1, 2)}), (masked, {"mask": valid, "axes": (1, 2)})):
        for got in (boxsum.blur(a, (1, 2), **named), boxsum.box_filter(a, (3, 5), **named)):
            assert got.dtype == image.dtype
            np.testing.assert_array_equal(got, np.broadcast_to(want, a.shape))
        np.testing.assert_allclose(boxsum.local_mean(a, (3, 5), dtype="f8", **named), np.broadcast_to(means, a.shape))


def test_masked_pixels_need_not_fit():
    """The value that stands for missing data is often the least of 64 bits."""
    image = np.arange(30).reshape(5, 6)
    image[1, 2] = image[4, 4] = np.iinfo(np.int64).min
    valid = image >= 0
    want = expected(np.mean, np.where(valid, image, 0), valid, (3, 3), "reflect101")
    for a, named in ((image, {"mask": valid}), (np.ma.masked_less(image, 0), {}), (np.stack([image] * 2), {"mask": valid, "axes": (1, 2)}), (image[..., None], {"mask": valid})):
        np.testing.assert_allclose(np.squeeze(boxsum.local_mean(a, 3, **named)), np.broadcast_to(want, np.squeeze(a).shape))
        np.testing.assert_array_equal(np.squeeze(boxsum.blur(a, 1, **named)), np.broadcast_to(np.floor(want + 0.5), np.squeeze(a).shape))
    for call in (lambda: boxsum.local_mean(image, 3), lambda: boxsum.blur(image, 1, mask=valid | True)):
        with pytest.raises(TypeError, match=r"use .astype\(float\) to round them"):
            call()
    for nothing in (np.ma.masked_array(image, True), np.ma.masked_array(image.astype("u1"), True)):
        assert not boxsum.blur(nothing, 1).any() and np.isnan(boxsum.local_mean(nothing, 3)).all()


def test_mistakes():
    image, mask = np.zeros((5, 6)), np.ones((5, 6), bool)
    for error, text, make in (
        (ValueError, "nan must be 'keep' or 'skip', got 'omit'", lambda: boxsum.blur(image, 1, nan="omit")),
        (ValueError, "boxes of one size", lambda: boxsum.blur(image, sigma=3, nan="skip")),
        (ValueError, "boxes of one size", lambda: boxsum.blur(image, 1, gaussian=True, mask=mask)),
        (ValueError, "boxes of one size", lambda: boxsum.blur(image, np.ones((5, 6), "u1"), mask=mask)),
        (ValueError, r"mask must have the shape of the image, \(5, 6\), .*, got \(6, 5\)", lambda: boxsum.local_mean(image, 3, mask=mask.T)),
        (ValueError, r"mask must have .*, got \(\)", lambda: boxsum.local_std(image, 3, mask=True)),
        (ValueError, r"or \(5, 6\) for all of them", lambda: boxsum.local_std(image[None], 3, mask=mask[:, :3], axes=(1, 2))),
        (ValueError, "masked elements", lambda: boxsum.median(np.ma.masked_array(image, mask), 3)),
    ):
        with pytest.raises(error, match=text):
            make()
