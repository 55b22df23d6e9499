"""Summed-area tables along the digital lines of a rotation."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from . import _types
from ._arguments import AREA, MEAN, SUM, as_boxes, device_number, results, thread_count, warn_of_planes
from ._foreign import on_host
from ._native import Handle, LayoutError, call


class RotatedTable:
    """The summed-area table of an image along a rotation, made by :func:`rotated`.

    Attributes
    ----------
    rotation : fractions.Fraction
        The tangent of the angle by which rows climb to the right.
    degrees : float
        That angle in degrees.
    shape : tuple of int
        The shape of the image.
    dtype : numpy.dtype
        The type of the sums.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> table = boxsum.rotated(np.ones((4, 4), np.uint8), 1)
    >>> table
    <boxsum.RotatedTable along 1 of an image of shape (4, 4), uint32>
    >>> table.bounds                                    # c0, r0, c1, r1
    array([-3,  0,  4,  7])
    >>> table.sum([[-3, 0, 4, 7], [0, 0, 4, 3]]), table.area([0, 0, 4, 3])
    (array([16,  4], dtype=uint32), np.int64(4))
    """

    def __init__(self, handle: Handle, rotation: Fraction, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._handle = handle
        self.rotation = rotation
        self.degrees = math.degrees(math.atan2(rotation.numerator, rotation.denominator))
        self.shape = shape
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<boxsum.RotatedTable along {self.rotation} of an image of shape {self.shape}, {self.dtype}>"

    @property
    def bounds(self) -> np.ndarray:
        """The smallest box ``c0, r0, c1, r1`` that contains every pixel."""
        box = np.empty(4, np.int64)
        call("rotated_bounds", self._handle.value, box)
        return box

    def sum(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Sum the pixels of boxes of the rotated lattice.

        Parameters
        ----------
        boxes : array_like of int, shape (..., 4)
            Boxes ``c0, r0, c1, r1``. Cells without a pixel, including those outside the image,
            count as 0.
        out : ndarray, optional
            Destination, a C-contiguous array of the type and shape of the result. By default,
            a new array is allocated.
        workers : int, optional
            Maximum number of threads. The default is one per available CPU.

        Returns
        -------
        sums : ndarray, shape (...) or (..., C)
            The sums, of type `dtype`.

        Raises
        ------
        ValueError
            If a box does not have four whole numbers, or `out` has the wrong shape or type.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> table = boxsum.rotated(np.arange(16, dtype=np.uint8).reshape(4, 4), 1)
        >>> table.sum([[-3, 0, 4, 7], [0, 0, 4, 3]])
        array([120,   8], dtype=uint32)
        """
        return self._ask(boxes, SUM, self.dtype, self.shape[2:], out, workers)

    def mean(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Return the mean of the pixels of boxes, which is 0 for boxes without pixels.

        Parameters
        ----------
        boxes, out, workers
            As for :meth:`sum`.

        Returns
        -------
        means : ndarray of float64, shape (...) or (..., C)
            The means.

        Raises
        ------
        ValueError
            As for :meth:`sum`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> table = boxsum.rotated(np.arange(16, dtype=np.uint8).reshape(4, 4), 1)
        >>> table.mean([[-3, 0, 4, 7], [0, 0, 4, 3]])
        array([7.5, 2. ])
        """
        return self._ask(boxes, MEAN, np.float64, self.shape[2:], out, workers)

    def area(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Return the number of pixels in boxes.

        Parameters
        ----------
        boxes, out, workers
            As for :meth:`sum`.

        Returns
        -------
        areas : ndarray of int64, shape (...)
            The numbers of pixels.

        Raises
        ------
        ValueError
            As for :meth:`sum`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> table = boxsum.rotated(np.arange(16, dtype=np.uint8).reshape(4, 4), 1)
        >>> table.area([[-3, 0, 4, 7], [0, 0, 4, 3]])
        array([16,  4])
        """
        return self._ask(boxes, AREA, np.int64, (), out, workers)

    def _ask(self, boxes: Any, what: int, dtype: Any, channels: tuple[int, ...], out: Any, workers: int | None) -> Any:
        boxes = as_boxes(boxes, 4)
        answers = results(boxes.shape[:-1] + channels, dtype, out, boxes)
        flat = boxes.reshape(-1, 4)
        target = answers.reshape(len(flat)) if what == AREA else answers.reshape(len(flat), channels[0] if channels else 1)
        call("rotated_boxes", self._handle.value, flat, target, what, thread_count(workers))
        return answers if answers.ndim else answers[()]

    def cells(self, points: Any) -> np.ndarray:
        """Return the lattice cells of pixels.

        Parameters
        ----------
        points : array_like of int, shape (..., 2)
            Pixels ``x, y``.

        Returns
        -------
        cells : ndarray of int64, shape (..., 2)
            Cells ``c, r``.

        Raises
        ------
        ValueError
            If a pixel does not have two whole numbers.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> boxsum.rotated(np.ones((4, 4), np.uint8), 1).cells([[0, 0], [3, 1]])
        array([[0, 0],
               [2, 4]])
        """
        points = as_boxes(points, 2)
        cells = np.empty(points.shape, np.int64)
        call("rotated_cells", self._handle.value, points.reshape(-1, 2), cells.reshape(-1, 2))
        return cells

    def nearest(self, rectangles: Any) -> np.ndarray:
        """Return the boxes nearest to rotated rectangles.

        Parameters
        ----------
        rectangles : array_like, shape (..., 5)
            Rectangles ``x, y, width, height, degrees``: the center, the sides, and the angle by
            which the width climbs to the right.

        Returns
        -------
        boxes : ndarray of int64, shape (..., 4)
            Boxes ``c0, r0, c1, r1``.

        Raises
        ------
        ValueError
            If a rectangle does not have five numbers.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> table = boxsum.rotated(np.ones((100, 100), np.uint8), "1/2")
        >>> box = table.nearest([50, 50, 30, 20, 26.57])
        >>> int(table.sum(box)), int(table.area(box))
        (608, 608)
        """
        rectangles = np.ascontiguousarray(rectangles, np.float64)
        if rectangles.ndim == 0 or rectangles.shape[-1] != 5:
            raise ValueError(f"rectangles must have 5 numbers along the last axis, got shape {rectangles.shape}")
        boxes = np.empty(rectangles.shape[:-1] + (4,), np.int64)
        call("rotated_nearest", self._handle.value, rectangles.reshape(-1, 5), boxes.reshape(-1, 4))
        return boxes


def rotated(image: Any, rotation: Any, *, dtype: Any = None, workers: int | None = None, device: str | None = None) -> RotatedTable:
    """Compute the summed-area table of an image along the digital lines of a rotation.

    A rotation is the tangent of an angle, given as a ratio of integers. Its rows climb to
    the right and its columns go down across them:

        r = y + floor(a * x / b)        c = x - floor(a * y / b)

    for ratios a/b from 0 to 1. For other ratios the image is mirrored, or x and y are
    exchanged. A box ``c0, r0, c1, r1`` contains the pixels with c0 <= c < c1 and
    r0 <= r < r1; its sum and its number of pixels are exact.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, C)
        Input image, of the types that :func:`integral` accepts. 64-bit integers must fit
        32 bits, or have float64 sums.
    rotation : str, int, fractions.Fraction or pair of int
        The rotation, such as ``"1/2"``, 1, ``Fraction(2, 3)`` or ``(-1, 4)``.
    dtype, workers, device
        As for :func:`integral`.

    Returns
    -------
    table : RotatedTable
        The table.

    Raises
    ------
    TypeError
        If the pixel type is not supported or has no sums of type `dtype`.
    ValueError
        If `image` does not have the shape (H, W) or (H, W, C), or `rotation` is not a ratio
        whose terms are at most 2**30.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(12 * 6, dtype=np.uint8).reshape(6, 12)
    >>> table = boxsum.rotated(image, "1/2")
    >>> table.sum([[1, 3, 6, 7], table.bounds])
    array([ 592, 2556], dtype=uint32)
    >>> table.area([1, 3, 6, 7])
    np.int64(16)
    """
    ratio = as_rotation(rotation)
    image = on_host(image)
    warn_of_planes(image, axes=False)
    if image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    number, threads = device_number(device), thread_count(workers)
    if _types.splits(image, dtype):
        dtype = image.dtype.newbyteorder("=") if dtype is None else dtype
        image = _types.narrow(image, dtype)
    sums = _types.sums.get((image.dtype, dtype))
    if sums is None:
        image, sums = _types.convert(image, dtype)
    if dtype is None:
        sums = _types.roomy(sums, image.shape[:2])

    def make(image: np.ndarray) -> Handle:
        return Handle("rotated", image, ord(sums.kind), sums.itemsize, ratio.numerator, ratio.denominator, threads, number)

    try:
        handle = make(image)
    except LayoutError:
        handle = make(np.array(image, order="C", subok=False))
    return RotatedTable(handle, ratio, image.shape, sums)


def as_rotation(rotation: Any) -> Fraction:
    """Return a rotation as a Fraction."""
    if isinstance(rotation, (str, int, Fraction, np.integer)) or isinstance(rotation, (tuple, list)) and len(rotation) == 2:
        terms: Any = rotation if isinstance(rotation, (tuple, list)) else (rotation,)
        try:
            terms = [int(term) if isinstance(term, np.integer) else term for term in terms]
            ratio = Fraction(*terms)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"rotation must be a ratio such as '1/2', got {rotation!r}") from None
        if max(abs(ratio.numerator), ratio.denominator) <= 1 << 30:
            return ratio
        raise ValueError(f"rotation must have terms of at most 2**30, got {ratio}")
    raise TypeError(f"rotation must be a ratio such as '1/2' or (1, 2), not {rotation!r}")
