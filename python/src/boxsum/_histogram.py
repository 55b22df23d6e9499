"""Integral histograms, and the histograms of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _batch, _types
from ._arguments import as_boxes, plain, results, thread_count, warn_of_planes
from ._foreign import on_host
from ._memory import new_table
from ._native import LayoutError, call
from ._typing import Axes

_COUNTS, _QUANTILE, _MODE, _ENTROPY = range(4)


class HistogramTable:
    """The integral histogram of an image, made by :func:`histogram`.

    Attributes
    ----------
    table : ndarray, shape (H + 1, W + 1, bins) or (H + 1, W + 1, C, bins)
        Entry ``[y, x]`` is the histogram of ``image[:y, :x]``.
    edges : ndarray, shape (bins + 1,)
        The edges of the bins.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[0, 0, 0, 1], [2, 2, 3, 3]], np.uint8)
    >>> table = boxsum.histogram(image, bins=4, range=(0, 4))
    >>> boxes = [[0, 0, 4, 2], [0, 1, 4, 2], [2, 0, 2, 2]]       # all, the second row, nothing
    >>> table.counts(boxes)
    array([[3, 1, 2, 2],
           [0, 0, 2, 2],
           [0, 0, 0, 0]], dtype=uint32)
    >>> table.median(boxes), table.mode(boxes), table.quantile(boxes, 1)
    (array([ 1,  2, -1]), array([ 0,  2, -1]), array([ 3,  3, -1]))
    >>> table.entropy(boxes).round(3)
    array([1.906, 1.   , 0.   ])
    """

    def __init__(self, table: np.ndarray, edges: np.ndarray, lead: int = 0) -> None:
        self.table = table
        self.edges = edges
        self._lead = lead  # number of batch axes

    def __repr__(self) -> str:
        n, shape = self._lead, self.table.shape[:-1]
        shape = shape[:n] + tuple(length - 1 for length in shape[n : n + 2]) + shape[n + 2 :]
        return f"<boxsum.HistogramTable of {len(self.edges) - 1} bins for an image of shape {shape}, {self.table.dtype}>"

    def counts(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> np.ndarray:
        """Return the histograms of boxes.

        Parameters
        ----------
        boxes : array_like of int, shape (..., 4)
            Boxes ``x0, y0, x1, y1``, clipped to the image.
        out : ndarray, optional
            Destination, a C-contiguous array of the type and shape of the result. By default,
            a new array is allocated.
        workers : int, optional
            Maximum number of threads. The default is one per available CPU.

        Returns
        -------
        counts : ndarray, shape (..., bins) or (..., C, bins)
            The histograms, of the table's type.

        Raises
        ------
        ValueError
            If a box does not have four whole numbers, or `out` has the wrong shape or type.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.array([[0, 0, 0, 1], [2, 2, 3, 3]], np.uint8)
        >>> table = boxsum.histogram(image, bins=4, range=(0, 4))
        >>> table.counts([0, 0, 4, 2])
        array([3, 1, 2, 2], dtype=uint32)
        """
        return self._ask(boxes, _COUNTS, self.table.dtype, self.table.shape[self._lead + 2 :], out, workers)

    def quantile(self, boxes: Any, q: float, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Return the bin of a quantile of boxes.

        Parameters
        ----------
        boxes
            As for :meth:`counts`.
        q : float
            The quantile, from 0 to 1.
        out, workers
            As for :meth:`counts`.

        Returns
        -------
        bins : ndarray of int64, shape (...) or (..., C)
            The first bin at which the cumulative count reaches the fraction `q` of all
            counts, or -1 for empty boxes.

        Raises
        ------
        ValueError
            If `q` is not between 0 and 1, and for the reasons of :meth:`counts`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.array([[0, 0, 0, 1], [2, 2, 3, 3]], np.uint8)
        >>> table = boxsum.histogram(image, bins=4, range=(0, 4))
        >>> table.quantile([[0, 0, 4, 2], [0, 1, 4, 2]], 0.9)
        array([3, 3])
        """
        if not 0 <= q <= 1:
            raise ValueError(f"quantiles must be between 0 and 1, got {q}")
        return self._ask(boxes, _QUANTILE, np.int64, self.table.shape[self._lead + 2 : -1], out, workers, q)

    def median(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Return the bin of the median of boxes.

        Parameters
        ----------
        boxes, out, workers
            As for :meth:`counts`.

        Returns
        -------
        bins : ndarray of int64, shape (...) or (..., C)
            The bin of the median, or of the lower of the two middle values; -1 for empty
            boxes.

        Raises
        ------
        ValueError
            As for :meth:`counts`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.array([[0, 0, 0, 1], [2, 2, 3, 3]], np.uint8)
        >>> table = boxsum.histogram(image, bins=4, range=(0, 4))
        >>> table.median([[0, 0, 4, 2], [0, 1, 4, 2]])
        array([1, 2])
        """
        return self.quantile(boxes, 0.5, out=out, workers=workers)

    def mode(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Return the bin with the highest count in boxes.

        Parameters
        ----------
        boxes, out, workers
            As for :meth:`counts`.

        Returns
        -------
        bins : ndarray of int64, shape (...) or (..., C)
            The bin with the highest count, or the first of several such bins; -1 for empty
            boxes.

        Raises
        ------
        ValueError
            As for :meth:`counts`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.array([[0, 0, 0, 1], [2, 2, 3, 3]], np.uint8)
        >>> table = boxsum.histogram(image, bins=4, range=(0, 4))
        >>> table.mode([[0, 0, 4, 2], [0, 1, 4, 2]])
        array([0, 2])
        """
        return self._ask(boxes, _MODE, np.int64, self.table.shape[self._lead + 2 : -1], out, workers)

    def entropy(self, boxes: Any, *, out: np.ndarray | None = None, workers: int | None = None) -> Any:
        """Return the Shannon entropy of boxes in bits.

        Parameters
        ----------
        boxes, out, workers
            As for :meth:`counts`.

        Returns
        -------
        entropies : ndarray of float64, shape (...) or (..., C)
            The entropies; 0 for empty boxes.

        Raises
        ------
        ValueError
            As for :meth:`counts`.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> image = np.array([[0, 0, 0, 1], [2, 2, 3, 3]], np.uint8)
        >>> table = boxsum.histogram(image, bins=4, range=(0, 4))
        >>> table.entropy([[0, 0, 4, 1], [0, 1, 4, 2]]).round(3)
        array([0.811, 1.   ])
        """
        return self._ask(boxes, _ENTROPY, np.float64, self.table.shape[self._lead + 2 : -1], out, workers)

    def _ask(self, boxes: Any, what: int, dtype: Any, shape: tuple[int, ...], out: Any, workers: int | None, q: float = 0) -> Any:
        boxes = as_boxes(boxes, 4)
        if self._lead:
            n, leading = self._lead, self.table.shape[: self._lead]
            spread, each = _batch.spread_boxes(boxes, leading)
            answers = results(leading + each + shape, dtype, out, boxes, self.table)
            table = self.table[..., None, :]
            target = answers.reshape(leading + (spread.shape[-2], *(table.shape[n + 2 :] if what == _COUNTS else (1,))))
            _batch.run(n, 5, "histogram_boxes", table, spread, target, what, float(q), thread_count(workers))
            return answers if answers.ndim else answers[()]
        answers = results(boxes.shape[:-1] + shape, dtype, out, boxes, self.table)
        flat = boxes.reshape(-1, 4)
        table = self.table
        if table.ndim == 3:
            table = table[:, :, None, :]
        target = answers.reshape((len(flat),) + (table.shape[2:] if what == _COUNTS else table.shape[2:3]))
        call("histogram_boxes", table, flat, target, what, float(q), thread_count(workers))
        return answers if answers.ndim else answers[()]


def histogram(
    image: Any,
    bins: int = 32,
    range: tuple[float, float] | None = None,
    *,
    weights: Any = None,
    clamp: bool = False,
    out: np.ndarray | None = None,
    workers: int | None = None,
    axes: Axes = None,
) -> HistogramTable:
    """Compute the integral histogram of an image.

    From an integral histogram, the histogram of any box of the image can be read.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, C)
        Input image, of the types that :func:`integral` accepts. Each channel has a
        histogram of its own.
    bins : int, default 32
        Number of bins of equal width, 2 to 256.
    range : tuple of float, optional
        Lower and upper end of the bins; the upper end is included, as in
        ``numpy.histogram``. The default for bool and for 8- and 16-bit integers is the full
        range of the type. Other types require a range.
    weights : array_like, shape (H, W), optional
        Weight of each pixel: a mask of bool or uint8, or numbers, which are summed as
        float64.
    clamp : bool, default False
        Count values outside the range in the first or last bin. By default they are not
        counted.
    out : ndarray, optional
        Destination for the table, C-contiguous: uint32, or float64 with numeric weights.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.
    axes : tuple of int, optional
        The axes of rows and columns, for a batch of images: ``(-2, -1)`` computes the
        integral histogram of every plane of an ``(N, C, H, W)`` array. The table has shape
        (N, C, H + 1, W + 1, bins) and accepts boxes as :func:`box_sum` does.

    Returns
    -------
    table : HistogramTable
        The integral histogram.

    Raises
    ------
    TypeError
        If the type of `image` or `weights` is not supported.
    ValueError
        If `range` is missing or invalid, or a shape does not match.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(16, dtype=np.uint8).reshape(4, 4)
    >>> table = boxsum.histogram(image, bins=4, range=(0, 16))
    >>> table.counts([[0, 0, 4, 4], [0, 0, 4, 1]])
    array([[4, 4, 4, 4],
           [4, 0, 0, 0]], dtype=uint32)
    >>> table.median([0, 0, 4, 3])
    np.int64(1)
    """
    image = on_host(image)
    lead = 0
    if axes is None:
        warn_of_planes(image)
    else:
        order = _batch.order_of(image.shape, (0,) * image.ndim, 1, axes, (2,))
        image, lead = order.see(image), order.lead
    if axes is None and image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    pixel = image.dtype
    image = _types.narrow(image)
    if (image.dtype, None) not in _types.sums:
        image, _ = _types.convert(image, None)
    bins = _types.whole(bins, "bins", 2, 256)
    if range is not None and np.shape(range) != (2,):
        raise ValueError(f"range must be (low, high), got {range!r}")
    low, high = (0.0, 0.0) if range is None else (float(range[0]), float(range[1]))
    if range is not None and low == high == 0:
        raise ValueError("range must have low < high, got (0, 0)")
    if range is None:
        if pixel.kind not in "biu" or pixel.itemsize > 2:
            raise ValueError(f"range must be given for pixels of {pixel}, got None (pass range=(low, high))")
        limits = (0, 1) if pixel.kind == "b" else (np.iinfo(pixel).min, np.iinfo(pixel).max)
        low, high = float(limits[0]), float(limits[1]) + 1
    dtype: np.dtype = np.dtype(np.uint32)
    if weights is not None:
        weights = plain(weights)
        if weights.shape != image.shape[lead : lead + 2]:
            raise ValueError(f"weights must have the shape of the image, {image.shape}, got {weights.shape}")
        if weights.dtype == np.bool_:
            weights = _types.as_bytes(weights)
        if weights.dtype.kind not in "iuf":
            raise TypeError(f"weights must be bool or real numbers, got {weights.dtype}")
        if weights.dtype != np.uint8:
            weights, dtype = weights.astype(np.float64), np.dtype(np.float64)
    shape = image.shape[:lead] + tuple(n + 1 for n in image.shape[lead : lead + 2]) + image.shape[lead + 2 :] + (bins,)
    if out is None:
        size = int(np.prod(shape, dtype=object))
        table = new_table((1, size), dtype).reshape(shape)
    else:
        table = results(shape, dtype, out, image, weights)
    entries, channels = shape[: lead + 2], image.shape[lead + 2] if image.ndim == lead + 3 else 1
    target = table.reshape(entries + (-1, shape[-1])) if table.size else np.empty(entries + (channels, shape[-1]), dtype)
    arguments = (target, bins, low, high, int(clamp), thread_count(workers))
    try:
        _batch.run(lead, 7, "histogram", image, weights, *arguments, shared=(1,))
    except LayoutError:
        image = np.array(image, order="C", subok=False)
        weights = None if weights is None else np.array(weights, order="C", subok=False)
        _batch.run(lead, 7, "histogram", image, weights, *arguments, shared=(1,))
    edges: np.ndarray = np.linspace(low, high, bins + 1)
    if image.dtype == np.float32:  # pixels are compared with float32 edges if these are distinct
        single = edges.astype(np.float32)
        edges = single if np.all(np.diff(single) > 0) else edges
    return HistogramTable(table, edges, lead)
