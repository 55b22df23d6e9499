"""``integral``, ``integral2`` and ``integral3`` as OpenCV has them.

    from boxsum.compat import cv2 as fast
    table = fast.integral(image)

Arguments, types and results are those of ``cv2`` 5: integer tables and tilted
tables are the same to the bit, float tables but for the order of additions.
Large tables have gaps behind their rows. The module does not need OpenCV; where
that is installed, errors are ``cv2.error``.

What is different: lists are taken for images, bytes in foreign order are read as
what they stand for, an image of no columns has a table of zeros, tables do not
lie in the memory of one another, and a call without an image is a TypeError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._integral import apart
from .._integral import integral as _integral
from .._memory import new_table
from .._native import LayoutError, call

# The depths of OpenCV.
_DEPTHS = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "i4", 5: "f4", 6: "f8"}

_MOST_CHANNELS = 128
_SCRATCH = 2 << 20  # elements, for memory that is kept: new pages would take longer than to fill them

# Which sums and squares there are for pixels of each type, the usual first.
_TABLES = {
    "u1": (("i4", "f8"), ("i4", "f4"), ("i4", "i4"), ("f4", "f8"), ("f4", "f4"), ("f8", "f8")),
    "u2": (("f8", "f8"),),
    "i2": (("f8", "f8"),),
    "f4": (("f8", "f8"), ("f4", "f8"), ("f4", "f4")),
    "f8": (("f8", "f8"),),
}


def integral(src: Any, sum: Any = None, sdepth: int = -1) -> np.ndarray:
    """The integral image: ``cv2.integral``.

    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> cv2.integral(np.full((2, 2), 7, np.uint8))
    array([[ 0,  0,  0],
           [ 0,  7, 14],
           [ 0, 14, 28]], dtype=int32)
    """
    src, sums, _ = _types(src, sdepth, -1)
    out = _reuse(sum, src, sums, "sum")
    return _handed(_integral(_pixels(src), dtype=sums, out=out), sum, out)


def integral2(src: Any, sum: Any = None, sqsum: Any = None, sdepth: int = -1, sqdepth: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """The integral image and that of the squares: ``cv2.integral2``."""
    src, sums, squares = _types(src, sdepth, sqdepth)
    outs = [_reuse(sum, src, sums, "sum"), _reuse(sqsum, src, squares, "sqsum")]
    table, table2 = _tables(src, sums, squares, outs)
    return _handed(table, sum, outs[0]), _handed(table2, sqsum, outs[1])


def integral3(
    src: Any, sum: Any = None, sqsum: Any = None, tilted: Any = None, sdepth: int = -1, sqdepth: int = -1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The integral image, that of the squares and the tilted one: ``cv2.integral3``."""
    src, sums, squares = _types(src, sdepth, sqdepth)
    outs = [_reuse(sum, src, sums, "sum"), _reuse(sqsum, src, squares, "sqsum"), _reuse(tilted, src, sums, "tilted")]
    table, table2, leaning = _tables(src, sums, squares, outs)
    return _handed(table, sum, outs[0]), _handed(table2, sqsum, outs[1]), _handed(leaning, tilted, outs[2])


def _tables(src: np.ndarray, sums: np.dtype, squares: np.dtype, outs: list) -> list:
    """The tables of sums and squares, and the tilted one if there is a place for it."""
    try:
        apart([src] + [out for out in outs if out is not None])
    except ValueError as error:
        raise _error(str(error)) from None
    pixels, tilted, wide = _pixels(src), len(outs) == 3, np.dtype(np.float64)
    into = outs[1] if squares == wide else None
    if src.dtype == np.uint8:
        if tilted:
            tables = list(_integral(pixels, dtype=sums, tilted=True, out=(outs[0], outs[2])))
        else:
            tables = [_integral(pixels, dtype=sums, out=outs[0])]
        # The squares of bytes fit 16 bits, and add up to whole numbers in float64.
        kept = new_table((1, max(src.size, _SCRATCH)), np.dtype(np.uint16))
        squared = kept[0, : src.size].reshape(src.shape)
        try:
            call("square", src, squared, 0)
        except LayoutError:
            call("square", np.ascontiguousarray(src), squared, 0)
        tables.insert(1, _integral(squared, dtype=np.uint64 if squares.kind == "i" else wide, out=into))
    elif src.dtype == np.uint16:
        place = None if into is None else into.view(np.uint64)
        tables = list(_integral(pixels, dtype=sums, squares=True, tilted=tilted, out=(outs[0], place, *outs[2:])))
        call("to_float", tables[1], 0)  # where they are
        tables[1] = tables[1].view(wide)
    else:
        tables = list(_integral(pixels, dtype=sums, squares=True, tilted=tilted, out=(outs[0], into, *outs[2:])))
    if tables[1].dtype != squares:
        narrow = tables[1].astype(np.float32) if squares == np.float32 else tables[1].astype(np.uint32).view(np.int32)
        if outs[1] is None:
            tables[1] = narrow
        else:
            outs[1][...] = narrow
    return tables


def _pixels(src: np.ndarray) -> np.ndarray:
    """The image with pixels that have sums as OpenCV has them."""
    return src.astype(np.float32) if src.dtype == np.int16 else src  # without loss


def _types(src: Any, sdepth: Any, sqdepth: Any) -> tuple[np.ndarray, np.dtype, np.dtype]:
    """The image, and the types of its sums and squares."""
    src = np.asarray(src)
    shape = src.shape
    if len(shape) not in (1, 2, 3) or len(shape) == 3 and not 1 <= shape[2] <= _MOST_CHANNELS:
        raise _error(f"an array of shape {shape} is no image")
    if len(shape) == 1:
        src = src[None]
    elif len(shape) == 3 and shape[2] == 1:
        src = src[:, :, 0]
    native = src.dtype.newbyteorder("=")
    tables = _TABLES.get(native.str[1:])
    if tables is None:
        raise _error(f"there is no integral image of {src.dtype}")
    sums, squares = _depth(sdepth, tables[0][0]), _depth(sqdepth, "f8")
    if (sums, squares) not in tables:
        raise _error(f"there is no integral image of {src.dtype} with sdepth {sdepth} and sqdepth {sqdepth}")
    return src if src.dtype == native else src.astype(native), np.dtype(sums), np.dtype(squares)


def _depth(depth: Any, usual: str) -> str | None:
    if depth is None:
        return usual
    if not isinstance(depth, (int, np.integer)) or isinstance(depth, bool):
        raise _error(f"a depth of {depth!r}: it must be a number such as cv2.CV_32S")
    return usual if depth <= 0 else _DEPTHS.get(int(depth))


def _reuse(out: Any, src: np.ndarray, dtype: np.dtype, name: str) -> Any:
    """The array to write to, if it is what the table takes, as OpenCV has it."""
    if out is None:
        return None
    if not isinstance(out, np.ndarray):
        raise _error(f"{name} must be an array, not {type(out).__name__}")
    if not out.flags.writeable or out.dtype.kind not in "iufb" or out.dtype.str[1:] == "i8" or not _in_rows(out):
        raise _error(f"{name} must be a writeable array with its rows in order, their elements side by side, of a type that OpenCV has")
    shape = (src.shape[0] + 1, src.shape[1] + 1) + src.shape[2:]
    plain = out[:, :, 0] if out.ndim == 3 and out.shape[2] == 1 else out
    return plain if plain.shape == shape and plain.dtype == dtype and plain.flags.aligned else None


def _in_rows(array: np.ndarray) -> bool:
    """Whether all but the gaps behind rows lies as in an array without any."""
    step = array.itemsize
    for axis in reversed(range(array.ndim)):
        n, stride = array.shape[axis], array.strides[axis]
        if n > 1 and (stride != step if axis else stride < step):
            return False
        step *= n
    return True


def _handed(table: np.ndarray, given: Any, out: Any) -> np.ndarray:
    """The table as the caller gave it, where it was written there."""
    return table if out is None else given


def _error(message: str) -> Exception:
    try:
        import cv2

        return cv2.error(message)
    except ImportError:
        return ValueError(message)
