"""Black and white images, and the thresholds that make them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import border_of, call_with_copies, float_type, on_cuda, pixels_of, real, result_for, run_there, sides
from ._foreign import as_given
from ._types import whole
from ._typing import Image, Sides


def binarize(
    a: Image,
    method: str = "sauvola",
    *,
    window: Sides | None = None,
    k: float | None = None,
    r: float | None = None,
    white: float | None = None,
    p: float | None = None,
    q: float | None = None,
    t: float | None = None,
    c: float | None = None,
    min_n: int | None = None,
    border: str | None = None,
    value: float = 0,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Make a gray image black and white: 0 where a pixel is no more than its threshold, 255 elsewhere.

    Every pixel has a threshold of its own, from the window round it, so that uneven light
    does no harm. The time does not depend on how large the window is. For uint8 the decisions are those of Doxa 0.9.9,
    pixel for pixel, and for ``"meanc"`` those of ``cv2.adaptiveThreshold``.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, 1)
        Pixels of uint8, uint16, float32 or float64, floats from 0 to 1. For ``"isauvola"``, ``"su"`` and
        ``"otsu"`` they are uint8. Arrays of CuPy and PyTorch on a CUDA device, of uint8 or
        uint16, stay there, see :func:`blur`; the method is ``"sauvola"``. A pixel with a NaN in its window is
        white, and its threshold NaN.
    method : str
        With m and s for the mean and the standard deviation of the window:

        ==============  ===========================================================
        ``"sauvola"``     m (1 + k (s/r - 1)): for most scans
        ``"niblack"``     m + k s
        ``"wolf"``        m - k (1 - s/greatest s) (m - darkest pixel): low contrast
        ``"nick"``        m + k sqrt(mean of squares), k negative: faint ink
        ``"trsingh"``     m (1 + k (d/(white - d) - 1)), d = abs(a - m)
        ``"phansalkar"``  m (1 + p exp(-q m/white) + k (s/r - 1)): dark images
        ``"bradley"``     m less t percent: fast, for high contrast
        ``"meanc"``       m - c, as ``cv2.adaptiveThreshold``
        ``"isauvola"``    sauvola without specks
        ``"su"``          from pixels of high contrast: stains, ink that shines through
        ``"otsu"``        one threshold for the whole image
        ==============  ===========================================================
    window : int or (int, int), optional
        How many pixels a window has on a side, or across and down. Of an even number one
        more lies on the right and below, as in Doxa. The default is 75, an eighth of the
        width of the image for ``"bradley"``, and what fits the strokes for ``"su"``.
    k, r, white, p, q, t, c, min_n : numbers, optional
        Those of the method, and no others; the defaults are Doxa's: k 0.2, -0.2 for nick, r 128/255 of
        white, white 255, 65535, or 1 of floats, p 3, q 10, t 15, c 10,
        min_n the width of the window (without a window it is always that, as in Doxa).
    border : str, optional
        As in :func:`blur`. The default is ``"clip"``, and ``"replicate"`` for ``"meanc"``.
    value : float
        Of the border ``"constant"``.
    out : array of uint8, optional
        Where to write the result; it may be the image itself.
    workers : int, optional
        How many threads may work at once.

    Returns
    -------
    page : array of uint8
        Of the shape of the image.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> page = np.full((50, 60), 200, np.uint8)
    >>> page[20:30, 10:12] = 40
    >>> ink = boxsum.binarize(page, "sauvola", window=25, k=0.2) == 0
    >>> int(ink.sum()), bool(ink[20:30, 10:12].all())
    (20, True)
    """
    kind = on_cuda(a)
    if kind is not None:
        return run_there(kind, "threshold_device", a, out, np.uint8, None, *_rule(method, window, (k, r, white, p, q, t, c, min_n), border, value))
    image = _gray(a)
    result = result_for(image, np.dtype(np.uint8), out)
    _run(image, result, method, window, (k, r, white, p, q, t, c, min_n), border, value, workers)
    return as_given(result, out, a)


def threshold_map(
    a: Image,
    method: str = "sauvola",
    *,
    window: Sides | None = None,
    k: float | None = None,
    r: float | None = None,
    white: float | None = None,
    p: float | None = None,
    q: float | None = None,
    t: float | None = None,
    c: float | None = None,
    min_n: int | None = None,
    border: str | None = None,
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """The threshold of every pixel: what is above it is white.

    Parameters are those of :func:`binarize`. The result is of float32, or float64 for
    images of float64, where ``dtype`` or ``out`` ask for no other. ``"isauvola"`` has no
    such map; ``"su"`` has -1 where all pixels are white.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> page = np.full((9, 9), 200, np.uint8)
    >>> boxsum.threshold_map(page, "sauvola", window=5)[0, 0]
    np.float32(160.0)
    """
    image = _gray(a)
    result = result_for(image, float_type(image, dtype, out), out)
    _run(image, result, method, window, (k, r, white, p, q, t, c, min_n), border, value, workers)
    return as_given(result, out, a)


def _gray(a: Any) -> ndarray:
    image = pixels_of(a)
    if image.ndim == 3 and image.shape[2] != 1:
        raise ValueError(f"an array of shape {image.shape}: this takes gray images, of shape (H, W)")
    return image


_NUMBERS = ("k", "r", "white", "p", "q", "t", "c", "min_n")

# Which of them a method has.
_TAKES = {
    "sauvola": ("k", "r", "white"), "isauvola": ("k", "r", "white"), "phansalkar": ("k", "r", "white", "p", "q"), "trsingh": ("k", "white"),
    "niblack": ("k",), "wolf": ("k",), "nick": ("k",), "bradley": ("t",), "meanc": ("c",), "su": ("min_n",), "otsu": (),
}  # fmt: skip


def _run(image: ndarray, out: ndarray, method: Any, window: Any, numbers: tuple, border: str | None, value: float, workers: int | None) -> None:
    call_with_copies((out,), "threshold", image, out, *_rule(method, window, numbers, border, value), thread_count(workers))


def _rule(method: Any, window: Any, numbers: tuple, border: str | None, value: float) -> tuple:
    """The method with all that belongs to it, as the library takes it."""
    if not isinstance(method, str):
        raise TypeError(f"a method of {method!r}: it is the name of one, such as 'sauvola'")
    given = np.full(len(_NUMBERS), np.nan)
    for i, (name, number) in enumerate(zip(_NUMBERS, numbers)):
        if number is not None:
            takes = _TAKES.get(method, _NUMBERS)  # the library refuses methods that it does not know
            if name not in takes:
                raise ValueError(f"{method} has no {name}: it takes {', '.join(takes) or 'no numbers'}")
            given[i] = whole(number, name, 1) if name == "min_n" else real(number, name)
            if given[i] != given[i]:
                raise ValueError(f"{name} is {number}: it must be a number")
            if name in ("r", "white") and given[i] <= 0:
                raise ValueError(f"{name} is {number}: it must be more than 0")
    size = (0, 0) if window is None else sides(window, "window")
    outside = b"" if border is None else border_of(border)
    return method.encode(), *size, outside, real(value, "value"), given
