"""Questions about boxes, answered from tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._integral import thread_count
from ._native import LayoutError, call
from ._types import overlap

SUM, MEAN, VARIANCE, DEVIATION, AREA = range(5)


def box_sum(table: Any, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
    """Sum the pixels of boxes, from the table of an image or a volume.

    Parameters
    ----------
    table : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        From :func:`integral`, ``cv2.integral`` or another library. Tables of
        volumes, of shape (D + 1, H + 1, W + 1) or with channels behind, go with
        boxes of six numbers.
    boxes : array_like of int, shape (..., 4) or (..., 6)
        ``x0, y0, x1, y1`` for the pixels ``image[y0:y1, x0:x1]``, and
        ``x0, y0, z0, x1, y1, z1`` in a volume. They are clipped to the image; one
        that nothing is left of sums to 0. int64 goes in without a copy.
    out : ndarray, optional
        Where to write the sums.
    workers : int, optional
        How many threads may work at once.

    Returns
    -------
    sums : ndarray, shape (...) or (..., C), of the table's type

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table = boxsum.integral(image)
    >>> boxsum.box_sum(table, [[0, 0, 4, 3], [1, 1, 3, 2]])
    array([66, 11], dtype=uint32)
    >>> boxsum.box_sum(table, (1, 1, 3, 2)) == image[1:2, 1:3].sum()
    np.True_
    """
    return _ask(table, None, boxes, SUM, out, workers)


def box_mean(table: Any, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
    """The mean of the pixels of boxes, as :func:`box_sum` gives their sum.

    Empty boxes have a mean of 0.

    >>> import boxsum, numpy as np
    >>> table = boxsum.integral(np.eye(4, dtype=np.float32))
    >>> boxsum.box_mean(table, [[0, 0, 4, 4], [0, 0, 2, 1]])
    array([0.25, 0.5 ])
    """
    return _ask(table, None, boxes, MEAN, out, workers)


def box_var(table: Any, squares: Any, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
    """The variance of the pixels of boxes, from a table and that of the squares.

    From tables of integers it is right to two units in the last place. From float64
    squares, which those of 32-bit pixels are, it is so while the squares of the
    whole image add up to less than 2**53, and beyond that as rounded as those sums
    are. It is never negative.

    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table, squares = boxsum.integral(image, squares=True)
    >>> boxsum.box_var(table, squares, [0, 0, 4, 3]) == image.var()
    np.True_
    """
    return _ask(table, squares, boxes, VARIANCE, out, workers)


def box_std(table: Any, squares: Any, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
    """The standard deviation of boxes: the square root of :func:`box_var`."""
    return _ask(table, squares, boxes, DEVIATION, out, workers)


def as_boxes(boxes: Any, *columns: int) -> np.ndarray:
    """Boxes as an array of int64, whose last axis has so many numbers."""
    boxes = np.asarray(boxes)
    if boxes.size == 0 and boxes.ndim < 2:
        boxes = np.zeros((0, columns[0]), np.int64)
    if boxes.ndim == 0 or boxes.shape[-1] not in columns:
        numbers = " or ".join(map(str, columns))
        raise ValueError(f"an array of shape {boxes.shape}: the last axis must have {numbers} numbers")
    if boxes.dtype.kind not in "iu" and boxes.size:
        raise TypeError(f"an array of {boxes.dtype}: this takes integers")
    if boxes.dtype == np.uint64 and boxes.size and boxes.max() > np.uint64(np.iinfo(np.int64).max):
        raise ValueError("numbers of more than 63 bits")
    return np.ascontiguousarray(boxes, np.int64)


def results(shape: tuple[int, ...], dtype: Any, out: np.ndarray | None, *inputs: Any) -> np.ndarray:
    """The array to write results to, apart from what they are made of."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype or not out.flags.carray:
        raise ValueError(f"out must be a C-contiguous, aligned and writeable array of {np.dtype(dtype)} with shape {shape}")
    if any(isinstance(given, np.ndarray) and overlap(out, given) for given in inputs):
        raise ValueError("out may not lie in the memory of what is read")
    return out


def _ask(table: Any, squares: Any, boxes: Any, what: int, out: np.ndarray | None, workers: int | None) -> Any:
    if squares is None and what in (VARIANCE, DEVIATION):
        raise TypeError("this takes the table of squares too: boxsum.integral(image, squares=True) makes both")
    if not isinstance(table, np.ndarray):
        from . import _foreign

        kind = _foreign.find(table)
        if kind is not None:
            return kind.boxes(table, squares, boxes, what, out)
        table = np.asarray(table)
    if squares is not None:
        squares = np.asarray(squares)
    boxes = as_boxes(boxes, 4, 6)
    axes = boxes.shape[-1] // 2
    if table.ndim not in (axes, axes + 1):
        raise ValueError(f"a table of shape {table.shape} does not go with boxes of {2 * axes} numbers")
    channels = table.shape[axes:]
    answers = results(boxes.shape[:-1] + channels, table.dtype.newbyteorder("=") if what == SUM else np.float64, out, boxes, table, squares)
    flat = boxes.reshape(-1, 2 * axes)
    target = answers.reshape(len(flat), channels[0] if channels else 1)
    threads = thread_count(workers)
    for attempt in range(2):
        try:
            call("boxes", table, squares, flat, target, what, threads)
            break
        except LayoutError:
            if attempt:
                raise
            table = np.array(table, table.dtype.newbyteorder("="), order="C")
            if squares is not None:
                squares = np.array(squares, squares.dtype.newbyteorder("="), order="C")
    return answers if answers.ndim else answers[()]
