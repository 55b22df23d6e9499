"""scikit-image's ``hog``: see :mod:`boxsum.compat.skimage`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .._arguments import plain

_EPSILON = 1e-5  # added to norms
_NORMS = ("L1", "L1-sqrt", "L2", "L2-Hys")


def hog(
    image: Any,
    orientations: int = 9,
    pixels_per_cell: Any = (8, 8),
    cells_per_block: Any = (3, 3),
    block_norm: str = "L2-Hys",
    visualize: bool = False,
    transform_sqrt: bool = False,
    feature_vector: bool = True,
    *,
    channel_axis: int | None = None,
) -> Any:
    """Compute histograms of oriented gradients, like ``skimage.feature.hog``.

    This definition differs from that of :class:`boxsum.detect.HOG` and OpenCV: a pixel belongs
    to one cell and one bin, and blocks overlap in all but one of their cells.

    Parameters
    ----------
    image : array_like
        Input image.
    orientations, pixels_per_cell, cells_per_block, block_norm, visualize, transform_sqrt, feature_vector, channel_axis
        As for ``skimage.feature.hog``. Sizes are heights and widths.

    Returns
    -------
    out : ndarray
        The histograms of all cells of all blocks, of shape (rows of blocks, columns of
        blocks, rows of cells, columns of cells, orientations), or flattened with
        `feature_vector`. They are float32 for float16 and float32 images and float64
        otherwise.
    hog_image : ndarray, optional
        With `visualize`, a picture of the histograms: a line for each bin of each cell,
        across the gradients that it counts.

    Raises
    ------
    ValueError
        If an argument is out of range, or the image is smaller than a block.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> ramp = np.arange(32.0) * np.ones((24, 1))
    >>> skimage.hog(ramp, 4, feature_vector=False)[0, 0, 1, 1]
    array([0.33333333, 0.        , 0.        , 0.        ])
    """
    image = plain(image)
    if image.dtype.kind not in "buif":
        raise ValueError(f"image must have bool, integer or float pixels, got {image.dtype}")
    bins = _least(operator.index(orientations), "orientations")
    cell_height, cell_width = (_least(operator.index(n), "pixels_per_cell") for n in pixels_per_cell)
    block = tuple(_least(operator.index(n), "cells_per_block") for n in cells_per_block)
    if block_norm not in _NORMS:
        raise ValueError(f"block_norm must be one of {', '.join(_NORMS)}, got {block_norm!r}")
    image = np.atleast_2d(image)
    floats = np.dtype(np.float32 if image.dtype.newbyteorder("=") in (np.float16, np.float32) else np.float64)
    image = image.astype(floats, copy=False)
    if channel_axis is not None:
        image = np.moveaxis(image, channel_axis, -1)
    if image.ndim != (2 if channel_axis is None else 3):
        raise ValueError(f"image must have two axes, or three and a channel_axis, got shape {image.shape}")
    height, width = image.shape[:2]
    rows, columns = height // cell_height, width // cell_width  # of cells
    if rows < block[0] or columns < block[1]:
        raise ValueError(
            f"image is too small given pixels_per_cell and cells_per_block: it has {height} rows and {width} columns, "
            f"want at least {block[0] * cell_height} and {block[1] * cell_width}"
        )
    histograms = _histograms(*_gradients(np.sqrt(image) if transform_sqrt else image), bins, rows, columns, cell_height, cell_width)
    windows = np.lib.stride_tricks.sliding_window_view(histograms, block, axis=(0, 1))
    described = _normalized(windows.transpose(0, 1, 3, 4, 2), block_norm).astype(floats)
    if feature_vector:
        described = described.ravel()
    return (described, _picture(histograms, (height, width), cell_height, cell_width, floats)) if visualize else described


def _least(number: int, name: str) -> int:
    if number < 1:
        raise ValueError(f"{name} must be 1 or more, got {number}")
    return number


def _gradients(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients down and across; of several channels, the longest one."""
    down, across = np.zeros_like(image), np.zeros_like(image)
    down[1:-1] = image[2:] - image[:-2]
    across[:, 1:-1] = image[:, 2:] - image[:, :-2]
    if image.ndim == 3:
        longest = np.hypot(down, across).argmax(axis=2)[:, :, None]
        down, across = (np.take_along_axis(g, longest, axis=2)[:, :, 0] for g in (down, across))
    return down.astype(np.float64, copy=False), across.astype(np.float64, copy=False)


def _histograms(down: np.ndarray, across: np.ndarray, bins: int, rows: int, columns: int, cell_height: int, cell_width: int) -> np.ndarray:
    """Return the mean length of gradients in each bin of each cell."""
    inside = slice(0, rows * cell_height), slice(0, columns * cell_width)
    down, across = down[inside], across[inside]
    angles = np.rad2deg(np.arctan2(down, across)) % 180
    # scikit-image compares with float32, the last of which may be less than 180: what is beyond is in no bin.
    starts = np.float32(180 / bins) * np.arange(1, bins + 1, dtype=np.float32)
    which = np.searchsorted(starts.astype(np.float64), angles, side="right")
    cells = np.arange(rows).repeat(cell_height)[:, None] * columns + np.arange(columns).repeat(cell_width)
    counts = np.bincount((cells * (bins + 1) + which).ravel(), np.hypot(down, across).ravel(), rows * columns * (bins + 1))
    counts[np.isin(np.arange(rows * columns), cells[np.isnan(angles)]).repeat(bins + 1)] = np.nan  # NaN is in all bins
    return counts.reshape(rows, columns, bins + 1)[:, :, :-1] / (cell_height * cell_width)


def _normalized(blocks: np.ndarray, norm: str) -> np.ndarray:
    def length(of: np.ndarray) -> np.ndarray:
        return np.sqrt((of**2).sum(axis=(2, 3, 4), keepdims=True) + _EPSILON**2)

    if norm == "L2":
        return blocks / length(blocks)
    if norm == "L2-Hys":
        clipped = np.minimum(blocks / length(blocks), 0.2)
        return clipped / length(clipped)
    parts = blocks / (blocks.sum(axis=(2, 3, 4), keepdims=True) + _EPSILON)
    return parts if norm == "L1" else np.sqrt(parts)


def _picture(histograms: np.ndarray, shape: tuple[int, int], cell_height: int, cell_width: int, floats: np.dtype) -> np.ndarray:
    """Return a picture with a line for each bin of each cell, as bright as the bin."""
    rows, columns, bins = histograms.shape
    picture = np.zeros(shape, floats)
    radius = min(cell_height, cell_width) // 2 - 1
    middle_y = np.arange(rows) * cell_height + cell_height // 2
    middle_x = np.arange(columns) * cell_width + cell_width // 2
    for i in range(bins):
        angle = np.pi * (i + 0.5) / bins
        rise, run = radius * np.cos(angle), radius * np.sin(angle)
        # Ends are truncated, so where they are relative to the middle may depend on the cell.
        for (y0, y1), in_rows in _alike(middle_y, -rise):
            for (x0, x1), in_columns in _alike(middle_x, run):
                for y, x in _line(y0, x0, y1, x1):
                    picture[np.ix_(middle_y[in_rows] + y, middle_x[in_columns] + x)] += histograms[np.ix_(in_rows, in_columns)][:, :, i]
    return picture


def _alike(middles: np.ndarray, reach: float) -> list[tuple[tuple[int, int], np.ndarray]]:
    """Return the distances from middles to the ends of lines, and the middles for which they hold."""
    ends = np.stack([np.trunc(middles + reach), np.trunc(middles - reach)], axis=1).astype(np.int64) - middles[:, None]
    kinds, which = np.unique(ends, axis=0, return_inverse=True)
    return [((int(first), int(last)), np.flatnonzero(which.ravel() == i)) for i, (first, last) in enumerate(kinds)]


def _line(y0: int, x0: int, y1: int, x1: int) -> list[tuple[int, int]]:
    """Return the pixels of a line, by Bresenham's algorithm."""
    down, across = abs(y1 - y0), abs(x1 - x0)
    longer, shorter = max(down, across), min(down, across)
    steps = [(i, (2 * shorter * i + longer) // (2 * longer) if longer else 0) for i in range(longer + 1)]
    turn_y, turn_x = (1 if y1 > y0 else -1), (1 if x1 > x0 else -1)
    if down > across:
        return [(y0 + turn_y * long, x0 + turn_x * short) for long, short in steps]
    return [(y0 + turn_y * short, x0 + turn_x * long) for long, short in steps]
