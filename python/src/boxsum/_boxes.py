"""Sums, means, variances and standard deviations of boxes, from tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _foreign, _host, _known, _shapes
from ._arguments import DEVIATION, MEAN, SUM, VARIANCE, as_boxes
from ._typing import Axes, Boxes, Table


def box_sum(table: Table, boxes: Boxes, *, out: np.ndarray | None = None, workers: int | None = None, axes: Axes = None) -> Any:
    """Sum the pixels of boxes, from the table of an image or a volume.

    Parameters
    ----------
    table : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        A table from :func:`integral`, ``cv2.integral`` or another library. Tables of
        volumes, of shape (D + 1, H + 1, W + 1) or (D + 1, H + 1, W + 1, C), take boxes of
        six numbers.
    boxes : array_like of int, shape (..., 4) or (..., 6)
        ``x0, y0, x1, y1`` for the pixels ``image[y0:y1, x0:x1]``, or
        ``x0, y0, z0, x1, y1, z1`` in a volume. Boxes are clipped to the image; an empty
        box sums to 0. int64 arrays are read in place. Floats must be whole numbers.
    out : ndarray, optional
        Destination, a C-contiguous array of the type and shape of the result. By default,
        a new array is allocated.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.
    axes : tuple of int, optional
        For tables of a batch, the axes that were passed to :func:`integral`. Boxes of
        shape (K, 4) apply to every image, (N, K, 4) has its own boxes for each image along
        the first other axis, and (N, C, K, 4) for each along the first two. The sums have
        the other axes, then K.

    Returns
    -------
    sums : ndarray, shape (...) or (..., C)
        The sums, of the table's type; a scalar for a single box.

    Raises
    ------
    ValueError
        If a coordinate is not a whole number, or if the number of coordinates does not suit
        the table: four for an image, six for a volume.

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
    return _ask(table, None, boxes, SUM, out, workers, axes=axes)


def box_mean(table: Table, boxes: Boxes, *, counts: Table | bool | None = None, out: np.ndarray | None = None, workers: int | None = None, axes: Axes = None) -> Any:
    """Return the mean of the pixels of boxes.

    Parameters
    ----------
    table, boxes, out, workers, axes
        As for :func:`box_sum`.
    counts : array or False, optional
        The table of counts that ``boxsum.integral(image, nan="skip")`` or ``mask=``
        returns last; the mean is then taken over the valid pixels. A :class:`ValidTable`
        carries its counts. Plain copies of one do not, and raise an error unless `counts`
        is given. ``False`` treats all pixels as valid.

    Returns
    -------
    means : ndarray of float64, shape (...) or (..., C)
        The means. Empty boxes have mean 0; with `counts`, boxes without valid pixels have
        mean NaN.

    Raises
    ------
    ValueError
        If `table` is a copy or a mixture of tables of valid pixels whose counts are not
        known, and for the reasons of :func:`box_sum`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> table = boxsum.integral(np.eye(4, dtype=np.float32))
    >>> boxsum.box_mean(table, [[0, 0, 4, 4], [0, 0, 2, 1]])
    array([0.25, 0.5 ])
    >>> sums, counts = boxsum.integral(np.array([[1, np.nan, 5]]), nan="skip")
    >>> boxsum.box_mean(sums, [[0, 0, 3, 1], [1, 0, 2, 1]], counts=counts)
    array([ 3., nan])
    """
    return _ask(table, None, boxes, MEAN, out, workers, counts, axes)


def box_var(table: Table, squares: Table, boxes: Boxes, *, counts: Table | bool | None = None, out: np.ndarray | None = None, workers: int | None = None, axes: Axes = None) -> Any:
    """Return the variance of the pixels of boxes, from tables of sums and squares.

    Parameters
    ----------
    table, squares : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        The tables from ``boxsum.integral(image, squares=True)``.
    boxes, out, workers, axes
        As for :func:`box_sum`.
    counts : array or False, optional
        As for :func:`box_mean`. The variance is then that of the valid pixels.

    Returns
    -------
    variances : ndarray of float64, shape (...) or (..., C)
        The variances, which are never negative. Empty boxes have variance 0; with `counts`,
        boxes without valid pixels have variance NaN.

    Raises
    ------
    TypeError
        If `squares` is None.
    ValueError
        For the reasons of :func:`box_mean`.

    Notes
    -----
    For integers, variances are accurate to two units in the last place. For floats they
    are NaN if rounding of the sums may exceed a fiftieth of the variance. Tables from
    :func:`integral`, and views of them, keep more digits than their entries show, so that
    standard deviations of floats are accurate to 1e-6 even if they are up to 1e7 times
    smaller than the mean, and those of 32-bit integers are exact.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table, squares = boxsum.integral(image, squares=True)
    >>> boxsum.box_var(table, squares, [0, 0, 4, 3]) == image.var()
    np.True_
    """
    return _ask(table, squares, boxes, VARIANCE, out, workers, counts, axes)


def box_std(table: Table, squares: Table, boxes: Boxes, *, counts: Table | bool | None = None, out: np.ndarray | None = None, workers: int | None = None, axes: Axes = None) -> Any:
    """Return the standard deviation of the pixels of boxes.

    It is the square root of :func:`box_var`, which describes its accuracy.

    Parameters
    ----------
    table, squares, boxes, counts, out, workers, axes
        As for :func:`box_var`.

    Returns
    -------
    deviations : ndarray of float64, shape (...) or (..., C)
        The standard deviations: 0 or NaN for boxes without pixels, as for :func:`box_var`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`box_var`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table, squares = boxsum.integral(image, squares=True)
    >>> boxsum.box_std(table, squares, [[0, 0, 4, 3], [0, 0, 1, 1]]).round(3)
    array([3.452, 0.   ])
    """
    return _ask(table, squares, boxes, DEVIATION, out, workers, counts, axes)


def tilted_sum(table: Table, boxes: Boxes, *, out: np.ndarray | None = None, workers: int | None = None, axes: Axes = None) -> Any:
    """Sum the pixels of boxes at 45°, from a tilted table.

    Parameters
    ----------
    table : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        The last table of ``boxsum.integral(image, tilted=True)`` or ``cv2.integral3``, in
        host memory.
    boxes : array_like of int, shape (..., 4)
        ``x, y, w, h``: the topmost corner is entry ``[y, x]`` of the table. From there one
        side goes w steps down to the right, the other h steps down to the left. A box
        inside the image has ``2 * w * h`` pixels. Boxes are clipped to the image; an empty
        box sums to 0.
    out, workers, axes
        As for :func:`box_sum`.

    Returns
    -------
    sums : ndarray, shape (...) or (..., C)
        The sums, of the table's type.

    Raises
    ------
    ValueError
        If a coordinate is not a whole number, or `table` is not a table of an image.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.ones((6, 8), np.uint8)
    >>> sums, tilted = boxsum.integral(image, tilted=True)
    >>> boxsum.tilted_sum(tilted, [[4, 0, 2, 3], [4, 0, 1, 1], [0, 0, 99, 99]])
    array([12,  2, 15], dtype=uint32)
    """
    return _ask_tilted(table, boxes, SUM, out, workers, axes=axes)


def tilted_mean(table: Table, boxes: Boxes, *, out: np.ndarray | None = None, workers: int | None = None, axes: Axes = None) -> Any:
    """Return the mean of the pixels of boxes at 45°.

    Parameters
    ----------
    table, boxes, out, workers, axes
        As for :func:`tilted_sum`.

    Returns
    -------
    means : ndarray of float64, shape (...) or (..., C)
        The means; boxes without pixels have mean 0.

    Raises
    ------
    ValueError
        As for :func:`tilted_sum`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> sums, tilted = boxsum.integral(np.eye(6, dtype=np.uint8), tilted=True)
    >>> boxsum.tilted_mean(tilted, [[3, 0, 2, 2], [3, 0, 0, 2]])
    array([0.25, 0.  ])
    """
    return _ask_tilted(table, boxes, MEAN, out, workers, axes=axes)


def _ask_tilted(table: Any, boxes: Any, what: int, out: np.ndarray | None, workers: int | None, axes: Any = None) -> Any:
    _shapes.refuse_several(table)
    _known.refuse_valid(table)
    known = _known.NOTHING if what == SUM else _known.of(table)
    table = _foreign.on_host(table)
    about = (known.signed_bound, int(known.signed)) if known.bound else ()
    if axes is not None:
        return _host.answer_batch("tilted_boxes", (table,), as_boxes(boxes, 4), axes, what, out, workers, *about)
    if table.ndim not in (2, 3):
        raise ValueError(f"array of shape {table.shape} is not a tilted table (boxsum.integral(image, tilted=True) returns one after the sums)")
    return _host.answer("tilted_boxes", (table,), as_boxes(boxes, 4), 2, what, out, workers, *about)


def _ask(table: Any, squares: Any, boxes: Any, what: int, out: np.ndarray | None, workers: int | None, counts: Any = None, axes: Any = None) -> Any:
    if squares is None and what in (VARIANCE, DEVIATION):
        raise TypeError("the table of squares is missing (boxsum.integral(image, squares=True) returns both)")
    if (counts is None or counts is False) and not isinstance(table, np.ndarray):
        kind = _foreign.find(table)
        if kind is not None:
            return kind.boxes(table, squares, boxes, what, out) if axes is None else kind.batch_boxes(table, squares, boxes, what, out, axes)
        _shapes.refuse_several(table)
    if counts is not None and counts is not False:
        if axes is not None:
            raise ValueError(f"axes must be None with counts, got {axes!r} (query tables of valid pixels one by one)")
        _shapes.refuse_several(table)
        counts = _foreign.on_host(counts)
        table, squares = (t if t is None or isinstance(t, np.ndarray) else _foreign.on_host(t) for t in (table, squares))
    return _host.ask(table, squares, boxes, what, out, workers, counts, axes=axes)
