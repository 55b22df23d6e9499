"""``integral_image`` and ``integrate`` as scikit-image has them.

    from boxsum.compat import skimage as fast
    ii = fast.integral_image(image)

Arguments, types and results are those of ``skimage.transform``, but for the
order in which floats are added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _host
from .._arguments import UPRIGHT, VOLUME, as_boxes
from .._native import LayoutError, call


def integral_image(image: Any, *, dtype: Any = None) -> np.ndarray:
    """The inclusive integral image: ``skimage.transform.integral_image``.

    Entry ``[y, x]`` is the sum of ``image[: y + 1, : x + 1]``; three axes are a
    volume. The array is a new one without gaps. Arrays of other dimensions, subclasses such as masked arrays, and types
    that only ``numpy.cumsum`` has are left to NumPy.

    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> skimage.integral_image(np.ones((2, 3), np.uint8))
    array([[1, 2, 3],
           [2, 4, 6]], dtype=uint64)
    """
    image = np.asanyarray(image)
    wanted = _sum_type(image, dtype)
    kind = {2: UPRIGHT, 3: VOLUME}.get(image.ndim)
    if kind is not None and image.size and type(image) in (np.ndarray, np.memmap):
        try:
            table = _host.tables(image, kind, wanted, False, False, None, None, None)
        except TypeError:
            pass  # a pair of types that this package does not have
        else:
            inclusive = np.empty_like(image, table.dtype, subok=False)  # its axes in the order of the image's, without gaps
            inclusive[...] = table[(slice(1, None),) * image.ndim]
            return inclusive
    for axis in range(image.ndim):
        image = image.cumsum(axis=axis, dtype=dtype if dtype is not None else wanted)
    return image


def _sum_type(image: np.ndarray, dtype: Any) -> np.dtype:
    if dtype is not None:
        return np.dtype(dtype)
    if image.dtype.kind in "fc":
        return np.promote_types(image.dtype, np.float64)
    return np.zeros((), image.dtype).reshape(1).cumsum().dtype


def integrate(ii: Any, start: Any, end: Any) -> np.ndarray:
    """The sums over windows: ``skimage.transform.integrate``.

    Windows go from start to end, the end included; rows come first. Negative
    numbers count from the end.

    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> ii = skimage.integral_image(np.ones((5, 6)))
    >>> skimage.integrate(ii, [(1, 0), (3, 3)], [(1, 2), (4, 5)])
    array([3., 6.])
    """
    ii = np.asarray(ii)
    start, end = _corners(start, ii), _corners(end, ii)
    if len(start) != len(end) and 1 not in (len(start), len(end)):
        raise ValueError(f"{len(start)} windows start and {len(end)} end")
    if len(start) == 1 and len(end) == 0:
        raise IndexError("a window starts and none ends")
    if np.any(end < start):
        raise IndexError("end coordinates must be greater or equal to start")
    if len(start) != len(end):
        end = np.ascontiguousarray(np.broadcast_to(end, start.shape)) if len(end) == 1 else end[:1]
    wraps = end < 0  # and so does the index of an array, once: what is before it is outside
    start, end = np.where(wraps, 0, start), np.where(wraps, end + np.array(ii.shape), end)
    if len(end) and (end.min() < 0 or np.any(end >= ii.shape)):
        raise IndexError(f"a window ends outside of a table of shape {ii.shape}")
    if ii.dtype.newbyteorder("=").str[1:] not in ("i4", "u4", "i8", "u8", "f4", "f8"):
        ii = ii.astype(np.float64)
    sums = np.empty(len(start))
    try:
        call("windows", ii, start, end, sums, 0)
    except LayoutError:
        call("windows", ii.astype(ii.dtype.newbyteorder("=")), start, end, sums, 0)
    return sums


def _corners(points: Any, ii: np.ndarray) -> np.ndarray:
    """Corners as rows of int64, counted from the beginning."""
    points = np.atleast_2d(points)
    if points.size and points.dtype.kind not in "iu":
        raise TypeError(f"corners of {points.dtype}: they are whole numbers")
    points = as_boxes(points, ii.ndim)
    if points.ndim != 2:
        raise ValueError(f"an array of shape {points.shape} is no list of corners")
    if len(points) and points.min() < 0:
        points = np.where(points < 0, points + np.array(ii.shape), points)
    return points
