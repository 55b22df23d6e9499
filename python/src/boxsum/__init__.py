"""Summed-area tables (integral images): the sum of any box of pixels in four reads.

    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table = boxsum.integral(image)                  # one pass, all cores
    >>> boxsum.box_sum(table, [[0, 0, 4, 3], [1, 1, 3, 2]])
    array([66, 11], dtype=uint32)

Tables
    integral        of an image, with optional squares, tilted sums, masks and NaN skipping
    volume          of a 3-D array
    rotated         of an image along the digital lines of a rotation a/b
    histogram       the integral histogram of an image
    moments         moments and Hu's invariants of any box
    open            a table in a Zarr store, as written by integral(..., out=url)

Boxes, many per call, from tables of images and volumes
    box_sum, box_mean, box_var, box_std
    tilted_sum, tilted_mean     boxes at 45°, from tilted tables of images
    haar            Haar-like features in many windows; haar_features lists them

Filters, which return an image of the same size unless noted
    blur            box or Gaussian blur, or a radius per pixel
    box_filter      means or sums of windows of any size
    local_mean, local_std, local_var, local_mean_std, normalize
    guided, median, entropy
    clahe           local equalization of contrast, as in OpenCV
    nl_means        denoising by non-local means, as in OpenCV
    rank_filter     percentiles, extremes, local equalization and others from local histograms
    filter_boxes    any kernel that is a weighted sum of boxes; box_kernel returns some
    hessian         blobs, by the determinant of the Hessian from boxes, as in SURF
    targets         pixels that stand out from noise, at a constant false alarm rate (CA-CFAR)
    despeckle       removal of speckle from radar images: Lee, Kuan, Frost, Gamma-MAP
    binarize        black-and-white images, by Sauvola's and ten other methods
    threshold_map   the thresholds of the same methods
    downsample      block means: a smaller image
    brightest       the windows with the greatest means: a list of boxes

Comparison
    ssim, ms_ssim   structural similarity of two images, also as a map
    lncc            local cross-correlation
    mse, psnr

Detection
    match, find     templates, by ZNCC, NCC or squared differences
    detect.Cascade  faces and other objects, with OpenCV's cascades
    detect.HOG      people and other objects, by histograms of oriented gradients

Other modules and functions
    compat.cv2      integral, blur, boxFilter, adaptiveThreshold, matchTemplate, CascadeClassifier,
                    HOGDescriptor and more, with OpenCV's arguments and results
    compat.skimage  integral_image, threshold_sauvola, match_template, structural_similarity and
                    more, with scikit-image's
    compat.scipy    uniform_filter with SciPy's
    boxsum.torch    tables, boxes and filters with gradients for PyTorch; import it by name
    boxsum.jax      tables, boxes and filters with gradients for JAX; import it by name
    devices         the available GPUs
    keep_memory     how much memory of freed tables to reuse

A box is ``x0, y0, x1, y1`` and means the pixels ``image[y0:y1, x0:x1]``. Arrays are read
without a copy where possible. The GIL is released, so that several threads run at once.
Arrays of CuPy and PyTorch stay on their device.
"""

from . import compat, detect  # noqa: I001
from ._integral import integral, volume
from ._kernels import box_kernel, despeckle, filter_boxes, hessian, targets
from ._known import ValidTable
from ._boxes import box_mean, box_std, box_sum, box_var, tilted_mean, tilted_sum
from ._denoise import nl_means
from ._devices import devices
from ._dlpack import DeviceArray
from ._enhance import clahe
from ._filters import blur, box_filter, brightest, downsample, entropy, guided, local_mean, local_mean_std, local_std, local_var, median, normalize
from ._haar import KINDS, haar, haar_features
from ._histogram import HistogramTable, histogram
from ._match import find, match
from ._memory import keep_memory
from ._moments import MomentsTable, moments
from ._quality import lncc, ms_ssim, mse, psnr, ssim
from ._rank import rank_filter
from ._rotated import RotatedTable, rotated
from ._store import StoredTable, open
from ._threshold import binarize, threshold_map
from ._version import __version__

__all__ = [
    "KINDS",
    "DeviceArray",
    "HistogramTable",
    "MomentsTable",
    "RotatedTable",
    "StoredTable",
    "ValidTable",
    "__version__",
    "binarize",
    "blur",
    "box_filter",
    "box_kernel",
    "box_mean",
    "box_std",
    "box_sum",
    "box_var",
    "brightest",
    "clahe",
    "compat",
    "despeckle",
    "detect",
    "devices",
    "downsample",
    "entropy",
    "filter_boxes",
    "find",
    "guided",
    "haar",
    "haar_features",
    "hessian",
    "histogram",
    "integral",
    "keep_memory",
    "lncc",
    "local_mean",
    "local_mean_std",
    "local_std",
    "local_var",
    "match",
    "median",
    "moments",
    "ms_ssim",
    "mse",
    "nl_means",
    "normalize",
    "open",
    "psnr",
    "rank_filter",
    "rotated",
    "ssim",
    "targets",
    "threshold_map",
    "tilted_mean",
    "tilted_sum",
    "volume",
]


def __dir__() -> list[str]:
    return __all__


def _name_types() -> None:
    """Replace string annotations of public functions with types, for help()."""
    from inspect import isfunction
    from typing import get_type_hints

    for name in __all__:
        public = globals()[name]
        for function in [public, *vars(public).values()] if isinstance(public, type) else [public]:
            if isfunction(function):
                try:
                    function.__annotations__ = get_type_hints(function)
                except TypeError:  # "int | None" before Python 3.10
                    return


_name_types()
