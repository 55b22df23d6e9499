"""Denoising by non-local means."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import call_with_copies, native_of, on_cuda, only_there, real, result_for, run_there
from ._foreign import as_given, on_host
from ._types import whole
from ._typing import Image

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_SIDE = 1 << 12  # longest side of a patch and of what is searched


def nl_means(
    a: Image,
    strength: float | None = None,
    *,
    patch: int = 7,
    search: int | None = None,
    absolute: bool = False,
    frames: Sequence[Image] = (),
    noise: float = 0,
    shifted: bool = False,
    volume: bool = False,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Remove noise by non-local means: average pixels whose surroundings look alike.

    For integers, the result is bit-identical to that of ``cv2.fastNlMeansDenoising``. For floats,
    it is that of ``skimage.restoration.denoise_nl_means`` up to rounding, except that the
    surroundings of a pixel are centered.

    Parameters
    ----------
    a : array_like of uint8, uint16, float32 or float64, shape (H, W) or (H, W, C)
        Input image. Integers have up to four channels, floats any number. CuPy and PyTorch
        arrays of integers on a CUDA device are denoised there, without `frames`.
    strength : float, optional
        How much surroundings may differ and still be averaged, in units of pixel values. About the
        standard deviation of the noise is a good value. The default is 3 for integers and 0.1 for
        floats.
    patch : int, default 7
        Side of the surroundings that are compared; even numbers are rounded up to odd ones.
    search : int, optional
        Side of the square around a pixel in which similar surroundings are sought. The
        running time grows with its area. The default is 21 for integers and 23 for floats.
    absolute : bool, default False
        Compare pixels by absolute instead of squared differences. uint16 images always use
        absolute differences.
    frames : sequence of array_like, optional
        Other frames of a film, of the type and shape of `a`, in which similar surroundings are
        sought too; for integers only.
    noise : float, default 0
        Standard deviation of the noise. The difference that it is expected to cause between
        equal surroundings is subtracted; for floats only.
    shifted : bool, default False
        Leave out the first row and column of surroundings, as scikit-image does; for floats
        only.
    volume : bool, default False
        Treat the array as a volume of floats, of shape (D, H, W) or (D, H, W, C), with surroundings
        that extend along all three axes.
    out : array, optional
        Destination, of the type and shape of `a`; may be `a` itself.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    denoised : array
        The image, of the type and shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, or
        `frames` or `out` have the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[10, 12, 11, 90, 92, 91], [12, 11, 10, 91, 90, 92]], np.uint8)
    >>> boxsum.nl_means(image, 5, patch=1)[0]
    array([11, 11, 11, 91, 91, 91], dtype=uint8)
    """
    kind = on_cuda(a)
    if kind is not None:
        only_there(frames=len(frames) > 0, noise=noise != 0, shifted=shifted, volume=volume)
        return run_there(kind, "nl_means_device", a, out, None, None, *_numbers(strength, patch, search), int(bool(absolute)))
    image = on_host(a)
    if volume or native_of(image) in _FLOATS:
        if absolute or len(frames):
            raise ValueError(f"absolute and frames are not supported for {'volumes' if volume else image.dtype}, only for images of uint8 and uint16")
        return as_given(_denoise_floats(image, strength, patch, search, noise, shifted, volume, out, workers), out, a)
    if noise or shifted:
        raise ValueError(f"noise and shifted are not supported for {image.dtype}, only for float32 and float64")
    if image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    native = native_of(image)
    if native not in (np.uint8, np.uint16):
        raise TypeError(f"pixels of {image.dtype} cannot be denoised, want uint8, uint16, float32 or float64")
    all_frames = image[np.newaxis]
    others = [on_host(frame) for frame in frames]
    for frame in others:
        if frame.shape != image.shape or native_of(frame) != native:
            raise ValueError(f"frames must have shape {image.shape} and type {native} like the image, got {frame.shape} and {frame.dtype}")
    if others:
        all_frames = np.stack([image, *others]).astype(native, copy=False)
    result = result_for(image, native, out)
    denoise_frame(all_frames, 0, result, *_numbers(strength, patch, search), bool(absolute), thread_count(workers))
    return as_given(result, out, a)


def _numbers(strength: Any, patch: Any, search: Any) -> tuple[float, int, int]:
    """Return the strength and the sides of patches and of what is searched, for integers."""
    return (
        3.0 if strength is None else real(strength, "strength"),
        whole(patch, "patch", 1, _SIDE),
        21 if search is None else whole(search, "search", 1, _SIDE),
    )


def _denoise_floats(
    image: ndarray, strength: Any, patch: Any, search: Any, noise: Any, shifted: bool, volume: bool, out: Any, workers: int | None
) -> ndarray:
    axes = 3 if volume else 2
    if image.ndim not in (axes, axes + 1):
        raise ValueError(f"{'volume' if volume else 'image'} must have shape {'(D, H, W) or (D, H, W, C)' if volume else '(H, W) or (H, W, C)'}, got {image.shape}")
    native = native_of(image)
    if native not in _FLOATS:
        raise TypeError(f"volumes of {image.dtype} cannot be denoised, want float32 or float64")
    result = result_for(image, native, out)
    numbers = (
        0.1 if strength is None else real(strength, "strength"),
        whole(patch, "patch", 1, _SIDE),
        23 if search is None else whole(search, "search", 1, _SIDE),
        real(noise, "noise"),
    )
    call_with_copies((result,), "nl_means_floats", image, result, *numbers, int(bool(shifted)), int(volume), thread_count(workers))
    return result


def denoise_frame(frames: ndarray, index: int, result: ndarray, strength: float, patch: int, search: int, absolute: bool, workers: int) -> None:
    """Denoise one of several frames, which are an array, into another."""
    call_with_copies((result,), "nl_means", frames, index, result, strength, patch, search, int(absolute), workers)
