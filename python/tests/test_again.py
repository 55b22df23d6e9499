"""Calls of integral that were made before, which the extension module makes by itself: see python/core/integral.c."""

import gc
import inspect
import pickle
import sys

import numpy as np
import pytest

import boxsum
from boxsum import _integral

SHAPES = [(1, 1), (64, 64), (5, 700), (400, 500), (480, 854), (900, 1200), (30, 40, 3), (300, 200, 4), (0, 7), (7, 0)]


def pixels(shape, dtype, seed):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def sums(image, dtype):
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1) + image.shape[2:], dtype)
    table[1:, 1:] = image.astype(dtype).cumsum(0).cumsum(1)
    return table


def test_numpy_is_known():
    """Otherwise all of these would take the long way, and pass."""
    assert _integral._know_arrays()


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i2", "i4", "f4", "f8"])
def test_tables(dtype):
    for shape in SHAPES:
        kept = []
        for seed in range(4):
            image = pixels(shape, dtype, seed)
            table = boxsum.integral(image)
            first, squares = boxsum.integral(image, squares=True)
            for t, want in ((table, sums(image, table.dtype)), (first, sums(image, first.dtype)), (squares, sums(image.astype("f8") ** 2, squares.dtype))):
                assert t.dtype == want.dtype and t.flags.writeable and t.flags.aligned
                np.testing.assert_array_equal(t, want)
                kept.append((t, want))
        for i, (t, want) in enumerate(kept):  # each has memory of its own
            np.testing.assert_array_equal(t, want)
            assert not any(np.shares_memory(t, other) for other, _ in kept[:i])


def test_rows_on_lines():
    for _ in range(3):
        table = boxsum.integral(np.ones((480, 854), np.uint8))
        assert (table.ctypes.data + table.itemsize) % 64 == 0 and table.strides == (3456, 4)
        assert boxsum.integral(np.ones((64, 64), np.uint8)).flags.c_contiguous


def test_other_layouts_of_one_shape():
    """Images of a shape and type that is known, which lie in memory in all ways."""
    for _ in range(3):
        plain = pixels((40, 50), "u2", 1)
        frozen = plain.copy()
        frozen.flags.writeable = False
        unaligned = np.frombuffer(b"x" + plain.tobytes(), np.uint8)[1:].view(np.uint16).reshape(40, 50)
        wide = np.zeros((40, 80), np.uint16)
        wide[:, 10:60] = plain
        ways = [plain, frozen, np.asfortranarray(plain), plain.astype(">u2"), unaligned, wide[:, 10:60], plain[::-1][::-1], plain[:, ::-1][:, ::-1]]
        ways += [plain.repeat(2, 1)[:, ::2], plain.repeat(2, 0)[::2], np.broadcast_to(plain, (40, 50)), plain.view(type("Own", (np.ndarray,), {}))]
        for image in ways:
            np.testing.assert_array_equal(boxsum.integral(image), sums(plain, "u8"))
    turned = pixels((40, 50), "u1", 2)
    boxsum.integral(turned)
    np.testing.assert_array_equal(boxsum.integral(turned[::-1]), sums(turned[::-1], "u4"))
    np.testing.assert_array_equal(boxsum.integral(turned[:, ::-1]), sums(turned[:, ::-1], "u4"))


def test_types():
    image = pixels((40, 50), "u1", 3)
    for _ in range(3):
        for dtype in ("u4", "i4", "u8", "i8", "f4", "f8", np.uint32, np.float64, np.dtype("f4"), float, None):
            table = boxsum.integral(image, dtype=dtype)
            assert table.dtype == np.dtype("u4" if dtype is None else dtype)
            np.testing.assert_array_equal(table, sums(image, table.dtype))
        for bad in ("u1", "i2", "nonsense", [1]):
            with pytest.raises(TypeError):
                boxsum.integral(image, dtype=bad)


def test_out():
    image = pixels((40, 50), "u1", 4)
    for _ in range(3):
        for dtype in ("u4", "f8"):
            room = np.full((50, 70), 7, dtype)
            out = room[3:44, 5:56]
            assert boxsum.integral(image, out=out) is out
            np.testing.assert_array_equal(out, sums(image, dtype))
            room[3:44, 5:56] = 7
            assert (room == 7).all()
        frozen = np.zeros((41, 51), "u4")
        frozen.flags.writeable = False
        overlapping = np.zeros((41, 51), "u4")
        for bad, of, error in [
            (np.zeros((41, 50), "u4"), image, ValueError), (np.zeros((41, 51, 1), "u4"), image, ValueError), (np.zeros((41, 51), "u2"), image, TypeError),
            (np.zeros((41, 51), ">u4"), image, (TypeError, ValueError)), (np.zeros((51, 41), "u4").T, image, ValueError), (frozen, image, ValueError),
            (overlapping, overlapping.view("u1")[:40, :50], ValueError), ([1], image, TypeError),
        ]:
            with pytest.raises(error):
                boxsum.integral(of, out=bad)


def test_calls():
    """All ways to call it, also where the interpreter goes past the function itself."""
    image = pixels((20, 30), "u1", 5)
    want = sums(image, "u4")
    for _ in range(3):
        np.testing.assert_array_equal(boxsum.integral(image=image), want)
        np.testing.assert_array_equal(boxsum.integral(image, **{"dtype": None, "squares": False}), want)
        np.testing.assert_array_equal(list(map(boxsum.integral, [image]))[0], want)
        np.testing.assert_array_equal(boxsum.integral(image, squares=np.True_)[0], want)
        np.testing.assert_array_equal(boxsum.integral(image, squares=1)[0], want)
        for arguments, options in [((), {}), ((image, 1), {}), ((image,), {"foo": 1}), ((image,), {"dtype": None, "foo": 1})]:
            with pytest.raises(TypeError, match="argument"):
                boxsum.integral(*arguments, **options)
    assert inspect.isfunction(boxsum.integral) and "dtype: Any = None" in str(inspect.signature(boxsum.integral)).replace("'", "")
    assert pickle.loads(pickle.dumps(boxsum.integral)) is boxsum.integral


def test_no_leaks():
    image, wrong = pixels((64, 64), "u1", 6), np.zeros((3, 3), "u4")
    out = boxsum.integral(image)

    def calls():
        for _ in range(200):
            boxsum.integral(image)
            boxsum.integral(image, squares=True)
            boxsum.integral(image, out=out)
            boxsum.integral(image[:, ::2])
            with pytest.raises(ValueError):
                boxsum.integral(image, out=wrong)

    def counts():
        gc.collect()
        return [sys.getrefcount(image), sys.getrefcount(out), sys.getrefcount(wrong), sys.getrefcount(image.dtype), sys.getrefcount(out.dtype)]

    calls()
    before = counts()
    calls()
    assert all(abs(a - b) < 50 for a, b in zip(before, counts()))  # others hold types too


def test_many_shapes():
    """More than there are places for."""
    for _ in range(2):
        for n in range(1, 600):
            image = np.full((2, n), n % 7, np.uint8)
            assert boxsum.integral(image)[-1, -1] == 2 * n * (n % 7)
