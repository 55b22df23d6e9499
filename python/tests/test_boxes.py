import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import PIXELS, pixels

import boxsum

quick = settings(max_examples=80, deadline=None)


def clipped(image, box):
    """The pixels of a box x0, y0[, z0], x1, y1[, z1]."""
    n = len(box) // 2
    return image[tuple(slice(max(box[i], 0), max(box[i + n], 0)) for i in reversed(range(n)))]


@quick
@given(st.data(), st.sampled_from(PIXELS), st.sampled_from([2, 3]))
def test_against_the_pixels(data, dtype, axes):
    shape = tuple(data.draw(st.integers(1, 15)) for _ in range(axes))
    if data.draw(st.booleans()):
        shape += (data.draw(st.integers(1, 3)),)
    image = pixels(shape, dtype, data.draw(st.integers(0, 99)))
    tables = (boxsum.integral if axes == 2 else boxsum.volume)(image, squares=True)
    boxes = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-4, 20, (30, 2 * axes))
    over = tuple(range(axes))
    parts = [clipped(image, box) for box in boxes]
    want = np.array([p.sum(over, dtype=tables[0].dtype) for p in parts])
    got = boxsum.box_sum(tables[0], boxes)
    assert got.dtype == tables[0].dtype
    np.testing.assert_array_equal(got, want)
    empty = [p.size == 0 for p in parts]
    wide = [p.astype("f8") if p.size else np.zeros((1,) * axes + image.shape[axes:]) for p in parts]
    np.testing.assert_allclose(boxsum.box_mean(tables[0], boxes), [p.mean(over) for p in wide], rtol=1e-12, atol=1e-9)
    scale = max(1.0, float(np.abs(image.astype("f8")).max()) ** 2)
    np.testing.assert_allclose(boxsum.box_var(*tables, boxes), [p.var(over) for p in wide], rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(boxsum.box_std(*tables, boxes), [p.std(over) for p in wide], rtol=1e-9, atol=1e-6 * scale**0.5)
    assert not np.any(got[empty])


def test_shapes():
    table = boxsum.integral(np.ones((6, 8, 2), np.uint8))
    assert boxsum.box_sum(table, [0, 0, 3, 2]).tolist() == [6, 6]
    assert boxsum.box_sum(table, np.zeros((4, 5, 4), int)).shape == (4, 5, 2)
    assert boxsum.box_sum(table, []).shape == (0, 2)
    assert boxsum.box_sum(table, np.zeros((0, 4), np.int32)).shape == (0, 2)
    single = boxsum.box_sum(boxsum.integral(np.ones((2, 2))), (0, 0, 2, 2))
    assert single == 4.0 and np.isscalar(single)
    out = np.zeros((1, 2), np.uint32)
    assert boxsum.box_sum(table, [[0, 0, 1, 1]], out=out) is out and out.tolist() == [[1, 1]]


def test_tables_of_others():
    cv2 = pytest.importorskip("cv2")
    image = pixels((30, 40), "u1")
    boxes = np.random.default_rng(0).integers(0, 40, (50, 4))
    want = boxsum.box_sum(boxsum.integral(image), boxes)
    theirs = cv2.integral(image)
    for table in (theirs, np.asfortranarray(theirs), theirs.astype(">i4"), theirs.astype("i8"), theirs.astype("f4"), theirs.astype("f8")):
        np.testing.assert_array_equal(boxsum.box_sum(table, boxes), want)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "u8"):
        np.testing.assert_array_equal(boxsum.box_sum(theirs, boxes.astype(kind)), want)
    np.testing.assert_array_equal(boxsum.box_sum(theirs, np.asfortranarray(boxes)), want)
    signed = np.array([[-5, 3], [2, -9]])
    assert boxsum.box_mean(np.pad(signed, [(1, 0), (1, 0)]).cumsum(0).cumsum(1).astype("i4"), [0, 0, 2, 2]) == -9 / 4


def test_a_wrapped_table_gives_exact_boxes():
    image = np.full((5000, 5000), 255, np.uint8)
    table = boxsum.integral(image, dtype=np.uint32)
    assert int(table[-1, -1]) != 255 * 25_000_000
    assert boxsum.box_sum(table, [4000, 4000, 5000, 5000]) == 255 * 1_000_000


@pytest.mark.parametrize(
    "boxes, error",
    [
        ([[0, 0, 1]], ValueError),
        (5, ValueError),
        ([[0, 0, 1, 1, 2]], ValueError),
        ([[0.5, 0, 1, 1]], ValueError),
        ([[np.nan, 0, 1, 1]], ValueError),
        ([[0, 0, 1, np.inf]], ValueError),
        ([[0, 0, 1, 1j]], TypeError),
        ([[True, True, False, True]], TypeError),
        ([["a"] * 4], TypeError),
        ([[0, 0, 0, 1, 1, 1]], ValueError),
        (np.full((1, 4), 1 << 63, np.uint64), ValueError),
    ],
)
def test_bad_boxes(boxes, error):
    with pytest.raises(error):
        boxsum.box_sum(np.zeros((4, 4), np.uint32), boxes)


def test_the_spread_of_32_bit_pixels():
    """Their squares, which 64 bits do not hold, are float64."""
    steps = np.arange(90000, dtype=np.uint32).reshape(300, 300) * 47000
    for image in (steps, np.array([[-(1 << 31), (1 << 31) - 1]] * 3, "i4")):
        tables = boxsum.integral(image, squares=True)
        box = [0, 0, image.shape[1], image.shape[0]]
        np.testing.assert_allclose(boxsum.box_std(*tables, box), image.std(), rtol=1e-12)
    flat = boxsum.integral(np.full((2, 2), (1 << 32) - 1, "u4"), squares=True)
    assert boxsum.box_std(*flat, [0, 0, 2, 2]) == 0
    assert np.isnan(boxsum.box_std(*map(np.copy, flat), [0, 0, 2, 2]))  # which rounded squares cannot tell from small ones
    small = np.random.default_rng(0).integers(1_000_000, 1_000_004, (80, 90)).astype("i4")  # sums below 2**53 are whole
    tables = boxsum.integral(small, squares=True)
    boxes = np.array([[3, 4, 5, 5], [70, 60, 90, 80], [0, 0, 90, 80]])
    exact = [boxsum.integral(small, squares=True, out=(None, np.empty((81, 91), "u8")))[1], tables[1]]
    np.testing.assert_array_equal(*(boxsum.box_var(tables[0], s, boxes) for s in exact))


def test_whole_floats_are_boxes():
    table = boxsum.integral(pixels((9, 8), "u1"))
    boxes = np.array([[0.0, 0.0, 4.0, 3.0], [-1e18, 2, 1e18, 7]])
    want = boxsum.box_sum(table, boxes.astype(int))
    for kind in ("f4", "f8", ">f8"):
        np.testing.assert_array_equal(boxsum.box_sum(table, boxes.astype(kind)), want)
    assert boxsum.moments(np.ones((4, 4), "u1")).moments(np.array([0.0, 0, 3, 2]))["m00"] == 6
    for half in (boxes + 0.5, boxes / 3):
        with pytest.raises(ValueError, match="must be integers"):
            boxsum.box_sum(table, half)


@quick
@given(st.data(), st.sampled_from(PIXELS))
def test_tilted_against_the_pixels(data, dtype):
    shape = tuple(data.draw(st.integers(1, 12)) for _ in range(2))
    if data.draw(st.booleans()):
        shape += (data.draw(st.integers(1, 3)),)
    image = pixels(shape, dtype, data.draw(st.integers(0, 99)))
    table = boxsum.integral(image, tilted=True)[1]
    boxes = np.random.default_rng(data.draw(st.integers(0, 99))).integers((-6, -6, -1, -1), (18, 18, 12, 12), (30, 4))
    row, column = np.mgrid[: shape[0], : shape[1]]
    parts = []
    for x, y, w, h in boxes:  # the topmost pixel is x-1 of row y
        right, left = column + row - (x - 1 + y), x - 1 - y - (column - row)
        parts.append(image[(right >= 0) & (right < 2 * w) & (left >= 0) & (left < 2 * h)])
    got = boxsum.tilted_sum(table, boxes)
    assert got.dtype == table.dtype
    np.testing.assert_array_equal(got, [p.sum(0, dtype=table.dtype) for p in parts])
    means = [p.astype("f8").mean(0) if len(p) else np.zeros(shape[2:]) for p in parts]
    np.testing.assert_allclose(boxsum.tilted_mean(table, boxes), means, rtol=1e-12, atol=1e-9)


def test_tilted_arguments():
    image = pixels((20, 30), "u1")
    sums, table = boxsum.integral(image, tilted=True)
    boxes = [[9, 0, 4, 5], [29, 1, 3, 8]]
    want = boxsum.tilted_sum(table, boxes)
    for other in (table.astype("i4"), np.asfortranarray(table), table.astype(">u4"), table.astype("f8"), table.tolist()):
        np.testing.assert_array_equal(boxsum.tilted_sum(other, np.array(boxes, float)), want)
    out = np.zeros(2, np.uint32)
    assert boxsum.tilted_sum(table, boxes, out=out, workers=1) is out and (out == want).all()
    single = boxsum.tilted_mean(table, boxes[0])
    assert np.isscalar(single) and single == want[0] / 40
    signed = boxsum.integral(np.full((9, 9), -5, np.int16), tilted=True)[1].astype("i4")
    assert boxsum.tilted_mean(signed, [4, 0, 2, 2]) == -5
    with pytest.raises(ValueError, match="tuple of 2"):
        boxsum.tilted_sum((sums, table), boxes)
    for bad in (np.zeros(3, "u4"), np.zeros((2, 2, 2, 2), "u4")):
        with pytest.raises(ValueError, match="tilted table"):
            boxsum.tilted_sum(bad, boxes)
    with pytest.raises(ValueError, match="4 numbers"):
        boxsum.tilted_sum(table, [[0, 0, 1, 1, 1, 1]])
    with pytest.raises(ValueError, match="table is empty"):
        boxsum.tilted_sum(np.zeros((0, 4), "u4"), boxes)
    with pytest.raises(TypeError, match="want float32"):
        boxsum.tilted_sum(table.astype("i2"), boxes)


def test_empty_lists_of_boxes():
    for none in ([], np.zeros((0, 4)), np.zeros((0, 4), "i4")):
        assert boxsum.box_sum(np.zeros((4, 4), "u4"), none).shape == (0,)


def test_out_is_apart_from_what_is_read():
    table = boxsum.integral(np.ones((9, 9), "u1"), dtype="i8")
    boxes = np.array([[0, 0, 9, 9], [0, 0, 1, 1]])
    with pytest.raises(ValueError, match="memory"):
        boxsum.box_sum(table, boxes, out=boxes.ravel()[:2])
    with pytest.raises(ValueError, match="aligned"):
        boxsum.box_sum(table, boxes, out=np.zeros(17, "u1")[1:].view("i8"))


def test_bad_tables():
    boxes = [[0, 0, 1, 1]]
    for table, error in [(np.zeros((4, 4), "u1"), TypeError), (np.zeros((0, 4), "u4"), ValueError), (np.zeros(4, "u4"), ValueError)]:
        with pytest.raises(error):
            boxsum.box_sum(table, boxes)
    with pytest.raises(ValueError, match="table of squares has shape"):
        boxsum.box_std(np.zeros((4, 4), "u4"), np.zeros((4, 5), "u8"), boxes)
    with pytest.raises(TypeError, match="squares=True"):
        boxsum.box_var(np.zeros((4, 4), "u4"), None, boxes)
    with pytest.raises(TypeError, match="squares"):
        boxsum.box_std(np.zeros((4, 4), "u4"), np.zeros((4, 4), "u4"), boxes)
    with pytest.raises(ValueError, match="out"):
        boxsum.box_sum(np.zeros((4, 4), "u4"), boxes, out=np.zeros(2, "u4"))
    extreme = np.array([[-(1 << 63), -(1 << 63), (1 << 63) - 1, (1 << 63) - 1]])
    assert boxsum.box_sum(boxsum.integral(np.ones((4, 4), "u1")), extreme) == 16


def test_wide_boxes():
    """Sums of the usual type, means and deviations are right for boxes of any size."""
    white = np.full((5000, 5000), 255, np.uint8)
    sums, squares = boxsum.integral(white, squares=True)
    box = [0, 0, 5000, 5000]
    assert sums.dtype == np.uint64 and boxsum.box_sum(sums, box) == 255 * 5000 * 5000
    assert boxsum.box_mean(sums, box) == 255 and boxsum.box_std(sums, squares, box) == 0
    for dtype in (np.uint32, np.int32):
        narrow = boxsum.integral(white, dtype=dtype)
        assert boxsum.box_mean(narrow, box) == 255 and boxsum.box_std(narrow, squares, box) == 0


@pytest.mark.parametrize("center", [0, 1, 1e3, 1e5, 1e6, 1e7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_far_from_zero(center, dtype):
    """A deviation is right, or it is NaN."""
    rng = np.random.default_rng(1)
    image = (center + rng.standard_normal((700, 900))).astype(dtype)
    sums, squares = boxsum.integral(image, squares=True)
    assert np.isclose(sums[-1, -1], image.sum(dtype=float))  # the entries are plain sums
    assert np.isclose(squares[-1, -1], np.square(image, dtype=float).sum())
    corners = rng.integers(0, 600, (300, 2))
    boxes = np.hstack([corners, corners + rng.integers(2, 100, (300, 2))])
    want = np.array([image[y0:y1, x0:x1].std(dtype=float) for x0, y0, x1, y1 in boxes])
    np.testing.assert_allclose(boxsum.box_std(sums, squares, boxes), want, rtol=1e-6)
    np.testing.assert_allclose(boxsum.box_var(sums, squares, boxes), want**2, rtol=2e-6)
    got = boxsum.box_std(sums.copy(), squares, boxes)  # of a copy nothing is known but its entries
    assert np.all(np.isnan(got) | (np.abs(got - want) < 1e-2 * want))
    if center <= 1e3:
        assert not np.isnan(got).any() and np.allclose(got, want, rtol=1e-6 if center <= 1 else 1e-4)
