"""Functions with scikit-image's arguments, types and results.

    from boxsum.compat import skimage as fast
    ii = fast.integral_image(image)
    ink = image < fast.threshold_sauvola(image, 25)

integral_image, integrate
    As in ``skimage.transform``, except for the order in which floats are summed.
threshold_niblack, threshold_sauvola, threshold_local
    As in ``skimage.filters``, except for rounding. ``threshold_local`` is implemented here
    for the method ``"mean"``; other methods require SciPy, as in scikit-image.
equalize_adapthist
    As in ``skimage.exposure``, identical, for images with two axes; RGB requires scikit-image.
structural_similarity, peak_signal_noise_ratio, mean_squared_error
    As in ``skimage.metrics``, for images with two or three axes, and channels. Sums are exact
    or of float64, where scikit-image adds float32 pixels in float32; the gradient requires
    SciPy.
match_template
    As in ``skimage.feature``, within 1e-5; three-dimensional images require SciPy.
denoise_nl_means
    As in ``skimage.restoration``, within 1e-9, or 2e-6 for float32, for images and volumes; without
    ``fast_mode``, and for more axes, it requires scikit-image.
hessian_matrix_det
    As in ``skimage.feature``, except for rounding; without ``approximate``, and for images that do
    not have two axes, it requires scikit-image.
hog
    As in ``skimage.feature``, except for rounding: scikit-image adds up gradients in float32.
rank
    The module ``skimage.filters.rank``, identical, except that entropies are within 1e-12.
"""

from .._exposure import equalize_adapthist
from .._hessian import hessian_matrix_det
from .._hog import hog
from .._metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity
from .._restoration import denoise_nl_means
from .._skimage import integral_image, integrate, match_template, threshold_local, threshold_niblack, threshold_sauvola
from . import rank

__all__ = [
    "denoise_nl_means",
    "equalize_adapthist",
    "hessian_matrix_det",
    "hog",
    "integral_image",
    "integrate",
    "match_template",
    "mean_squared_error",
    "peak_signal_noise_ratio",
    "rank",
    "structural_similarity",
    "threshold_local",
    "threshold_niblack",
    "threshold_sauvola",
]


def __dir__() -> list[str]:
    return __all__
