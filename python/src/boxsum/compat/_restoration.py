"""scikit-image's restoration: see :mod:`boxsum.compat.skimage`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._denoise import nl_means
from ._hessian import _as_float


def denoise_nl_means(
    image: Any,
    patch_size: int = 7,
    patch_distance: int = 11,
    h: float = 0.1,
    fast_mode: bool = True,
    sigma: float = 0.0,
    *,
    preserve_range: bool = False,
    channel_axis: int | None = None,
) -> np.ndarray:
    """Remove noise by non-local means, like ``skimage.restoration.denoise_nl_means``.

    Parameters
    ----------
    image : array_like
        Image or volume, with channels if `channel_axis` is given. Arrays of more axes, and those with
        an axis of length 1, which is dropped, require scikit-image.
    patch_size : int, default 7
        Side of the patches that are compared.
    patch_distance : int, default 11
        Distance up to which similar patches are searched.
    h : float, default 0.1
        Strength: how much patches may differ and still be averaged.
    fast_mode : bool, default True
        Give all pixels of a patch the same weight. False requires scikit-image.
    sigma : float, default 0.0
        Standard deviation of the noise.
    preserve_range : bool, default False
        Keep the values of integers instead of scaling them to floats of up to 1.
    channel_axis : int, optional
        Axis of channels; None if there are none.

    Returns
    -------
    denoised : ndarray
        The image without noise: float32 for float16 and float32, otherwise float64.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> noisy = 0.5 + 0.1 * np.random.default_rng(1).standard_normal((40, 40))
    >>> bool(skimage.denoise_nl_means(noisy, 5, 5, h=0.1).std() < 0.05)
    True
    """
    given = image
    image = np.asarray(image)
    axes = image.ndim - (channel_axis is not None)
    finite = image.dtype.kind in "bui" or image.dtype.kind == "f" and image.dtype.itemsize <= 8 and bool(np.isfinite(image).all())
    if not fast_mode or axes not in (2, 3) or not finite or image.size == 0 or 1 in image.shape or not h or not patch_size >= 1 or not patch_distance >= 0:
        from skimage.restoration import denoise_nl_means as original

        made: np.ndarray = original(given, patch_size, patch_distance, h, fast_mode, sigma, preserve_range=preserve_range, channel_axis=channel_axis)
        return made
    if image.dtype == np.float16:
        image = image.astype(np.float32)
    if image.dtype.kind != "f":
        image = image.astype(np.float64) if preserve_range or image.dtype.kind == "b" else _as_float(image)
    if channel_axis is not None:
        image = np.moveaxis(image, channel_axis, -1)
    result = nl_means(
        image, abs(h), patch=int(patch_size), search=2 * int(patch_distance) + 1, noise=abs(sigma), shifted=True, volume=axes == 3
    )  # fmt: skip
    return result if channel_axis is None else np.moveaxis(result, -1, channel_axis)
