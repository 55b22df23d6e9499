"""Haar-like features of windows."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _known
from ._arguments import as_boxes, results, thread_count
from ._foreign import on_host
from ._shapes import refuse_several
from ._native import LayoutError, call
from ._rotated import RotatedTable, as_rotation
from ._types import whole
from ._typing import Pair

#: The kinds of features, in the order of their numbers, which start at 1.
KINDS = ("EdgeX", "EdgeY", "LineX", "LineY", "LineX4", "LineY4", "Diagonal", "CenterSurround")

_SETS = {
    "viola-jones": ("EdgeX", "EdgeY", "LineX", "LineY", "Diagonal"),
    "lienhart-maydt": ("EdgeX", "EdgeY", "LineX", "LineX4", "LineY", "LineY4", "CenterSurround"),
}

# scikit-image's names for them.
_TYPES = {"type-2-x": "EdgeX", "type-2-y": "EdgeY", "type-3-x": "LineX", "type-3-y": "LineY", "type-4": "Diagonal"}

_BY_NAME = {name.lower(): i + 1 for i, name in enumerate(KINDS)}
_BY_NAME.update({name: _BY_NAME[kind.lower()] for name, kind in _TYPES.items()})


def haar(
    table: Any,
    windows: Any = None,
    *,
    size: Pair | None = None,
    kinds: str | Sequence[str] = "viola-jones",
    features: Any = None,
    upright: bool = False,
    corrected: bool = False,
    channel: int = 0,
    out: np.ndarray | None = None,
    workers: int | None = None,
) -> np.ndarray:
    """Evaluate Haar-like features in windows of an image.

    A feature is the difference of neighboring boxes. In every window, all features that fit
    in it are evaluated, or only those listed in `features`.

    Parameters
    ----------
    table : ndarray or RotatedTable
        A table from :func:`integral`, of shape (H + 1, W + 1) or (H + 1, W + 1, C), or from
        :func:`rotated`, whose features lie along the axes of the rotation.
    windows : array_like of int, shape (N, 2), optional
        The upper left pixels ``x, y`` of the windows. The default is one window at
        ``0, 0``. Every window must lie inside the image.
    size : tuple of int, optional
        Width and height of the windows. The default is the size of the image.
    kinds : str or sequence of str, default "viola-jones"
        ``"viola-jones"``, ``"lienhart-maydt"``, or names from :data:`KINDS`.
        scikit-image's names, such as ``"type-2-x"``, are accepted too.
    features : array_like of int, shape (F, 5), optional
        The features to evaluate, as returned by :func:`haar_features`. The default is all
        features of `kinds`.
    upright : bool, default False
        With a rotated table, windows are upright, in pixels, and the rotated features that
        stay inside them are evaluated. Otherwise windows rotate with their features.
    corrected : bool, default False
        Correct values for boxes that cover different numbers of pixels, after Messom and
        Barczak. The values are then float64.
    channel : int, default 0
        The channel of the image to evaluate.
    out, workers
        As for :func:`box_sum`.

    Returns
    -------
    values : ndarray, shape (N, F)
        The values, int64 for tables of integers and float64 otherwise, in the order of
        :func:`haar_features`.

    Raises
    ------
    ValueError
        If `kinds` or `features` are unknown, or the sums of a 32-bit table may have
        wrapped.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.zeros((24, 24), np.uint8)
    >>> image[:, 12:] = 100
    >>> table = boxsum.integral(image)
    >>> boxsum.haar(table).shape  # all of a window
    (1, 162336)
    >>> boxsum.haar(table, [[0, 0], [4, 0]], size=(20, 24), features=[[1, 8, 0, 16, 8]])
    array([[3200],
           [   0]])
    """
    windows = np.zeros((1, 2), np.int64) if windows is None else as_boxes(windows, 2).reshape(-1, 2)
    rotated, known = isinstance(table, RotatedTable), _known.NOTHING
    if not rotated:
        refuse_several(table)
        _known.refuse_valid(table)
        known = _known.of(table)
        table = on_host(table)
        if table.ndim not in (2, 3):
            raise ValueError(f"table must have shape (H+1, W+1) or (H+1, W+1, C), got {table.shape}")
    height, width = table.shape[:2] if rotated else (table.shape[0] - 1, table.shape[1] - 1)
    width, height = (width, height) if size is None else _size(size)
    numbers = None
    if features is None:
        numbers = _numbers(kinds)
        rotation = as_rotation(table.rotation if rotated and upright else 0)
        count = _count(numbers, width, height, rotation)
    else:
        features = as_boxes(features, 5).reshape(-1, 5)
        count = len(features)
        if np.any((features[:, 0] < 1) | (features[:, 0] > len(KINDS))):
            raise ValueError(f"features must be rows of kind, x0, y0, x1, y1 with kinds from 1 to {len(KINDS)}, got kind {features[np.argmax((features[:, 0] < 1) | (features[:, 0] > len(KINDS))), 0]}")
        if np.any(features[:, 1:3] > features[:, 3:5]):
            raise ValueError(f"features must be rows of kind, x0, y0, x1, y1 with x0 <= x1 and y0 <= y1, got {features[np.any(features[:, 1:3] > features[:, 3:5], axis=1)][0].tolist()}")
        if count == 0:
            numbers, features = np.zeros(0, np.int64), None
    floats = corrected or table.dtype.kind == "f"
    values = results((len(windows), count), np.float64 if floats else np.int64, out, windows, features, None if rotated else table)
    if not rotated and table.dtype.kind in "iu" and table.dtype.itemsize == 4:
        table = _roomy(table, width * height, known)
    arguments = (numbers, features, width, height, int(upright), windows, values, whole(channel, "channel", 0), int(corrected), thread_count(workers))
    if count == 0 or len(windows) == 0:
        return values
    try:
        call("haar", table._handle.value if rotated else table, *arguments)
    except LayoutError:
        call("haar", np.array(table, table.dtype.newbyteorder("="), order="C"), *arguments)
    return values


def _roomy(table: np.ndarray, area: int, known: _known.Known) -> np.ndarray:
    """Return a 32-bit table with 64-bit sums if windows of this area may exceed 32 bits.

    The sums of the rows, which fit, are added up again.
    """
    bound, signed = known.bound or 255, known.signed
    limit = (1 << 31 if signed or table.dtype.kind == "i" else 1 << 32) - 1
    if bound * area <= limit:
        return table
    if bound * table.shape[1] >= 1 << (31 if signed else 32):
        raise ValueError(f"sums in a table of {table.dtype} may have wrapped (make it with dtype=numpy.int64)")
    wide = np.zeros(table.shape, np.int64)
    rows = np.diff(table.astype(np.uint32), axis=0)
    np.cumsum(rows.view(np.int32) if signed else rows, axis=0, dtype=np.int64, out=wide[1:])
    return wide


def haar_features(size: Pair, kinds: str | Sequence[str] = "viola-jones", *, rotation: Any = 0) -> np.ndarray:
    """List the Haar-like features of a window, in the order of scikit-image.

    Parameters
    ----------
    size : tuple of int
        Width and height of the window.
    kinds : str or sequence of str, default "viola-jones"
        As for :func:`haar`.
    rotation : str, int, fractions.Fraction or pair of int, default 0
        List the features along the axes of this rotation that stay inside an upright
        window. See :func:`rotated`.

    Returns
    -------
    features : ndarray of int64, shape (F, 5)
        Rows of ``kind, x0, y0, x1, y1``: the position of the kind in :data:`KINDS`,
        counted from 1, and the box that the whole feature covers.

    Raises
    ------
    TypeError
        If `rotation` is not a ratio.
    ValueError
        If `size` is not a pair of numbers, or `kinds` are unknown.

    Examples
    --------
    >>> import boxsum
    >>> boxsum.haar_features((2, 2), ["EdgeX"])
    array([[1, 0, 0, 2, 1],
           [1, 0, 0, 2, 2],
           [1, 0, 1, 2, 2]])
    >>> len(boxsum.haar_features((24, 24)))
    162336
    """
    numbers, ratio = _numbers(kinds), as_rotation(rotation)
    width, height = _size(size)
    features = np.empty((_count(numbers, width, height, ratio), 5), np.int64)
    if len(features):
        call("haar_features", numbers, width, height, ratio.numerator, ratio.denominator, features)
    return features


def _size(size: Any) -> tuple[int, int]:
    """Return the width and height of windows."""
    if np.shape(size) != (2,):
        raise ValueError(f"size must be a width and a height, got {size!r}")
    return whole(size[0], "width", 0), whole(size[1], "height", 0)


def _numbers(kinds: str | Sequence[str]) -> np.ndarray:
    names = _SETS.get(kinds.lower(), (kinds,)) if isinstance(kinds, str) else kinds
    try:
        return np.array([_BY_NAME[name.lower()] for name in names], np.int64)
    except (KeyError, AttributeError):
        raise ValueError(f"kinds must be 'viola-jones', 'lienhart-maydt' or some of {', '.join(KINDS)}, got {kinds!r}") from None


def _count(numbers: np.ndarray, width: int, height: int, ratio: Any) -> int:
    return call("haar_features", numbers, width, height, ratio.numerator, ratio.denominator, None)
