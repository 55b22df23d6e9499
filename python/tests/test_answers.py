"""The arithmetic that answers boxes of tables on a device, with NumPy in the place of the device."""

import numpy as np
import pytest
from oracle import pixels

import boxsum
from boxsum import _cuda, _known
from boxsum._arguments import DEVIATION, MEAN, SUM, VARIANCE


def ask(sums, squares, boxes, what):
    with np.errstate(invalid="ignore"):
        return _cuda.answers(np, sums, squares, np.asarray(boxes), what, lambda a: np.asarray(a).astype("f8"), lambda a: np.asarray(a).astype("i8"))


def some_boxes(rng, shape, count=300):
    axes = len(shape)
    low = rng.integers(-3, shape[::-1], (count, axes))
    return np.hstack([low, low + rng.integers(0, 1 + rng.integers(1, shape[::-1], (count, axes)))])


IMAGES = {
    "u1": lambda rng, shape: pixels(shape, "u1"),
    "bright": lambda rng, shape: rng.integers(253, 256, shape).astype("u1"),
    "u2": lambda rng, shape: rng.integers(65530, 65536, shape).astype("u2"),
    "i2": lambda rng, shape: rng.integers(-(1 << 15), 5 - (1 << 15), shape).astype("i2"),
    "u4": lambda rng, shape: rng.integers(0, 1 << 32, shape).astype("u4"),
    "small u4": lambda rng, shape: rng.integers(0, 9, shape).astype("u4"),
    "i4": lambda rng, shape: rng.integers(-(1 << 20), 9 - (1 << 20), shape).astype("i4"),
    "whole": lambda rng, shape: rng.integers(0, 256, shape).astype("f4"),
    "flat": lambda rng, shape: np.full(shape, 255, "f8"),
    "unit": lambda rng, shape: rng.random(shape).astype("f4"),
    "near": lambda rng, shape: rng.standard_normal(shape) + 300,
    "ramp": lambda rng, shape: np.broadcast_to(np.linspace(0, 1e7, shape[1]).reshape((1, -1) + (1,) * (len(shape) - 2)), shape) + rng.standard_normal(shape),
}


@pytest.mark.parametrize("shape, axes", [((50, 60), 2), ((40, 30, 3), 2), ((12, 15, 20), 3), ((200, 300), 2)])
@pytest.mark.parametrize("kind", IMAGES)
def test_as_on_the_processor(kind, shape, axes):
    """The same numbers, and the same refused."""
    rng = np.random.default_rng(1)
    image = np.ascontiguousarray(IMAGES[kind](rng, shape))
    tables = (boxsum.integral if axes == 2 else boxsum.volume)(image, squares=True)
    sums, squares = (t.copy() for t in tables)  # of which no more is known
    boxes = some_boxes(rng, shape[:axes])
    np.testing.assert_array_equal(ask(sums, None, boxes, SUM), boxsum.box_sum(sums, boxes))
    np.testing.assert_array_equal(ask(sums, None, boxes, MEAN), boxsum.box_mean(sums, boxes))
    for what, function in ((VARIANCE, boxsum.box_var), (DEVIATION, boxsum.box_std)):
        got, want = ask(sums, squares, boxes, what), function(sums, squares, boxes)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_allclose(got, want, rtol=4e-15)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_float_sums_of_both_sizes(dtype):
    rng = np.random.default_rng(2)
    for image in (rng.integers(0, 4, (60, 70)).astype("f4"), rng.random((60, 70)).astype("f4") + 7):
        sums, squares = (t.copy() for t in boxsum.integral(image, dtype=dtype, squares=True))
        boxes = some_boxes(rng, image.shape)
        got, want = ask(sums, squares, boxes, VARIANCE), boxsum.box_var(sums, squares, boxes)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_allclose(got, want, rtol=4e-15)


def test_wide_boxes_are_refused():
    """Sums that may not fit raise, as the pixels that are known tell."""
    table = boxsum.integral(np.full((5000, 5000), 255, "u1"), dtype="u4")
    with pytest.raises(ValueError, match="more than 16843009 pixels"):
        ask(table, None, [0, 0, 5000, 5000], MEAN)
    assert ask(table, None, [0, 0, 4000, 4000], MEAN) == 255
    wide = boxsum.integral(np.full((9, 9), (1 << 32) - 1, "u4"), dtype="u4")
    with pytest.raises(ValueError, match="more than 1 pixels"):
        ask(wide, None, [0, 0, 2, 2], MEAN)
    squares = boxsum.integral(np.full((9, 9), (1 << 32) - 1, "u4"), squares=True, out=(None, np.empty((10, 10), "u8")))
    with pytest.raises(ValueError, match="more than 1 pixels"):
        ask(*squares, [0, 0, 2, 2], VARIANCE)


@pytest.mark.parametrize("center", [1e5, -1e7])
def test_digits(center):
    """Tables of pixels less an offset, as long as the plain ones are what they were."""
    rng = np.random.default_rng(3)
    image = rng.standard_normal((300, 400)) + center
    sample = image[np.ix_(_cuda.spread(300), _cuda.spread(400))]
    offset = _cuda.center(sample)
    assert abs(offset - center) < 1 and _cuda.center(sample - center) == 0
    plain, fine = ([t.copy() for t in boxsum.integral(i, squares=True)] for i in (image, image - offset))
    digits = _known.Digits(*fine, offset, last=[t[-1].copy() for t in plain])
    for table in plain:
        _known.remember(table, _known.Known(digits=digits))
    boxes = np.hstack([low := rng.integers(0, 250, (200, 2)), low + rng.integers(2, 50, (200, 2))])
    want = np.array([image[y0:y1, x0:x1].std() for x0, y0, x1, y1 in boxes])
    np.testing.assert_allclose(ask(*plain, boxes, DEVIATION), want, rtol=1e-6)
    np.testing.assert_allclose(ask(plain[0], None, boxes, MEAN), [image[y0:y1, x0:x1].mean() for x0, y0, x1, y1 in boxes], rtol=1e-14)
    mixed = ask(plain[0], plain[1].copy(), boxes, DEVIATION)
    assert np.all(np.isnan(mixed) | (abs(mixed - want) < 1e-2 * want))
    plain[0] *= 2
    assert not np.any(abs(ask(plain[0], None, boxes, MEAN) - 2 * offset) > 9)


def test_the_center_is_that_of_the_library():
    rng = np.random.default_rng(4)
    for image in (far := rng.standard_normal((30, 41)) + 1e6, far.astype("f4"), far * 1e-9, np.full((3, 4), 7.5), far[:1, :1], -far):
        sums, _ = boxsum.integral(np.ascontiguousarray(image), squares=True)
        digits = _known.of(sums).digits
        sample = image[np.ix_(*(_cuda.spread(n) for n in image.shape))]
        assert _cuda.center(sample) == (digits.offset if digits else 0) != 0
