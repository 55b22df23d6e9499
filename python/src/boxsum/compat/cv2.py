"""``integral``, ``integral2`` and ``integral3`` as OpenCV has them.

    from boxsum.compat import cv2 as fast
    table = fast.integral(image)

Arguments, types and results are those of ``cv2`` 5: integer tables and tilted
tables are the same to the bit, float tables but for the order of additions.
Large tables have gaps behind their rows. The module does not need OpenCV; where
that is installed, errors are ``cv2.error``.

Types may have a number of channels (``CV_32SC3``), images and tables may be UMat, and
tuples of numbers are columns. Masks are ignored.

What is different: lists are taken for images, None is not, bytes in foreign order
are read as what they stand for, an image of no columns has a table of zeros, tables
do not lie in the memory of one another, and a call without an image is a TypeError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import UPRIGHT, refuse_overlap
from .._host import fill
from .._memory import LARGE_SQUARES, Layout, layout_of, new_table, new_tables

# The depths of OpenCV.
_DEPTHS = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "i4", 5: "f4", 6: "f8"}

_MOST_CHANNELS = 128

# Which sums and squares there are for pixels of each type, the usual first.
_TABLES = {
    "u1": (("i4", "f8"), ("i4", "f4"), ("i4", "i4"), ("f4", "f8"), ("f4", "f4"), ("f8", "f8")),
    "u2": (("f8", "f8"),),
    "i2": (("f8", "f8"),),
    "f4": (("f8", "f8"), ("f4", "f8"), ("f4", "f4")),
    "f8": (("f8", "f8"),),
}


# The types of sums and squares for those of pixels and both depths, and the layouts of
# tables of new images that have been seen before.
_known: dict[tuple, tuple[np.dtype, np.dtype]] = {}
_ready: dict[tuple, tuple[Layout, Layout]] = {}


def integral(src: Any, sum: Any = None, sdepth: int = -1) -> np.ndarray:
    """The integral image: ``cv2.integral``.

    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> cv2.integral(np.full((2, 2), 7, np.uint8))
    array([[ 0,  0,  0],
           [ 0,  7, 14],
           [ 0, 14, 28]], dtype=int32)
    """
    if type(src) is not np.ndarray or sum is not None:
        found = _umats(integral, src, (sum,), sdepth=sdepth)
        if found:
            return found[0]
    src, sums, _ = _types(src, sdepth, -1)
    out = _reuse(sum, src, sums, "sum")
    table = new_table(_size(src), sums) if out is None else out
    fill(src, UPRIGHT, table, None, None)
    return _handed(table, sum, out)


def integral2(src: Any, sum: Any = None, sqsum: Any = None, sdepth: int = -1, sqdepth: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """The integral image and that of the squares: ``cv2.integral2``.

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
        if layouts is not None:  # the usual call
            new, new2 = (layouts[0].new(), layouts[1].new()) if layouts[1].bytes < LARGE_SQUARES else new_tables(*layouts)
            fill(src, UPRIGHT, new, new2, None)
            return new, new2
    found = _umats(integral2, src, (sum, sqsum), sdepth=sdepth, sqdepth=sqdepth)
    if found:
        return found[0], found[1]
    given = src
    src, sums, squares = _types(src, sdepth, sqdepth)
    outs = [_reuse(sum, src, sums, "sum"), _reuse(sqsum, src, squares, "sqsum")]
    table, table2 = _tables(src, sums, squares, outs)
    if src is given and squares == np.float64 and type(sdepth) is type(sqdepth) is int:
        if len(_ready) > 1000:
            _ready.clear()
        size = _size(src)
        _ready[src.shape, src.dtype, sdepth, sqdepth] = layout_of(size, sums), layout_of(size, squares, second=True)
    return _handed(table, sum, outs[0]), _handed(table2, sqsum, outs[1])


def integral3(
    src: Any, sum: Any = None, sqsum: Any = None, tilted: Any = None, sdepth: int = -1, sqdepth: int = -1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The integral image, that of the squares and the tilted one: ``cv2.integral3``.

    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> sums, squares, tilted = cv2.integral3(np.full((2, 2), 7, np.uint8))
    >>> tilted
    array([[ 0,  0,  0],
           [ 0,  7,  7],
           [ 7, 21, 21]], dtype=int32)
    """
    found = _umats(integral3, src, (sum, sqsum, tilted), sdepth=sdepth, sqdepth=sqdepth)
    if found:
        return found[0], found[1], found[2]
    src, sums, squares = _types(src, sdepth, sqdepth)
    outs = [_reuse(sum, src, sums, "sum"), _reuse(sqsum, src, squares, "sqsum"), _reuse(tilted, src, sums, "tilted")]
    table, table2, leaning = _tables(src, sums, squares, outs)
    return _handed(table, sum, outs[0]), _handed(table2, sqsum, outs[1]), _handed(leaning, tilted, outs[2])


def _umats(function: Any, src: Any, outs: tuple, **depths: int) -> list | None:
    """The tables as UMat where any argument is one, as OpenCV returns them, and None otherwise."""
    if not any(type(array).__name__ == "UMat" for array in (src, *outs)):
        return None
    import cv2

    tables = function(src.get() if isinstance(src, cv2.UMat) else src, **depths)
    results = []
    for table, out in zip(tables if isinstance(tables, tuple) else (tables,), outs):
        if isinstance(out, cv2.UMat):
            before = out.get()
            if before.shape == table.shape and before.dtype == table.dtype:
                cv2.copyTo(table, None, out)
                results.append(out)
                continue
        results.append(cv2.UMat(np.ascontiguousarray(table)))
    return results


def _tables(src: np.ndarray, sums: np.dtype, squares: np.dtype, outs: list) -> list:
    """The tables of sums and squares, and the tilted one if there is a place for it."""
    given = [out for out in outs if out is not None]
    if given:
        try:
            refuse_overlap([src] + given)
        except ValueError as error:
            raise _error(str(error)) from None
    # Those of bytes are whole numbers in float64, and OpenCV's int32 ones wrap.
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
    """The shape of an image's table."""
    return (src.shape[0] + 1, src.shape[1] + 1) + src.shape[2:]


def _types(src: Any, sdepth: Any, sqdepth: Any) -> tuple[np.ndarray, np.dtype, np.dtype]:
    """The image, and the types of its sums and squares."""
    if type(src) is not np.ndarray:
        src = _array(src)
    shape = src.shape
    if len(shape) not in (1, 2, 3) or len(shape) == 3 and not 1 <= shape[2] <= _MOST_CHANNELS:
        raise _error(f"an array of shape {shape} is no image")
    if len(shape) == 1:
        src = src[None]
    elif len(shape) == 3 and shape[2] == 1:
        src = src[:, :, 0]
    known = _known.get((src.dtype, sdepth, sqdepth)) if type(sdepth) is type(sqdepth) is int else None
    if known is not None:
        return src, *known
    native = src.dtype.newbyteorder("=")
    tables = _TABLES.get(native.str[1:])
    if tables is None:
        raise _error(f"there is no integral image of {src.dtype}: take {', '.join(np.dtype(pixel).name for pixel in _TABLES)}")
    sums, squares = _depth(sdepth, tables[0][0]), _depth(sqdepth, "f8")
    if (sums, squares) not in tables:
        raise _error(f"there is no integral image of {src.dtype} with sdepth {sdepth} and sqdepth {sqdepth}: it has {_have(tables)}")
    found = np.dtype(sums), np.dtype(squares)
    if src.dtype == native and type(sdepth) is type(sqdepth) is int:
        _known[src.dtype, sdepth, sqdepth] = found
    return src if src.dtype == native else src.astype(native), *found


def _depth(depth: Any, usual: str) -> str | None:
    if depth is None:
        return usual
    if not isinstance(depth, (int, np.integer)) or isinstance(depth, bool):
        raise _error(f"a depth of {depth!r}: it must be a number such as cv2.CV_32S")
    return usual if depth <= 0 else _DEPTHS.get(int(depth) & 31)  # without the number of channels, as in CV_32SC3


def _have(tables: tuple) -> str:
    names = {"i4": "CV_32S", "f4": "CV_32F", "f8": "CV_64F"}
    return ", ".join(f"{names[sums]} with {names[squares]}" for sums, squares in tables)


def _array(src: Any) -> np.ndarray:
    """What is no array as OpenCV takes it: numbers in a tuple are a column, and a single one is the first of four."""
    if src is None:
        raise _error("an image of None: did imread find the file?")
    if isinstance(src, (int, float)):
        src = (src, 0, 0, 0)
    if isinstance(src, tuple):
        if not all(isinstance(number, (int, float)) for number in src):
            raise _error("an image is an array, or a tuple of numbers")
        return np.array(src, np.float64).reshape(-1, 1)
    return np.asarray(src)


def _reuse(out: Any, src: np.ndarray, dtype: np.dtype, name: str) -> Any:
    """The array to write to, if it is what the table takes, as OpenCV has it."""
    if out is None or isinstance(out, (tuple, int, float)):  # which OpenCV copies, and writes to the copy
        return None
    if not isinstance(out, np.ndarray):
        raise _error(f"{name} must be an array, not {type(out).__name__}")
    if not out.flags.writeable or out.dtype.kind not in "iufb" or out.dtype.str[1:] == "i8" or not _in_rows(out):
        raise _error(f"{name} must be a writeable array with its rows in order, their elements side by side, of a type that OpenCV has")
    shape = _size(src)
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
