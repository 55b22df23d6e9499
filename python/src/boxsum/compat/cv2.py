"""``integral``, ``integral2`` and ``integral3`` as OpenCV has them.

    from boxsum.compat import cv2 as fast
    table = fast.integral(image)

Arguments, types and results are those of ``cv2``: integer tables and tilted
tables are the same to the bit, float tables but for the order of additions.
Large tables have gaps behind their rows. The module does not need OpenCV; where
that is installed, errors are ``cv2.error``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._integral import integral as _integral
from .._native import call

# The depths of OpenCV.
_DEPTHS = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "i4", 5: "f4", 6: "f8"}

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
    return _integral(_pixels(src, sums), dtype=sums, out=_reuse(sum, src, sums))


def integral2(src: Any, sum: Any = None, sqsum: Any = None, sdepth: int = -1, sqdepth: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """The integral image and that of the squares: ``cv2.integral2``."""
    src, sums, squares = _types(src, sdepth, sqdepth)
    return _both(src, sums, squares, _reuse(sum, src, sums), _reuse(sqsum, src, squares))


def integral3(
    src: Any, sum: Any = None, sqsum: Any = None, tilted: Any = None, sdepth: int = -1, sqdepth: int = -1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The integral image, that of the squares and the tilted one: ``cv2.integral3``."""
    src, sums, squares = _types(src, sdepth, sqdepth)
    table, table2 = _both(src, sums, squares, _reuse(sum, src, sums), _reuse(sqsum, src, squares))
    _, leaning = _integral(_pixels(src, sums), dtype=sums, tilted=True, out=(table, _reuse(tilted, src, sums)))
    return table, table2, leaning


def _both(src: np.ndarray, sums: np.dtype, squares: np.dtype, out: Any, out2: Any) -> tuple[np.ndarray, np.ndarray]:
    pixels = _pixels(src, sums)
    if pixels.dtype.kind == "f":
        into = out2 if squares == np.float64 else None
        table, table2 = _integral(pixels, dtype=sums, squares=True, out=(out, into))
    else:
        into = out2.view(np.uint64) if squares == np.float64 and out2 is not None else None
        table, table2 = _integral(pixels, dtype=sums, squares=True, out=(out, into))
        if squares == np.float64:
            call("to_float", table2, 0)  # where they are
            table2 = table2.view(np.float64)
    if table2.dtype != squares:
        narrow = table2.astype(np.float32) if squares == np.float32 else table2.astype(np.uint32).view(np.int32)
        if out2 is None:
            return table, narrow
        out2[...] = narrow
    return table, table2 if out2 is None else out2


def _pixels(src: np.ndarray, sums: np.dtype) -> np.ndarray:
    return src.astype(np.float64) if src.dtype == np.int16 else src


def _types(src: Any, sdepth: int, sqdepth: int) -> tuple[np.ndarray, np.dtype, np.dtype]:
    """The image, and the types of its sums and squares."""
    src = np.asarray(src)
    if src.ndim not in (2, 3) or src.size == 0:
        raise _error(f"an array of shape {src.shape} is no image")
    name = src.dtype.newbyteorder("=").str[1:]
    tables = _TABLES.get(name)
    if tables is None:
        raise _error(f"there is no integral image of {src.dtype}")
    sums = tables[0][0] if sdepth is None or sdepth <= 0 else _DEPTHS.get(sdepth & 7)
    squares = "f8" if sqdepth is None or sqdepth <= 0 else _DEPTHS.get(sqdepth & 7)
    if (sums, squares) not in tables:
        raise _error(f"there is no integral image of {src.dtype} with sdepth {sdepth} and sqdepth {sqdepth}")
    return src, np.dtype(sums), np.dtype(squares)


def _reuse(out: Any, src: np.ndarray, dtype: np.dtype) -> Any:
    """The array to write to, if it is what the table takes, as OpenCV has it."""
    shape = (src.shape[0] + 1, src.shape[1] + 1) + src.shape[2:]
    if isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype and out.flags.writeable and out.flags.c_contiguous:
        return out
    return None


def _error(message: str) -> Exception:
    try:
        import cv2

        return cv2.error(message)
    except ImportError:
        return ValueError(message)
