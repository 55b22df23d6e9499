"""Binarization: black-and-white images, and the thresholds that make them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import border_of, call_with_copies, float_type, on_cuda, pixels_of, real, result_for, run_there, sides
from ._foreign import as_given, on_host
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
    """Binarize a gray image with a local threshold.

    A pixel becomes 255 if it is greater than its threshold, and 0 otherwise. Each threshold
    comes from the window around the pixel, so that uneven light does no harm. The time does
    not depend on the size of the window. For uint8, the result equals that of Doxa 0.9.9
    pixel for pixel, and that of ``cv2.adaptiveThreshold`` for ``"meanc"``.

    Parameters
    ----------
    a : array_like, shape (H, W), (H, W, 1), (H, W, 3) or (H, W, 4)
        Input image, gray or RGB, which is converted to gray. Floats range from 0 to 1;
        integers other than uint8 and uint16 need `white` where the method depends on it.
        ``"isauvola"``, ``"su"`` and ``"otsu"`` require uint8. CuPy and PyTorch arrays of
        uint8 or uint16 on a CUDA device are processed there, with ``"sauvola"`` only. A
        pixel with a NaN in its window is white, and its threshold is NaN.
    method : str, default "sauvola"
        The threshold, where m and s are the mean and standard deviation of the window:

        ==============  ===========================================================
        ``"sauvola"``     m (1 + k (s/r - 1)): for most scans
        ``"niblack"``     m + k s
        ``"wolf"``        m - k (1 - s/greatest s) (m - darkest pixel): low contrast
        ``"nick"``        m + k sqrt(mean of squares), k negative: faint ink
        ``"trsingh"``     m (1 + k (d/(white - d) - 1)), d = abs(a - m)
        ``"phansalkar"``  m (1 + p exp(-q m/white) + k (s/r - 1)): dark images
        ``"bradley"``     m less t percent: fast, for high contrast
        ``"meanc"``       m - c, as ``cv2.adaptiveThreshold``
        ``"isauvola"``    Sauvola without specks
        ``"su"``          from pixels of high contrast: stains, bleed-through
        ``"otsu"``        one threshold for the whole image
        ==============  ===========================================================
    window : int or tuple of int, optional
        Side of the window in pixels, or its width and height. Windows of even size extend
        one pixel further to the right and down, as in Doxa. The default is 75; an eighth of
        the image's width for ``"bradley"``; and a size that fits the strokes for ``"su"``.
    k, r, white, p, q, t, c, min_n : number, optional
        Parameters of the method. It is an error to pass one that the method does not have.
        The defaults are Doxa's: `k` 0.2, or -0.2 for ``"nick"``; `r` 128/255 of `white`;
        `white` 255, 65535, or 1 for floats; `p` 3, `q` 10, `t` 15, `c` 10; and `min_n` the
        width of the window. If ``"su"`` chooses the window, `min_n` is always its width, as
        in Doxa.
    border : str, optional
        As for :func:`blur`. The default is ``"clip"``, or ``"replicate"`` for ``"meanc"``.
    value : float, default 0
        Value outside the image for ``border="constant"``.
    out : array of uint8, optional
        Destination, an array of uint8 of the shape of the result. It may be the image
        itself.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    page : array of uint8, shape (H, W) or (H, W, 1)
        The binary image, 0 or 255.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` is neither gray nor RGB, the method is unknown, or a parameter does not
        belong to it.

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
    image = _gray(a, method, white)
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
    """Return the threshold of every pixel.

    Pixels that are greater than their threshold become white in :func:`binarize`.

    Parameters
    ----------
    a, method, window, k, r, white, p, q, t, c, min_n, border, value, workers
        As for :func:`binarize`. ``"isauvola"`` has no threshold map.
    dtype : dtype, optional
        Type of the result, float32 or float64. The default is float64 for float64 images
        and float32 for others.
    out : array, optional
        Destination, of the shape of the result.

    Returns
    -------
    thresholds : array, shape (H, W) or (H, W, 1)
        The thresholds. For ``"su"``, they are -1 where a window has too few pixels of high
        contrast, so that the pixel is white.

    Raises
    ------
    TypeError
        If the pixel type is not supported, or `dtype` is not float32 or float64.
    ValueError
        As for :func:`binarize`, and if the method has no threshold map.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> page = np.full((9, 9), 200, np.uint8)
    >>> boxsum.threshold_map(page, "sauvola", window=5)[0, 0]
    np.float32(160.0)
    """
    image = _gray(a, method, white)
    result = result_for(image, float_type(image, dtype, out), out)
    _run(image, result, method, window, (k, r, white, p, q, t, c, min_n), border, value, workers)
    return as_given(result, out, a)


def _gray(a: Any, method: Any, white: Any) -> ndarray:
    """Return the gray image of an argument, whose colors are weighted as in ``boxsum threshold``."""
    given = on_host(a).dtype
    image = pixels_of(a)
    if given.kind == "b":
        raise TypeError("a bool image is already black and white (use .astype(numpy.uint8) * 255 for gray levels)")
    if given.kind in "iu" and image.dtype.kind == "f" and white is None and "white" in _TAKES.get(method, ()):
        raise TypeError(f"white must be given for {method} of {given} pixels, got None (pass white=, the value of a white pixel)")
    if image.ndim < 3 or image.shape[2] == 1:
        return image
    if image.shape[2] not in (3, 4):
        raise ValueError(f"image must be gray, of shape (H, W), or RGB, of shape (H, W, 3), got {image.shape}")
    red, green, blue = (image[..., c] for c in range(3))
    if image.dtype.kind == "f":
        return ((9798 * red + 19235 * green + 3735 * blue) / 32768).astype(image.dtype.newbyteorder("="))
    total = 9798 * red.astype(np.uint32) + 19235 * green.astype(np.uint32) + 3735 * blue.astype(np.uint32)
    return ((total + (1 << 14)) >> 15).astype(image.dtype.newbyteorder("="))


_NUMBERS = ("k", "r", "white", "p", "q", "t", "c", "min_n")

# The parameters of each method.
_TAKES = {
    "sauvola": ("k", "r", "white"), "isauvola": ("k", "r", "white"), "phansalkar": ("k", "r", "white", "p", "q"), "trsingh": ("k", "white"),
    "niblack": ("k",), "wolf": ("k",), "nick": ("k",), "bradley": ("t",), "meanc": ("c",), "su": ("min_n",), "otsu": (),
}  # fmt: skip


def _run(image: ndarray, out: ndarray, method: Any, window: Any, numbers: tuple[Any, ...], border: str | None, value: float, workers: int | None) -> None:
    call_with_copies((out,), "threshold", image, out, *_rule(method, window, numbers, border, value), thread_count(workers))


def _rule(method: Any, window: Any, numbers: tuple[Any, ...], border: str | None, value: float) -> tuple[Any, ...]:
    """Return the method and its parameters as the library takes them."""
    if not isinstance(method, str):
        raise TypeError(f"method must be the name of a method, such as 'sauvola', got {method!r}")
    given = np.full(len(_NUMBERS), np.nan)
    for i, (name, number) in enumerate(zip(_NUMBERS, numbers)):
        if number is not None:
            takes = _TAKES.get(method, _NUMBERS)  # the library rejects unknown methods
            if name not in takes:
                raise ValueError(f"{method} has no parameter {name}, only {', '.join(takes) or 'none'}")
            given[i] = whole(number, name, 1) if name == "min_n" else real(number, name)
            if given[i] != given[i]:
                raise ValueError(f"{name} must be a finite number, got {number}")
            if name in ("r", "white") and given[i] <= 0:
                raise ValueError(f"{name} must be greater than 0, got {number}")
    size = (0, 0) if window is None else sides(window, "window")
    outside = b"" if border is None else border_of(border)
    return method.encode(), *size, outside, real(value, "value"), given
