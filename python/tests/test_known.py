"""What boxsum remembers of a table: every mean and deviation is right, or it is NaN."""

import copy
import gc
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import boxsum
from boxsum import _known


def exact(part):
    """The mean and the deviation of integers, rounded once each."""
    values = [int(p) for p in part.ravel()]
    mean = Fraction(sum(values), len(values))
    variance = Fraction(sum(v * v for v in values), len(values)) - mean * mean
    return float(mean), math.sqrt(variance)


def some_boxes(rng, shape, count=40):
    x, y = (np.sort(rng.integers(0, n + 1, (count, 2)), -1) for n in (shape[1], shape[0]))
    boxes = np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], -1)
    return np.vstack([boxes[(x[:, 0] < x[:, 1]) & (y[:, 0] < y[:, 1])], [[0, 0, shape[1], shape[0]], [0, 0, 1, 1]]])


FULL = {"u4": (0, 1 << 32), "i4": (-(1 << 31), 1 << 31), "i2": (-(1 << 15), 1 << 15), "u2": (0, 1 << 16), "u1": (0, 256), "i1": (-128, 128)}
RANGES = [(t, *r) for t, r in FULL.items()] + [
    ("u4", (1 << 32) - 3, 1 << 32),
    ("i4", -(1 << 31), 3 - (1 << 31)),
    ("u4", 1_000_000, 1_000_004),
    ("i4", -5, 0),
    ("i2", -4, -1),
]


# Every range with the types of sums that its pixels have.
SUMS = [(t, *r, dtype) for dtype in (None, "u4", "i4", "u8", "i8") for t, *r in RANGES if dtype is None or (np.dtype(t), np.dtype(dtype)) in boxsum._types.sums]


@pytest.mark.parametrize("pixel, low, high, dtype", SUMS)
@pytest.mark.parametrize("asked", [False, True])
def test_integers(pixel, low, high, dtype, asked):
    """Of every type of sums, asked for or not, with float squares or those modulo 2**64."""
    rng = np.random.default_rng(1)
    image = rng.integers(low, high, (23, 31)).astype(pixel)
    out = (None, np.empty((24, 32), "u8")) if asked else None
    sums, squares = boxsum.integral(image, dtype=dtype, squares=True, out=out)
    boxes = some_boxes(rng, image.shape)
    want = np.array([exact(image[y0:y1, x0:x1]) for x0, y0, x1, y1 in boxes])
    np.testing.assert_allclose(boxsum.box_mean(sums, boxes), want[:, 0], rtol=1e-15)
    np.testing.assert_allclose(boxsum.box_mean(boxsum.integral(image, dtype=dtype), boxes), want[:, 0], rtol=1e-15)
    got = boxsum.box_std(sums, squares, boxes)
    if sums.itemsize == 4 and np.dtype(pixel).itemsize == 4 and not asked:  # whose sums do not go with rounded squares
        assert np.all(np.isnan(got) | np.isclose(got, want[:, 1], rtol=1e-6, atol=0))
    else:
        np.testing.assert_allclose(got, want[:, 1], rtol=1e-15)
    valid = rng.random(image.shape) > 0.3
    some = boxsum.integral(image, squares=True, mask=valid)
    for (x0, y0, x1, y1), got, std in zip(boxes, boxsum.box_mean(some[0], boxes), boxsum.box_std(*some[:2], boxes, counts=some[2])):
        part = image[y0:y1, x0:x1][valid[y0:y1, x0:x1]]
        np.testing.assert_allclose([got, std], exact(part) if part.size else np.nan, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["u8", "i8"])
def test_integers_of_64_bits(dtype):
    rng = np.random.default_rng(2)
    info = np.iinfo(dtype)
    for low, high in ((info.min, info.max), (info.max - 5, info.max), (0, 1 << 50), (info.min, info.min + 9)):
        image = rng.integers(low, high, (9, 12), dtype=dtype, endpoint=True)
        boxes = some_boxes(rng, image.shape)
        want = [exact(image[y0:y1, x0:x1])[0] for x0, y0, x1, y1 in boxes]
        for asked in (None, "u8", "i8"):
            table = boxsum.integral(image, dtype=asked)
            np.testing.assert_allclose(boxsum.box_mean(table, boxes), want, rtol=1e-15)


def test_tilted_means_of_wide_boxes():
    white = np.full((6000, 6000), 255, np.uint8)
    _, tilted = boxsum.integral(white, tilted=True, dtype=np.uint32)
    assert boxsum.tilted_mean(tilted, [3000, 0, 2999, 2999]) == 255
    for value in ((1 << 31) - 1, (1 << 32) - 1):
        bright = np.full((50, 60), value, np.uint32)
        for dtype in ("u4", "i4", "u8"):
            mean = boxsum.tilted_mean(boxsum.integral(bright, tilted=True, dtype=dtype)[1], [30, 2, 20, 20])
            assert mean == value or value >= 1 << 31 and dtype != "u8" and np.isnan(mean)  # the smallest box has two pixels


@pytest.mark.parametrize("center", [1e5, 1e6, 1e7, -1e7])
def test_the_example_of_floats_far_from_zero(center):
    """4000 pixels a side with a deviation of 1: to 1e-6, by the natural calls."""
    rng = np.random.default_rng(3)
    image = rng.standard_normal((4000, 4000), np.float32).astype(np.float64) + center
    sums, squares = boxsum.integral(image, squares=True)
    boxes = np.array([[0, 0, 4000, 4000], [3990, 3990, 4000, 4000], [1000, 2000, 1100, 2050], [3998, 3999, 4000, 4000]])
    want = [image[y0:y1, x0:x1].std() for x0, y0, x1, y1 in boxes]
    np.testing.assert_allclose(boxsum.box_std(sums, squares, boxes), want, rtol=1e-6)
    np.testing.assert_allclose(boxsum.box_mean(sums, boxes), [image[y0:y1, x0:x1].mean() for x0, y0, x1, y1 in boxes], rtol=1e-13)
    masked = boxsum.integral(image, squares=True, mask=np.ones(image.shape, bool))
    np.testing.assert_allclose(boxsum.box_std(*masked[:2], boxes), want, rtol=1e-6)


def far(shape, dtype="f8", center=1e7):
    return (np.random.default_rng(4).standard_normal(shape) + center).astype(dtype)


@pytest.mark.parametrize("dtype, sums_dtype", [("f4", None), ("f8", None), ("f2", None), (">f8", None), ("f4", "f4"), ("f2", "f4")])
def test_volumes_and_channels(dtype, sums_dtype):
    center = 5000 if dtype == "f2" else 1e6
    voxels = far((9, 10, 11, 2), dtype, center)
    sums, squares = boxsum.volume(voxels, squares=True, dtype=sums_dtype)
    want = voxels[1:8, 2:9, 3:10].astype(float).std((0, 1, 2))
    np.testing.assert_allclose(boxsum.box_std(sums, squares, [3, 2, 1, 10, 9, 8]), want, rtol=1e-4 if sums_dtype else 1e-6)
    image = voxels[0]
    sums, squares = boxsum.integral(image, squares=True, dtype=sums_dtype)
    np.testing.assert_allclose(boxsum.box_std(sums, squares, [3, 2, 10, 9]), image[2:9, 3:10].astype(float).std((0, 1)), rtol=1e-4 if sums_dtype else 1e-6)
    wide = np.random.default_rng(0).integers(0, 1 << 32, (5, 6, 7, 2)).astype("u4")
    tables = boxsum.volume(wide, squares=True)
    want = [exact(wide[1:4, 1:5, 2:6, c])[1] for c in range(2)]
    np.testing.assert_allclose(boxsum.box_std(*tables, [2, 1, 1, 6, 5, 4]), want, rtol=1e-15)


def test_views():
    image = far((60, 70, 3))
    sums, squares = boxsum.integral(image, squares=True)
    box, want = [10, 5, 40, 50], image[5:50, 10:40].std((0, 1))

    def near(got, want):
        np.testing.assert_allclose(got, want, rtol=1e-6)

    near(boxsum.box_std(sums, squares, box), want)
    near(boxsum.box_std(sums[:], squares[:], box), want)
    near(boxsum.box_std(sums[..., 1], squares[..., 1], box), want[1])
    near(boxsum.box_std(sums[..., 1:], squares[..., 1:], box), want[1:])
    near(boxsum.box_std(sums[5:, 10:], squares[5:, 10:], [0, 0, 30, 45]), want)
    near(boxsum.box_std(sums[5:51, 10:41, 2], squares[5:51, 10:41, 2], [0, 0, 99, 99]), want[2])
    assert np.isnan(boxsum.box_std(sums[::2, ::2], squares[::2, ::2], [5, 3, 20, 25])).all()
    for one, other in ((sums.copy(), squares), (sums, squares.copy()), (np.array(sums), np.array(squares)), (pickle.loads(pickle.dumps(sums)), squares)):
        assert np.isnan(boxsum.box_std(one, other, box)).all()


def test_what_is_written_to_a_table():
    """Something else in the same memory is not taken for the table that was there."""
    image, other = far((40, 50)), far((40, 50)) * 2
    sums, squares = boxsum.integral(image, squares=True)
    box = [3, 4, 45, 36]
    sums *= 0.5
    squares *= 0.25
    assert np.isnan(boxsum.box_std(sums, squares, box))
    boxsum.integral(other, squares=True, out=(sums, squares))
    np.testing.assert_allclose(boxsum.box_std(sums, squares, box), other[4:36, 3:45].std(), rtol=1e-6)
    holes = far((40, 50))
    holes[::3] = np.nan
    out = sums, squares, np.empty((41, 51), "u4")
    boxsum.integral(holes, squares=True, nan="skip", out=out)
    for counts in (None, out[2]):
        np.testing.assert_allclose(boxsum.box_std(sums, squares, box, counts=counts), np.nanstd(holes[4:36, 3:45]), rtol=1e-6)
        np.testing.assert_allclose(boxsum.box_mean(sums, box, counts=counts), np.nanmean(holes[4:36, 3:45]), rtol=1e-15)
    boxsum.integral(image, out=sums)
    np.testing.assert_allclose(boxsum.box_mean(sums, box), image[4:36, 3:45].mean(), rtol=1e-12)


def test_tables_in_one_array():
    """Each knows its own pixels, however it is named."""
    near, bright = far((40, 50)), np.full((40, 50), (1 << 32) - 1, "u4")
    stack, small = np.empty((3, 2, 41, 51)), np.empty((2, 41, 51), "u4")
    images = [near, near * 3, near - 1e7]
    for image, out in zip(images, stack):
        boxsum.integral(image, squares=True, out=(out[0], out[1]))
    boxsum.integral(bright, out=small[0])
    boxsum.integral(np.ones((40, 50), "u1"), out=small[1])
    box = [3, 4, 45, 36]
    for image, tables in zip(images, stack):
        np.testing.assert_allclose(boxsum.box_std(tables[0], tables[1], box), image[4:36, 3:45].std(), rtol=1e-6)
    assert boxsum.box_mean(small[0], box) == (1 << 32) - 1 and boxsum.box_mean(small[1], box) == 1
    boxsum.integral(np.ones((40, 50), "u1"), out=small[0])
    assert boxsum.box_mean(small[0], box) == 1


def test_nothing_is_kept_of_tables_that_are_gone():
    gc.collect()
    before = len(_known.memory)
    tables = [boxsum.integral(far((30, 30)), squares=True) for _ in range(5)]
    assert len(_known.memory) == before + 10
    del tables
    gc.collect()
    assert len(_known.memory) == before


def test_an_image_near_zero_takes_nothing_more():
    before = len(_known.memory)
    tables = boxsum.integral(np.random.default_rng(0).random((30, 40)), squares=True), boxsum.integral(np.ones((30, 40), "u1"), squares=True)
    assert len(_known.memory) == before and type(tables[0][0]) is np.ndarray


def test_ramps_with_noise():
    """From 0 to 1e7: a deviation is right to a hundredth, or it is NaN."""
    rng = np.random.default_rng(5)
    ramp = np.linspace(0, 1e7, 700) + rng.standard_normal((500, 700))
    boxes = some_boxes(rng, ramp.shape, 400)
    boxes = np.vstack([boxes, np.hstack([c := rng.integers(0, 490, (400, 2)), c + rng.integers(1, 10, (400, 2))])])
    for image in (ramp, ramp.T, ramp[:, ::-1], -ramp, ramp.astype("f4")):
        inside = boxes if image.shape == ramp.shape else boxes[:, [1, 0, 3, 2]]
        want = np.array([image[y0:y1, x0:x1].std(dtype=float) for x0, y0, x1, y1 in inside])
        got = boxsum.box_std(*boxsum.integral(image, squares=True), inside)
        assert np.all(np.isnan(got) | (np.abs(got - want) <= 1e-2 * want))
        assert np.isnan(got).any() and not np.isnan(got).all()


def test_masked_arrays():
    """They are honored by themselves: sums, means and deviations are those of NumPy."""
    rng = np.random.default_rng(6)
    for dtype, shape in (("u1", (20, 30)), ("f4", (20, 30, 3)), ("f8", (20, 30)), ("i8", (20, 30)), ("u4", (20, 30))):
        values = (rng.random(shape) * 200 + 1e3 * (dtype == "f8")).astype(dtype)
        image = np.ma.masked_array(values, rng.random(shape) > 0.6)
        table = boxsum.integral(image)
        sums, squares = boxsum.integral(image, squares=True)
        x0, y0, x1, y1 = box = [3, 2, 25, 18]
        part = image[y0:y1, x0:x1].astype(float)
        np.testing.assert_allclose(boxsum.box_sum(table, box), part.sum((0, 1)))
        for each in (table, sums, table[:], table.copy(), copy.deepcopy(table), pickle.loads(pickle.dumps(table)), np.copy(table, subok=True)):
            assert isinstance(each, boxsum.ValidTable)
            np.testing.assert_allclose(boxsum.box_mean(each, box), part.mean((0, 1)))
        np.testing.assert_allclose(boxsum.box_std(sums, squares, box), part.std((0, 1)), rtol=1e-6)
        np.testing.assert_allclose(boxsum.box_mean(table[2:, 3:], [0, 0, 22, 16]), part.mean((0, 1)))
        if len(shape) == 3:
            np.testing.assert_allclose(boxsum.box_mean(table[..., 1], box), part[..., 1].mean())
        np.testing.assert_array_equal(boxsum.box_sum(table.counts, box), (~part.mask).sum((0, 1)))
    turned = [0, 0, 10, 30]
    for each in (table.T, table.transpose(1, 0), table.swapaxes(0, 1), np.moveaxis(table, 0, 1)):
        np.testing.assert_allclose(boxsum.box_mean(each, turned), image.T[:30, :10].mean())
    for lost in (table.reshape(31, 21), table.reshape(7, 93)):
        with pytest.raises(ValueError, match="pass counts="):
            boxsum.box_mean(lost, [0, 0, 1, 1])


def test_counts_that_are_known():
    image = np.array([[1, 2, np.nan], [3, np.nan, 8]])
    sums, squares, counts = boxsum.integral(image, squares=True, nan="skip")
    box = [0, 0, 3, 2]
    assert boxsum.box_mean(sums, box) == boxsum.box_mean(sums, box, counts=counts) == 3.5
    assert boxsum.box_std(sums, squares, box) == boxsum.box_std(sums, squares, box, counts=counts) == np.nanstd(image)
    assert boxsum.box_mean(np.asarray(sums).copy(), box, counts=counts) == 3.5


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    image = far((40, 50))
    tables = boxsum.integral(jax.numpy.asarray(image, np.float32), squares=True)
    np.testing.assert_allclose(boxsum.box_std(*tables, [3, 4, 45, 36]), image[4:36, 3:45].astype(np.float32).std(dtype=np.float64), rtol=1e-6)
    bright = jax.numpy.full((9, 9), (1 << 32) - 1, np.uint32)
    assert boxsum.box_mean(boxsum.integral(bright), [0, 0, 9, 9]) == (1 << 32) - 1
