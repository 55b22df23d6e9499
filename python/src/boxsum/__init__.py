"""Summed-area tables (integral images): the sum of any box of pixels in four reads.

    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table = boxsum.integral(image)                  # one pass, all cores
    >>> boxsum.box_sum(table, [[0, 0, 4, 3], [1, 1, 3, 2]])
    array([66, 11], dtype=uint32)

Tables
    integral        of an image; squares and OpenCV's tilted table beside it; masks, NaN left out
    volume          of a 3-D array
    rotated         of an image along the digital lines of a rotation a/b
    histogram       integral histogram: that of any box
    moments         moments and Hu's invariants of any box
    open            a table in a store, which integral(..., out=url) makes of images larger than memory

Boxes, many at once, from tables of images and volumes
    box_sum, box_mean, box_var, box_std
    tilted_sum, tilted_mean     at 45°, from tilted tables of images
    haar            Haar-like features in many windows; haar_features lists them

Images of the same size, each pixel from the window round it
    blur            box or Gaussian, or a radius for every pixel; box_filter has sums and even windows
    local_mean, local_std, local_var, local_mean_std, normalize
    guided, median, entropy
    binarize        black and white: Sauvola and ten other methods; threshold_map
    downsample, brightest       block means; the best windows

Things in images
    match, find     a template, by ZNCC, NCC or squared differences
    detect.Cascade  faces and more, by cascades of OpenCV

The rest
    compat.cv2      integral, blur, boxFilter, adaptiveThreshold, matchTemplate, CascadeClassifier and
                    more, with the results of OpenCV
    compat.skimage  integral_image, integrate, threshold_sauvola, match_template and more, with those of
                    scikit-image
    compat.scipy    uniform_filter with those of SciPy
    boxsum.torch    tables, boxes and filters with gradients, for PyTorch: import it by name
    devices         which GPUs there are
    keep_memory     how much memory of freed tables to keep for the next

A box is ``x0, y0, x1, y1`` for the pixels ``image[y0:y1, x0:x1]``. Arrays go in
without a copy, from any number of threads; the GIL is released. Arrays of CuPy
and PyTorch stay on their device.
"""

from . import compat, detect  # noqa: I001
from ._integral import integral, volume
from ._known import ValidTable
from ._boxes import box_mean, box_std, box_sum, box_var, tilted_mean, tilted_sum
from ._devices import devices
from ._dlpack import DeviceArray
from ._filters import blur, box_filter, brightest, downsample, entropy, guided, local_mean, local_mean_std, local_std, local_var, median, normalize
from ._haar import KINDS, haar, haar_features
from ._histogram import HistogramTable, histogram
from ._match import find, match
from ._memory import keep_memory
from ._moments import MomentsTable, moments
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
    "box_mean",
    "box_std",
    "box_sum",
    "box_var",
    "brightest",
    "compat",
    "detect",
    "devices",
    "downsample",
    "entropy",
    "find",
    "guided",
    "haar",
    "haar_features",
    "histogram",
    "integral",
    "keep_memory",
    "local_mean",
    "local_mean_std",
    "local_std",
    "local_var",
    "match",
    "median",
    "moments",
    "normalize",
    "open",
    "rotated",
    "threshold_map",
    "tilted_mean",
    "tilted_sum",
    "volume",
]


def _name_types() -> None:
    """Lets help() show types as they are, not as text in quotes."""
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
