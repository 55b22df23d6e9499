"""OpenCV's ``integral``, ``integral2`` and ``integral3``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arguments import UPRIGHT, refuse_overlap
from ..._host import fill
from ..._memory import LARGE_SQUARES, Layout, layout_of, new_table, new_tables
from ._arrays import as_image, depth_name, error, handed, reuse, umats

# The types of sums and squares for each pixel type, the default first.
_TABLES = {
    "u1": (("i4", "f8"), ("i4", "f4"), ("i4", "i4"), ("f4", "f8"), ("f4", "f4"), ("f8", "f8")),
    "u2": (("f8", "f8"),),
    "i2": (("f8", "f8"),),
    "f4": (("f8", "f8"), ("f4", "f8"), ("f4", "f4")),
    "f8": (("f8", "f8"),),
}


# The types of sums and squares by pixel type and both depths, and the layouts of the
# tables of images seen before.
_known: dict[tuple[Any, ...], tuple[np.dtype, np.dtype]] = {}
_ready: dict[tuple[Any, ...], tuple[Layout, Layout]] = {}


def integral(src: Any, sum: Any = None, sdepth: int = -1) -> np.ndarray:
    """Compute the integral image, like ``cv2.integral``.

    Parameters
    ----------
    src, sum, sdepth
        As for ``cv2.integral``.

    Returns
    -------
    sum : ndarray, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        The table: entry ``[y, x]`` is the sum of ``src[:y, :x]``.

    Raises
    ------
    cv2.error
        If there is no table of this type for the image.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> cv2.integral(np.full((2, 2), 7, np.uint8))
    array([[ 0,  0,  0],
           [ 0,  7, 14],
           [ 0, 14, 28]], dtype=int32)
    """
    if type(src) is not np.ndarray or sum is not None:
        found = umats(integral, src, (sum,), sdepth=sdepth)
        if found:
            return found[0]
    src, sums, _ = _types(src, sdepth, -1)
    out = reuse(sum, _size(src), sums, "sum")
    table = new_table(_size(src), sums) if out is None else out
    fill(src, UPRIGHT, table, None, None)
    return handed(table, sum, out)


def integral2(src: Any, sum: Any = None, sqsum: Any = None, sdepth: int = -1, sqdepth: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Compute the integral image and that of the squares, like ``cv2.integral2``.

    Parameters
    ----------
    src, sum, sqsum, sdepth, sqdepth
        As for ``cv2.integral2``.

    Returns
    -------
    sum, sqsum : ndarray, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        The tables of sums and squares.

    Raises
    ------
    cv2.error
        If there are no tables of these types for the image.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> sums, squares = cv2.integral2(np.full((2, 2), 7, np.uint8))
    >>> squares
    array([[  0.,   0.,   0.],
           [  0.,  49.,  98.],
           [  0.,  98., 196.]])
    """
    if sum is None and sqsum is None and type(src) is np.ndarray and type(sdepth) is type(sqdepth) is int:
        layouts = _ready.get((src.shape, src.dtype, sdepth, sqdepth))
        if layouts is not None:  # the common call
            new, new2 = (layouts[0].new(), layouts[1].new()) if layouts[1].bytes < LARGE_SQUARES else new_tables(*layouts)
            fill(src, UPRIGHT, new, new2, None)
            return new, new2
    found = umats(integral2, src, (sum, sqsum), sdepth=sdepth, sqdepth=sqdepth)
    if found:
        return found[0], found[1]
    given = src
    src, sums, squares = _types(src, sdepth, sqdepth)
    outs = [reuse(sum, _size(src), sums, "sum"), reuse(sqsum, _size(src), squares, "sqsum")]
    table, table2 = _tables(src, sums, squares, outs)
    if src is given and squares == np.float64 and type(sdepth) is type(sqdepth) is int:
        if len(_ready) > 1000:
            _ready.clear()
        size = _size(src)
        _ready[src.shape, src.dtype, sdepth, sqdepth] = layout_of(size, sums), layout_of(size, squares, second=True)
    return handed(table, sum, outs[0]), handed(table2, sqsum, outs[1])


def integral3(
    src: Any, sum: Any = None, sqsum: Any = None, tilted: Any = None, sdepth: int = -1, sqdepth: int = -1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the integral image, that of the squares and the tilted one, like ``cv2.integral3``.

    Parameters
    ----------
    src, sum, sqsum, tilted, sdepth, sqdepth
        As for ``cv2.integral3``.

    Returns
    -------
    sum, sqsum, tilted : ndarray, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        The tables of sums and squares, and the tilted table.

    Raises
    ------
    cv2.error
        If there are no tables of these types for the image.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> sums, squares, tilted = cv2.integral3(np.full((2, 2), 7, np.uint8))
    >>> tilted
    array([[ 0,  0,  0],
           [ 0,  7,  7],
           [ 7, 21, 21]], dtype=int32)
    """
    found = umats(integral3, src, (sum, sqsum, tilted), sdepth=sdepth, sqdepth=sqdepth)
    if found:
        return found[0], found[1], found[2]
    src, sums, squares = _types(src, sdepth, sqdepth)
    outs = [reuse(sum, _size(src), sums, "sum"), reuse(sqsum, _size(src), squares, "sqsum"), reuse(tilted, _size(src), sums, "tilted")]
    table, table2, leaning = _tables(src, sums, squares, outs)
    return handed(table, sum, outs[0]), handed(table2, sqsum, outs[1]), handed(leaning, tilted, outs[2])


def _tables(src: np.ndarray, sums: np.dtype, squares: np.dtype, outs: list[Any]) -> list[Any]:
    """Compute the tables of sums and squares, and the tilted one if there is a place for it."""
    given = [out for out in outs if out is not None]
    if given:
        try:
            refuse_overlap([src] + given)
        except ValueError as wrong:
            raise error(str(wrong)) from None
    # uint8 squares are whole numbers in float64, and OpenCV's int32 squares wrap.
    types = [sums, np.dtype(np.uint64 if squares.kind == "i" else np.float64), sums]
    size = _size(src)
    fits = [out is not None and out.dtype == t for out, t in zip(outs, types)]
    new = iter(new_tables(*(layout_of(size, t, second=i > 0) for i, t in enumerate(types[: len(outs)]) if not fits[i])))
    tables = [out if fit else next(new) for out, fit in zip(outs, fits)]
    fill(src, UPRIGHT, tables[0], tables[1], tables[2] if len(tables) == 3 else None)
    if tables[1].dtype != squares:
        narrow = tables[1].astype(np.float32) if squares == np.float32 else tables[1].astype(np.uint32).view(np.int32)
        if outs[1] is None:
            tables[1] = narrow
        else:
            outs[1][...] = narrow
    return tables


def _size(src: np.ndarray) -> tuple[int, ...]:
    """Return the shape of an image's table."""
    return (src.shape[0] + 1, src.shape[1] + 1) + src.shape[2:]


def _types(src: Any, sdepth: Any, sqdepth: Any) -> tuple[np.ndarray, np.dtype, np.dtype]:
    """Return the image and the types of its sums and squares."""
    src = as_image(src)
    known = _known.get((src.dtype, sdepth, sqdepth)) if type(sdepth) is type(sqdepth) is int else None
    if known is not None:
        return src, *known
    native = src.dtype.newbyteorder("=")
    tables = _TABLES.get(native.str[1:])
    if tables is None:
        raise error(f"src must have type {', '.join(np.dtype(pixel).name for pixel in _TABLES)}, got {src.dtype}")
    sums, squares = depth_name(sdepth, tables[0][0]), depth_name(sqdepth, "f8")
    if (sums, squares) not in tables:
        raise error(f"sdepth and sqdepth must be {_have(tables)} for src of {src.dtype}, got {sdepth} and {sqdepth}")
    found = np.dtype(sums), np.dtype(squares)
    if src.dtype == native and type(sdepth) is type(sqdepth) is int:
        _known[src.dtype, sdepth, sqdepth] = found
    return src if src.dtype == native else src.astype(native), *found


def _have(tables: tuple[Any, ...]) -> str:
    names = {"i4": "CV_32S", "f4": "CV_32F", "f8": "CV_64F"}
    return ", ".join(f"{names[sums]} with {names[squares]}" for sums, squares in tables)
