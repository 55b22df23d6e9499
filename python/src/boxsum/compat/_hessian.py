"""scikit-image's hessian_matrix_det: see :mod:`boxsum.compat.skimage`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels import hessian


def hessian_matrix_det(image: Any, sigma: float = 1, approximate: bool = True) -> np.ndarray:
    """Compute the determinant of the Hessian from sums of boxes, like ``skimage.feature.hessian_matrix_det``.

    Parameters
    ----------
    image : array_like
        Gray image; images of other shapes require scikit-image.
    sigma : float, default 1
        Standard deviation of the Gaussian.
    approximate : bool, default True
        Approximate the Gaussian by boxes. False, and a sigma below 1, require scikit-image.

    Returns
    -------
    determinant : ndarray
        The determinants, of float64.

    Raises
    ------
    ValueError
        If a pixel is NaN or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> image = np.zeros((31, 31))
    >>> image[13:18, 13:18] = 1
    >>> np.argwhere((found := skimage.hessian_matrix_det(image, 2)) == found.max())
    array([[15, 15]])
    """
    image = np.asarray(image)
    if image.ndim != 2 or image.size == 0 or not approximate or not sigma >= 1 or image.dtype.kind not in "buif":
        from skimage import feature

        original: Any = feature.hessian_matrix_det
        made: np.ndarray = original(image, sigma, approximate)
        return made
    return hessian(_as_float(image), sigma, dtype=np.float64)


def _as_float(image: np.ndarray) -> np.ndarray:
    """Return pixels as scikit-image's img_as_float does."""
    if image.dtype.kind in "ui":
        scaled: np.ndarray = np.multiply(image, 1 / np.iinfo(image.dtype).max, dtype=np.float64)
        return np.maximum(scaled, -1)
    return image
