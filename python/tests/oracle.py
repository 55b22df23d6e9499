"""What tests share: images, and tables by the definition."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

PIXELS = ("u1", "u2", "u4", "i2", "i4", "f4", "f8")

# The sums of each, the usual first.
SUMS = {
    "u1": ("u4", "i4", "u8", "i8", "f4", "f8"),
    "u2": ("u8", "i8", "f8", "u4", "i4"),
    "u4": ("u8", "i8", "u4", "i4", "f8"),
    "i2": ("i8", "u8", "f8"),
    "i4": ("i8", "u8", "f8"),
    "f4": ("f8", "f4"),
    "f8": ("f8",),
    "b1": ("u4",),
    "i1": ("i8",),
    "i8": ("i8", "u8", "f8"),
    "u8": ("u8", "i8", "f8"),
    "f2": ("f8", "f4"),
}


def pixels(shape, dtype, seed=0):
    """Random pixels: integers of the whole range, floats that add up exactly."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return rng.integers(-8, 9, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def table(image, dtype, axes=2):
    """The table of an image or volume, by the definition."""
    wide = np.dtype(dtype)
    sums = image.astype(wide)
    for axis in range(axes):
        sums = sums.cumsum(axis, dtype=wide)
    return np.pad(sums, [(1, 0)] * axes + [(0, 0)] * (image.ndim - axes))


def squares(image, axes=2):
    if image.dtype.kind == "f" or image.itemsize == 4:
        return table(image.astype("f8") ** 2, "f8", axes)
    wide = image.astype("i8").view("u8")
    return table(wide * wide, "u8", axes)


@st.composite
def layouts(draw, dtype, axes=2, side=40):
    """An array with a layout of any kind, and its values."""
    shape = tuple(draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, side)) for _ in range(axes))
    if draw(st.booleans()):
        shape += (draw(st.integers(1, 5)),)
    image = pixels(shape, dtype, draw(st.integers(0, 1000)))
    values = image.copy()
    kind = draw(st.sampled_from(["plain", "fortran", "gaps", "reversed", "steps", "swapped", "readonly", "unaligned", "transposed", "odd gaps"]))
    if kind == "fortran":
        image = np.asfortranarray(image)
    elif kind == "gaps":
        room = np.zeros(tuple(n + 3 for n in shape[:axes]) + shape[axes:], dtype)
        image = room[tuple(slice(1, n + 1) for n in shape[:axes])]
        image[...] = values
    elif kind == "reversed":
        axis = draw(st.integers(0, len(shape) - 1))
        image = np.flip(np.flip(image, axis).copy(), axis)
    elif kind == "steps":
        axis = draw(st.integers(0, len(shape) - 1))
        image = np.repeat(image, 2, axis)[tuple(slice(None, None, 2 if i == axis else 1) for i in range(len(shape)))]
    elif kind == "swapped":
        image = image.astype(image.dtype.newbyteorder())
    elif kind == "readonly":
        image.flags.writeable = False
    elif kind == "unaligned":
        raw = np.zeros(image.nbytes + 1, np.uint8)[1:]
        raw[:] = np.frombuffer(image.tobytes(), np.uint8)
        image = raw.view(dtype).reshape(shape)
    elif kind == "transposed":
        image = np.ascontiguousarray(image.swapaxes(0, 1)).swapaxes(0, 1)
    elif kind == "odd gaps":
        item = image.dtype.itemsize
        row = int(np.prod(shape[axes - 1 :])) * item
        rows = int(np.prod(shape[: axes - 1]))
        raw = np.zeros(rows * (row + 1) + 8 * item, np.uint8)
        strides = [item]
        for n in reversed(shape[axes:]):
            strides.insert(0, strides[0] * n)
        stride = row + 1
        outer = []
        for n in reversed(shape[: axes - 1]):
            outer.insert(0, stride)
            stride *= n
        image = np.ndarray(shape, dtype, raw, 0, tuple(outer + strides[-(len(shape) - axes + 1) :] if len(shape) == axes else outer + strides[-2:]))
        image[...] = values
    np.testing.assert_array_equal(image, values)
    return image, values


def cascade(name):
    """The path of a cascade of Debian's opencv-data, or a skip."""
    for path in Path(os.environ.get("BOXSUM_CASCADES") or "/usr/share/opencv4").glob(f"*cascades/{name}.xml"):
        return str(path)
    return pytest.skip("there are no cascades of OpenCV: install Debian's opencv-data, or let BOXSUM_CASCADES name their folder")
