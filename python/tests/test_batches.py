"""Batches and planes: every image of a batch is what it is alone."""

import itertools

import numpy as np
import pytest

import boxsum

RNG = np.random.default_rng(22)
PLANES = (-2, -1)


def cumulated(x, axes, dtype=np.float64):
    """The table by cumulative sums."""
    pads = [(0, 0)] * x.ndim
    sums = x.astype(dtype)
    for axis in axes:
        sums = np.cumsum(sums, axis=axis, dtype=dtype)
        pads[axis] = (1, 0)
    return np.pad(sums, pads)


def noise(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "fb":
        return RNG.integers(-8, 9, shape).astype(dtype)
    return RNG.integers(0 if dtype.kind == "u" else -100, 101, shape, dtype=dtype)


def views(shape, dtype):
    """Arrays of a shape that lie in memory in many ways."""
    n = len(shape)
    yield noise(shape, dtype)
    yield np.asfortranarray(noise(shape, dtype))
    for axes in ((*range(n)[1:], 0), (0, *range(n)[:0:-1])):  # as permute makes them
        yield noise([shape[a] for a in axes], dtype).transpose(sorted(range(n), key=axes.__getitem__))
    yield noise([2 * m for m in shape], dtype)[tuple(slice(None, None, 2) for _ in shape)]
    yield noise(shape, dtype)[..., ::-1, :]
    yield noise(shape, dtype)[::-1]
    yield np.broadcast_to(noise(shape[1:], dtype), shape)


@pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "i8", "f2", "f4", "f8", "?"])
def test_tables_are_those_of_every_plane(dtype):
    for shape, axes in itertools.product([(3, 2, 7, 9), (5, 1, 6)], [PLANES, (0, -1), (-1, 1)]):
        for x in views(shape, dtype):
            table = boxsum.integral(x, axes=axes)
            np.testing.assert_array_equal(table, cumulated(x, axes))
            out = np.empty_like(table)
            assert boxsum.integral(x, axes=axes, out=out) is out
            np.testing.assert_array_equal(out, table)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f2", "f4", "f8"])
def test_squares_and_tilted_tables(dtype):
    for x in views((4, 3, 8, 11), dtype):
        both = boxsum.integral(x, axes=PLANES, squares=True)
        np.testing.assert_array_equal(both[1], cumulated(x.astype(float) ** 2, PLANES))
        tilted = boxsum.integral(x, axes=PLANES, tilted=True)[1]
        np.testing.assert_array_equal(tilted[3, 1], boxsum.integral(np.ascontiguousarray(x[3, 1]), tilted=True)[1])


@pytest.mark.parametrize("workers", [1, 2, 5, None])
def test_any_number_of_workers(workers):
    for count in (1, 2, 3, 7):
        x = noise((count, 40, 33), "u1")
        np.testing.assert_array_equal(boxsum.integral(x, axes=PLANES, workers=workers), cumulated(x, PLANES))


def test_volumes():
    x = noise((2, 3, 4, 5, 6), "u2")
    np.testing.assert_array_equal(boxsum.volume(x, axes=(-3, -2, -1)), cumulated(x, (-3, -2, -1)))
    np.testing.assert_array_equal(boxsum.integral(x, axes=(0, 2, 4)), cumulated(x, (0, 2, 4)))
    table = boxsum.volume(x, axes=(-3, -2, -1))
    boxes = [[0, 1, 1, 3, 4, 4], [1, 0, 0, 6, 5, 4]]
    np.testing.assert_array_equal(boxsum.box_sum(table, boxes, axes=(-3, -2, -1))[1, 2], boxsum.box_sum(table[1, 2], boxes))


def boxes_of(shape):
    return np.sort(RNG.integers(-2, 14, shape[:-1] + (2, 2)), axis=-2).reshape(shape)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_boxes_for_each_image_or_shared(order):
    x = noise((3, 4, 10, 12), "u1")
    x = np.ascontiguousarray(x.transpose(order)).transpose(sorted(range(4), key=order.__getitem__))
    sums, squares = boxsum.integral(x, axes=PLANES, squares=True)
    for leading in [(), (3,), (1,), (3, 4), (3, 1), (1, 4)]:
        boxes = boxes_of((*leading, 5, 4))
        all_boxes = boxes.reshape(leading + (1,) * (2 - len(leading)) + (5, 4))
        for ask in (boxsum.box_sum, boxsum.box_mean, lambda t, b, **k: boxsum.box_std(t, squares if t is sums else squares[i], b, **k)):
            got = ask(sums, boxes, axes=PLANES)
            assert got.shape == (3, 4, 5)
            for i in np.ndindex(3, 4):
                own = all_boxes[tuple(min(k, n - 1) for k, n in zip(i, all_boxes.shape))]
                np.testing.assert_array_equal(got[i], ask(sums[i], own))
    assert boxsum.box_sum(sums, [0, 0, 3, 3], axes=PLANES).shape == (3, 4)
    out = np.empty((3, 4, 5), sums.dtype)
    assert boxsum.box_sum(sums, boxes_of((5, 4)), axes=PLANES, out=out) is out


def test_means_of_wide_sums_are_right():
    x = np.full((2, 70, 1000), 65535, np.uint16)  # whose sums wrap in 32 bits
    table = boxsum.integral(x, axes=PLANES, dtype=np.uint32)
    np.testing.assert_array_equal(boxsum.box_mean(table, [0, 0, 1000, 70], axes=PLANES), [65535, 65535])


FILTERS = {
    "blur": lambda a, **k: boxsum.blur(a, 2, **k),
    "gaussian": lambda a, **k: boxsum.blur(a, sigma=(2.0, 1.0), **k),
    "radii": lambda a, **k: boxsum.blur(a, np.arange(77).reshape(7, 11) % 4, **k),
    "box_filter": lambda a, **k: boxsum.box_filter(a, (4, 3), mean=False, border="clip", **k),
    "local_mean": lambda a, **k: boxsum.local_mean(a, 5, **k),
    "local_std": lambda a, **k: boxsum.local_std(a, 5, **k),
    "local_mean_std": lambda a, **k: np.stack(boxsum.local_mean_std(a, 5, **k)),
    "normalize": lambda a, **k: boxsum.normalize(a, 5, **k),
    "guided": lambda a, **k: boxsum.guided(a, 2, 100.0, **k),
    "median": lambda a, **k: boxsum.median(a, 3, **k),
    "entropy": lambda a, **k: boxsum.entropy(a, 3, bins=9, range=(-50, 150), **k),
    "downsample": lambda a, **k: boxsum.downsample(a, (3, 2), **k),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_filters(name, dtype):
    make = FILTERS[name]
    for x in views((3, 2, 7, 11), dtype):
        got = make(x, axes=PLANES)
        for i in np.ndindex(3, 2):
            np.testing.assert_array_equal(got[(..., *i, slice(None), slice(None))], make(np.ascontiguousarray(x[i])))
    x = noise((2, 7, 11), dtype)
    if name == "blur":
        out = x.copy()
        assert boxsum.blur(out, 2, axes=PLANES, out=out) is out
        np.testing.assert_array_equal(out, boxsum.blur(x, 2, axes=PLANES))


def test_histograms():
    x = noise((3, 2, 6, 8), "u1")
    table = boxsum.histogram(x, 4, (0, 100), axes=PLANES)
    assert table.table.shape == (3, 2, 7, 9, 4)
    boxes = boxes_of((3, 5, 4))
    for i in np.ndindex(3, 2):
        alone = boxsum.histogram(x[i], 4, (0, 100))
        np.testing.assert_array_equal(table.counts(boxes)[i], alone.counts(boxes[i[0]]))
        np.testing.assert_array_equal(table.median(boxes)[i], alone.median(boxes[i[0]]))
        np.testing.assert_array_equal(table.entropy(boxes[0])[i], alone.entropy(boxes[0]))


def test_empty_batches_and_images():
    for shape in [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0)]:
        x = np.zeros(shape, np.uint8)
        np.testing.assert_array_equal(boxsum.integral(x, axes=PLANES), cumulated(x, PLANES))
        assert boxsum.blur(x, 1, axes=PLANES).shape == shape


def test_half_floats_round_once():
    x = (RNG.standard_normal((50, 60)) * 1000).astype(np.float16)
    exact = cumulated(x, PLANES)
    np.testing.assert_array_equal(boxsum.integral(x), exact)
    np.testing.assert_array_equal(boxsum.integral(x, dtype=np.float32), exact.astype(np.float32))
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(-1, 1)
    np.testing.assert_array_equal(boxsum.integral(every)[1, 1], 0)
    for v in (1.0, -2.5, 6e-8, 65504, np.inf, -np.inf, np.nan):
        np.testing.assert_array_equal(boxsum.integral(np.full((1, 1), v, np.float16))[1, 1], np.float16(v).astype(float))


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda x: boxsum.integral(x), ValueError, "shape"),
        (lambda x: boxsum.integral(x, axes=(1,)), ValueError, "axes must have 2 numbers"),
        (lambda x: boxsum.integral(x, axes=(-1, 3)), ValueError, "axes must be different"),
        (lambda x: boxsum.integral(x, axes=(4, 5)), ValueError, "from -4 to 3"),
        (lambda x: boxsum.integral(x, axes=(1.5, 2)), TypeError, "must be integers"),
        (lambda x: boxsum.integral(x, axes=PLANES, nan="skip"), ValueError, "axes must be None with mask"),
        (lambda x: boxsum.integral(x, axes=PLANES, out=np.empty((2, 3, 6, 6), np.uint32)), ValueError, "one more"),
        (lambda x: boxsum.integral(x, axes=PLANES, out=np.empty((6, 6), np.uint32)), ValueError, "one more"),
        (lambda x: boxsum.integral(x, axes=PLANES, dtype=np.int16), TypeError, "no sums of int16"),
        (lambda x: boxsum.integral(x.astype(complex), axes=PLANES), TypeError, "cannot be summed"),
        (lambda x: boxsum.volume(x, axes=PLANES), ValueError, "three"),
        (lambda x: boxsum.box_sum(boxsum.integral(x, axes=PLANES), np.zeros((5, 1, 4), int), axes=PLANES), ValueError, "batch of shape"),
        (lambda x: boxsum.box_sum(boxsum.integral(x, axes=PLANES), [[0.5, 0, 1, 1]], axes=PLANES), ValueError, "must be integers"),
        (lambda x: boxsum.blur(x, 1), ValueError, "axes="),
    ],
)
def test_mistakes_are_named(call, kind, text):
    with pytest.raises(kind, match=text):
        call(np.zeros((2, 3, 4, 5), np.uint8))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_loops_behind_gradients(dtype):
    """What boxsum.torch asks the library for on a processor: sums from the other corner, and windows."""
    from boxsum import _batch

    for shape in [(3, 5, 7), (2, 3, 4, 6), (1, 1, 1), (2, 9, 1)]:
        x = noise(shape, dtype)
        out = np.empty_like(x)
        _batch.run(x.ndim - 2, 2, "suffix", x, out, 0)
        np.testing.assert_array_equal(out, x[..., ::-1, ::-1].cumsum(-1).cumsum(-2)[..., ::-1, ::-1])
        for height, width, top, left, rows, columns in [(3, 2, 1, 0, shape[-2], shape[-1]), (1, 1, 0, 0, 4, 5), (20, 30, 3, 17, 6, 8), (2, 4, -3, -2, 5, 5)]:
            out = np.empty((*shape[:-2], rows, columns), dtype)
            _batch.run(x.ndim - 2, 7, "window", x, out, width, height, left, top, 0.5, 0)
            want = np.zeros_like(out)
            for i, j in np.ndindex(rows, columns):
                y, c = i - top, j - left
                want[..., i, j] = 0.5 * x[..., max(y, 0) : max(y + height, 0), max(c, 0) : max(c + width, 0)].sum((-1, -2))
            np.testing.assert_array_equal(out, want)
    with pytest.raises(ValueError, match="like the image"):
        _batch.run(0, 2, "suffix", np.zeros((2, 3), dtype), np.zeros((3, 2), dtype), 0)
    with pytest.raises(ValueError, match="at least 1×1"):
        _batch.run(0, 7, "window", np.zeros((2, 3), dtype), np.zeros((2, 3), dtype), 0, 1, 0, 0, 1.0, 0)


def test_out_may_lie_in_another_way():
    x = np.random.default_rng(3).integers(0, 256, (20, 30, 3), dtype=np.uint8).transpose(2, 0, 1)
    plain = np.ascontiguousarray(x)
    out = np.empty((3, 21, 31), np.uint32)
    assert boxsum.integral(x, axes=(1, 2), out=out) is out
    np.testing.assert_array_equal(out, boxsum.integral(plain, axes=(1, 2)))
    turned = np.empty((3, 31, 21), np.uint32)
    boxsum.integral(plain.transpose(0, 2, 1), axes=(1, 2), out=turned)
    np.testing.assert_array_equal(turned, out.transpose(0, 2, 1))
    soft = np.empty((3, 20, 30), np.uint8)
    assert boxsum.blur(x, 2, axes=(1, 2), out=soft) is soft
    np.testing.assert_array_equal(soft, boxsum.blur(plain, 2, axes=(1, 2)))
