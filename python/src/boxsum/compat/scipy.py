"""``uniform_filter`` and ``uniform_filter1d``, as in SciPy's ``ndimage``.

    from boxsum.compat import scipy as fast
    soft = fast.uniform_filter(image, 15)

Arguments, types and results are those of ``scipy.ndimage``: one axis is filtered after the
other, and integers are truncated after each. Floats are summed in another order, and in one
pass where all axes of an image have the same border. A NaN affects only its own windows; in
SciPy it affects the rest of its line.
"""

from ._scipy import uniform_filter, uniform_filter1d

__all__ = [
    "uniform_filter",
    "uniform_filter1d",
]


def __dir__() -> list[str]:
    return __all__
