"""Moments of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _types
from ._arguments import as_boxes, thread_count, warn_of_planes
from ._foreign import on_host
from ._native import Handle, LayoutError, call

_NAMES = (
    "m00 m10 m01 m20 m11 m02 m30 m21 m12 m03 "
    "mu20 mu11 mu02 mu30 mu21 mu12 mu03 nu20 nu11 nu02 nu30 nu21 nu12 nu03"
).split()

_MOMENTS, _CENTROID, _ELLIPSE, _HU = range(4)


class MomentsTable:
    """The moments of any box of an image, made by :func:`moments`.

    Attributes
    ----------
    shape : tuple of int
        The shape of the image.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.zeros((20, 30), np.uint8)
    >>> image[5:9, 10:22] = 1
    >>> table = boxsum.moments(image)
    >>> everything = [0, 0, 30, 20]
    >>> table.centroid(everything)
    array([15.5,  6.5])
    >>> table.ellipse(everything).round(2)
    array([6.9 , 2.24, 0.  ])
    >>> float(table.moments(everything)["m00"]), table.hu([[0, 0, 30, 20], [10, 5, 22, 9]]).shape
    (48.0, (2, 7))
    """

    def __init__(self, handle: Handle, shape: tuple[int, ...]) -> None:
        self._handle = handle
        self.shape = shape

    def __repr__(self) -> str:
        return f"<boxsum.MomentsTable of an image of shape {self.shape}>"

    def moments(self, boxes: Any, *, workers: int | None = None) -> dict[str, Any]:
        """Return the moments of boxes.

        Parameters
        ----------
        boxes : array_like of int, shape (..., 4)
            Boxes ``x0, y0, x1, y1``, clipped to the image. The moments of an empty box are 0.
        workers : int, optional
            Maximum number of threads. The default is one per available CPU.

        Returns
        -------
        moments : dict of str to ndarray
            The moments by the names of ``cv2.moments``. Each is an array of shape (...) or
            (..., C), or a number for a single box.

        Raises
        ------
        ValueError
            If a box does not have four whole numbers.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.zeros((20, 30), np.uint8)
        >>> image[5:9, 10:22] = 1
        >>> table = boxsum.moments(image)
        >>> found = table.moments([0, 0, 30, 20])
        >>> float(found["m00"]), float(found["mu20"])
        (48.0, 572.0)
        """
        values = self._ask(boxes, _MOMENTS, len(_NAMES), workers)
        return {name: values[..., i] for i, name in enumerate(_NAMES)}

    def centroid(self, boxes: Any, *, workers: int | None = None) -> np.ndarray:
        """Return the centroids of boxes.

        Parameters
        ----------
        boxes, workers
            As for :meth:`moments`.

        Returns
        -------
        centroids : ndarray of float64, shape (..., 2) or (..., C, 2)
            The centroids ``x, y``, relative to the upper left pixel of the box. They are 0 if m00
            is 0, as in an empty box.

        Raises
        ------
        ValueError
            As for :meth:`moments`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.zeros((20, 30), np.uint8)
        >>> image[5:9, 10:22] = 1
        >>> table = boxsum.moments(image)
        >>> table.centroid([[0, 0, 30, 20], [10, 5, 22, 9]])
        array([[15.5,  6.5],
               [ 5.5,  1.5]])
        """
        return self._ask(boxes, _CENTROID, 2, workers)

    def ellipse(self, boxes: Any, *, workers: int | None = None) -> np.ndarray:
        """Return the ellipses with the same second moments as boxes.

        Parameters
        ----------
        boxes, workers
            As for :meth:`moments`.

        Returns
        -------
        ellipses : ndarray of float64, shape (..., 3) or (..., C, 3)
            The longer semi-axis, the shorter one, and the angle to the x axis in radians,
            positive if the ellipse falls to the right. They are 0 if m00 is 0, as in an empty
            box.

        Raises
        ------
        ValueError
            As for :meth:`moments`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.zeros((20, 30), np.uint8)
        >>> image[5:9, 10:22] = 1
        >>> table = boxsum.moments(image)
        >>> table.ellipse([0, 0, 30, 20]).round(2)
        array([6.9 , 2.24, 0.  ])
        """
        return self._ask(boxes, _ELLIPSE, 3, workers)

    def hu(self, boxes: Any, *, workers: int | None = None) -> np.ndarray:
        """Return Hu's seven invariants of boxes, as in ``cv2.HuMoments``.

        Parameters
        ----------
        boxes, workers
            As for :meth:`moments`.

        Returns
        -------
        invariants : ndarray of float64, shape (..., 7) or (..., C, 7)
            The invariants.

        Raises
        ------
        ValueError
            As for :meth:`moments`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.zeros((20, 30), np.uint8)
        >>> image[5:9, 10:22] = 1
        >>> table = boxsum.moments(image)
        >>> table.hu([0, 0, 30, 20])[:2].round(4)
        array([0.2743, 0.0494])
        """
        return self._ask(boxes, _HU, 7, workers)

    def _ask(self, boxes: Any, what: int, columns: int, workers: int | None) -> np.ndarray:
        boxes = as_boxes(boxes, 4)
        channels = self.shape[2:]
        values = np.empty(boxes.shape[:-1] + channels + (columns,))
        flat = boxes.reshape(-1, 4)
        target = values.reshape(len(flat), channels[0] if channels else 1, columns)
        call("moments_boxes", self._handle.value, flat, target, what, thread_count(workers))
        return values


def moments(image: Any, *, workers: int | None = None) -> MomentsTable:
    """Compute a table that gives the moments of any box of an image in constant time.

    The table gives raw, central and normalized moments up to third order, and Hu's
    invariants.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, C)
        Input image, of the types that :func:`integral` accepts, with finite pixels.
        Integers beyond 2**53 are refused.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    table : MomentsTable
        The table.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `image` does not have the shape (H, W) or (H, W, C), or has a pixel that is not
        finite.

    Notes
    -----
    Raw moments of integer pixels are exact except for one final rounding. If no pixel is
    negative, mu20 and mu02 are accurate to a few units in the last place. The error of any
    other central moment of order n is a few units in the last place of m00 times the n-th
    power of the spread, which can exceed a moment that is close to 0.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.zeros((60, 80), np.uint8)
    >>> image[20:30, 40:60] = 200
    >>> table = boxsum.moments(image)
    >>> table.centroid([[0, 0, 80, 60], [40, 20, 60, 30]])
    array([[49.5, 24.5],
           [ 9.5,  4.5]])
    >>> float(table.moments([0, 0, 80, 60])["m00"])
    40000.0
    """
    image = on_host(image)
    warn_of_planes(image, axes=False)
    if image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    image = _types.narrow(image)
    if (image.dtype, None) not in _types.sums:
        image, _ = _types.convert(image, None)
    threads = thread_count(workers)
    try:
        handle = Handle("moments", image, threads)
    except LayoutError:
        handle = Handle("moments", np.array(image, order="C", subok=False), threads)
    return MomentsTable(handle, image.shape)
