"""Summed-area tables for JAX, inside jit, with gradients and under vmap.

    >>> import jax, jax.numpy as jnp, boxsum.jax as bj
    >>> images = jnp.ones((2, 48, 64))
    >>> table = jax.jit(bj.integral)(images)                      # (..., H, W) to (..., H + 1, W + 1)
    >>> bj.box_sum(table, jnp.asarray([[0, 0, 10, 5]])).tolist()  # (K, 4), or (N, K, 4) for each image
    [[50.0], [50.0]]
    >>> bj.box_filter(images, 31).shape                           # in a time that does not depend on the window
    (2, 48, 64)

All functions work on the last two axes. On CPUs, compiled programs call the library through
XLA's foreign function interface; on other devices they use JAX's own operations.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Sequence, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import _core, _native

if jax.__version_info__ < (0, 5):
    raise ImportError(f"boxsum.jax needs JAX 0.5 or newer, got {jax.__version__}")

from jax.extend.core import Primitive  # noqa: E402
from jax.interpreters import ad, batching, mlir  # noqa: E402

__all__ = ["box_filter", "box_mean", "box_sum", "integral", "lncc", "ssim"]


def __dir__() -> list[str]:
    return __all__


_native.load()  # compiled programs require it
for _name in ("integral", "suffix", "window"):
    jax.ffi.register_ffi_target(f"boxsum_{_name}", _core.xla(_name), platform="cpu")

_LEAST = 1e-5  # variance, times the number of pixels, that a correlation divides by
_SMALL = (jnp.dtype(jnp.float16), jnp.dtype(jnp.bfloat16))
_FLOAT32, _FLOAT64 = jnp.dtype(jnp.float32), jnp.dtype(jnp.float64)
_INT32, _INT64 = jnp.dtype(jnp.int32), jnp.dtype(jnp.int64)


_NAMES: tuple[Any, ...] = (bool, *(f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)), "float16", jnp.bfloat16, "float32", "float64")
_TYPES = {jnp.dtype(t) for t in _NAMES}


def _check(x: Any, what: str = "images") -> Array:
    x = jnp.asarray(x)
    if x.ndim < 2:
        raise ValueError(f"{what} must have shape (..., H, W), got {x.shape}")
    if x.dtype not in _TYPES:
        raise TypeError(f"{what} must be integers of 8 to 64 bits or floats of 16 to 64 bits, got {x.dtype}")
    return x


def _corners(boxes: Any) -> Array:
    """Return boxes as an array, with corners clamped to 32 bits, which lie outside every image."""
    most = (1 << 31) - 1
    if not isinstance(boxes, Array):
        try:
            boxes = np.asarray(boxes)
        except jax.errors.TracerArrayConversionError:  # a list of traced numbers
            boxes = jnp.asarray(boxes)
    if isinstance(boxes, np.ndarray) and boxes.dtype.kind == "u":
        boxes = np.minimum(boxes.astype(np.uint64), np.uint64(most)).astype(np.int64)
    elif isinstance(boxes, np.ndarray) and boxes.dtype.kind == "i":
        boxes = np.clip(boxes.astype(np.int64), -most, most)
    if boxes.dtype not in _TYPES or boxes.dtype == bool:
        raise TypeError(f"boxes must be integers or floats, got {boxes.dtype}")
    if boxes.dtype in (jnp.uint32, jnp.uint64):
        boxes = jnp.minimum(boxes, most)
    if not jnp.issubdtype(boxes.dtype, jnp.floating):
        boxes = boxes.astype(jnp.result_type(int))
    return jnp.asarray(boxes)


def _sum_type(x: Array, dtype: Any) -> np.dtype:
    """Return the type of an array's sums, as in boxsum.torch."""
    floats, small = jnp.issubdtype(x.dtype, jnp.floating), x.dtype in (jnp.uint8, jnp.bool_)
    if dtype is None:
        if floats:
            return _FLOAT32 if x.dtype in _SMALL else x.dtype
        dtype = _INT32 if small and x.shape[-1] * x.shape[-2] <= ((1 << 31) - 1) // 255 else _INT64
    dtype = jnp.dtype(dtype)
    known = {_FLOAT64} if x.dtype == _FLOAT64 else {_FLOAT32, _FLOAT64} if floats else {_INT32, _INT64, _FLOAT32, _FLOAT64} if small else {_INT64, _FLOAT64}
    if dtype not in known:
        raise TypeError(f"pixels of {x.dtype} have no sums of {dtype}, only {', '.join(sorted(str(d) for d in known))}")
    if dtype.itemsize == 8 and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise TypeError(f"sums cannot be {dtype} while 64-bit types are disabled (call jax.config.update('jax_enable_x64', True))")
    return dtype


# One primitive has three operations: "integral", with sums of a type; "suffix", the sum at and after each place; and "window", whose sum at
# (y, x) begins at (y - top, x - left) and is multiplied by a factor, with zeros outside: numbers are width, height, left, top, rows, columns
# and the factor. They are linear, and the transpose of each is one of them.

_linear = Primitive("boxsum")
_RANK = 16  # the most axes that the library accepts


def _pixels(x: Array, dtype: Any) -> Array:
    """Return an array in a type that the library accepts for such sums."""
    if x.dtype == jnp.bfloat16 or dtype == _FLOAT64 and x.dtype == jnp.float32:
        return x.astype(dtype)
    if x.dtype in (jnp.bool_, jnp.int8):
        return x.astype(jnp.uint8 if x.dtype == jnp.bool_ else jnp.int16)
    if dtype == _FLOAT64 and jnp.issubdtype(x.dtype, jnp.integer) and x.dtype != jnp.uint8:
        return x.astype(dtype)
    return x


def _shape(x: Any, op: str, numbers: tuple[Any, ...]) -> jax.ShapeDtypeStruct:
    rows, columns = x.shape[-2:]
    if op == "integral":
        return jax.ShapeDtypeStruct((*x.shape[:-2], rows + 1, columns + 1), numbers[0])
    return jax.ShapeDtypeStruct((*x.shape[:-2], *(numbers[4:6] if op == "window" else (rows, columns))), x.dtype)


def _foreign(x: Array, *, op: str, numbers: tuple[Any, ...]) -> Array:
    """Evaluate the primitive on a CPU, by the library."""
    out = _shape(x, op, numbers)
    if op == "integral":
        x = _pixels(x, out.dtype)
    if 0 in x.shape or x.dtype in (jnp.int64, jnp.uint64):  # which the library does not support
        return _own(x, op=op, numbers=numbers)
    if x.ndim > _RANK:
        flat = _foreign(x.reshape(-1, *x.shape[-2:]), op=op, numbers=numbers)
        return flat.reshape(out.shape)
    more = {"numbers": np.array(numbers[:4], np.int64), "factor": np.float64(numbers[6])} if op == "window" else {}
    return jax.ffi.ffi_call(f"boxsum_{op}", out, vmap_method="broadcast_all")(x, **more)


def _own(x: Array, *, op: str, numbers: tuple[Any, ...]) -> Array:
    """Evaluate the primitive with JAX operations, on any device."""
    lead, out = x.ndim - 2, _shape(x, op, numbers)
    if 0 in x.shape:
        return jnp.zeros(out.shape, out.dtype)
    if op == "integral":
        return jnp.pad(lax.cumsum(lax.cumsum(x.astype(out.dtype), lead + 1), lead), [(0, 0)] * lead + [(1, 0), (1, 0)])
    if op == "suffix":
        return lax.cumsum(lax.cumsum(x, lead + 1, reverse=True), lead, reverse=True)
    width, height, left, top, rows, columns, factor = numbers
    padding = [(top, rows - 1 - top + height - x.shape[-2], 0), (left, columns - 1 - left + width - x.shape[-1], 0)]
    padded = lax.pad(x * jnp.asarray(factor, x.dtype), jnp.zeros((), x.dtype), [(0, 0, 0)] * lead + padding)
    return lax.reduce_window(padded, np.zeros((), x.dtype), lax.add, (1,) * lead + (height, width), (1,) * x.ndim, "VALID")


def _abstract(x: Any, *, op: str, numbers: tuple[Any, ...]) -> Any:
    out = _shape(x, op, numbers)
    return x.update(shape=out.shape, dtype=out.dtype, weak_type=False)  # on the devices of the array


def _transpose(grad: Array, x: Any, *, op: str, numbers: tuple[Any, ...]) -> list[Array]:
    if op == "integral":
        return [_linear.bind(grad[..., 1:, 1:], op="suffix", numbers=()).astype(x.aval.dtype)]
    if op == "suffix":
        return [_linear.bind(grad, op="integral", numbers=(grad.dtype,))[..., 1:, 1:]]
    width, height, left, top, _, _, factor = numbers
    return [_linear.bind(grad, op="window", numbers=(width, height, width - 1 - left, height - 1 - top, *x.aval.shape[-2:], factor))]


def _over_batch(arguments: Any, axes: Any, *, op: str, numbers: tuple[Any, ...]) -> tuple[Array, int]:
    return _linear.bind(jnp.moveaxis(arguments[0], axes[0], 0), op=op, numbers=numbers), 0


_linear.def_impl(lambda x, **what: jax.jit(partial(_linear.bind, **what))(x))
_linear.def_abstract_eval(_abstract)
mlir.register_lowering(_linear, mlir.lower_fun(_own, multiple_results=False))
mlir.register_lowering(_linear, mlir.lower_fun(_foreign, multiple_results=False), platform="cpu")
ad.deflinear2(_linear, _transpose)
batching.primitive_batchers[_linear] = _over_batch


def integral(x: Any, *, dtype: Any = None) -> Array:
    """Compute the summed-area tables of a batch of images.

    Entry ``[..., i, j]`` is the sum of ``x[..., :i, :j]``.

    Parameters
    ----------
    x : array_like, shape (..., H, W)
        Input images.
    dtype : dtype, optional
        Type of the sums. The default is the type of `x` for float32 and float64, float32
        for float16 and bfloat16, int64 for integers, and int32 for uint8 and bool images
        whose sum fits. 64-bit sums require ``jax_enable_x64``.

    Returns
    -------
    table : Array, shape (..., H + 1, W + 1)
        The tables.

    Raises
    ------
    TypeError
        If `x` has no sums of type `dtype`, or they require ``jax_enable_x64``.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> import boxsum.jax as bj, jax.numpy as jnp
    >>> bj.integral(jnp.ones((2, 3)))[..., -1, -1].item()
    6.0
    """
    x = _check(x)
    return _linear.bind(x, op="integral", numbers=(_sum_type(x, dtype),))


def _check_table(table: Any) -> Array:
    table = _check(table, "tables")
    if not jnp.issubdtype(table.dtype, jnp.floating) and table.dtype not in (_INT32, _INT64):
        raise TypeError(f"tables must have type int32, int64 or float, as integral returns, got {table.dtype}")
    return table


def _ask(table: Any, boxes: Any) -> tuple[Array, Array]:
    table, boxes = _check_table(table), _corners(boxes)
    if 0 in table.shape[-2:]:
        raise ValueError(f"tables must have at least a row and a column of zeros, as integral returns them, got shape {table.shape}")
    if math.prod(table.shape[-2:]) >= 1 << 31 and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise ValueError(f"tables must have fewer than 2**31 entries while 64-bit types are disabled, got shape {table.shape} (call jax.config.update('jax_enable_x64', True))")
    if boxes.ndim == 0 or boxes.shape[-1] != 4:
        raise ValueError(f"boxes must have four numbers along the last axis (x0, y0, x1, y1), got shape {boxes.shape}")
    leading, own = table.shape[:-2], boxes.shape[:-2]
    if len(own) > len(leading) or any(n not in (1, m) for n, m in zip(own, leading)):
        raise ValueError(f"boxes must have shape (K, 4) or (leading axes of the tables, K, 4), got {boxes.shape} for tables of shape {table.shape}")
    each = boxes.shape[-2:-1]
    real = jnp.issubdtype(boxes.dtype, jnp.floating)
    if real and not jnp.issubdtype(table.dtype, jnp.floating):
        table = table.astype(jnp.result_type(float))
    boxes = boxes.reshape(*own, *(1,) * (len(leading) - len(own)), *(each or (1,)), 4)
    boxes = jnp.broadcast_to(boxes, (*leading, *boxes.shape[-2:]))
    height, width = table.shape[-2] - 1, table.shape[-1] - 1
    x0, y0 = jnp.clip(boxes[..., 0], 0, width), jnp.clip(boxes[..., 1], 0, height)
    x1, y1 = jnp.maximum(jnp.clip(boxes[..., 2], 0, width), x0), jnp.maximum(jnp.clip(boxes[..., 3], 0, height), y0)
    flat = table.reshape(*leading, -1)

    def read(y: Array, x: Array) -> Array:
        return jnp.take_along_axis(flat, y * (width + 1) + x, -1, mode="clip")

    def parts(at: Array, most: int) -> tuple[Array, Array, Array]:
        low = jnp.clip(jnp.floor(lax.stop_gradient(at)), 0, max(most - 1, 0)).astype(int)
        return low, jnp.minimum(low + 1, most), (at - low).astype(table.dtype)

    def entry(y: Array, x: Array) -> Array:
        if not real:
            return read(y, x)
        (top, bottom, v), (left, right, u) = parts(y, height), parts(x, width)
        above = read(top, left) * (1 - u) + read(top, right) * u
        return above * (1 - v) + (read(bottom, left) * (1 - u) + read(bottom, right) * u) * v

    sums = entry(y1, x1) - entry(y1, x0) - entry(y0, x1) + entry(y0, x0)
    shape = (*leading, *each)
    return sums.reshape(shape), ((x1 - x0) * (y1 - y0)).reshape(shape)


def box_sum(table: Any, boxes: Any) -> Array:
    """Sum the pixels of boxes.

    Parameters
    ----------
    table : array_like, shape (..., H + 1, W + 1)
        Tables from :func:`integral`.
    boxes : array_like, shape (K, 4) or (N, K, 4)
        Boxes ``x0, y0, x1, y1``, clipped to the image. With shape (N, K, 4), each image
        along the first axis of the tables has its own boxes. Floating-point corners are
        interpolated bilinearly between table entries, and have gradients.

    Returns
    -------
    sums : Array, shape (..., K)
        The sums.

    Raises
    ------
    TypeError
        If boxes or tables are of a type that is not supported.
    ValueError
        If boxes do not have four numbers, or if there are not as many groups of boxes as
        images.

    Examples
    --------
    >>> import boxsum.jax as bj, jax.numpy as jnp
    >>> table = bj.integral(jnp.ones((4, 5)))
    >>> bj.box_sum(table, [[0, 0, 5, 4], [1, 1, 3, 2]]).tolist()
    [20.0, 2.0]
    >>> bj.box_sum(table, [0.5, 0.0, 2.0, 1.0]).item()
    1.5
    """
    return _ask(table, boxes)[0]


def _wrapped(table: Array, boxes: Array) -> tuple[Array, Array]:
    """Return sums, as floats, and areas of boxes of 8-bit pixels in int32 tables that may have wrapped.

    Boxes are summed in parts that 32 bits hold.
    """
    if jnp.issubdtype(boxes.dtype, jnp.floating):
        raise ValueError("boxes must be integers for tables of int32, whose sums may have wrapped (or make the tables with a dtype of 64 bits, or float32)")
    height, width = table.shape[-2] - 1, table.shape[-1] - 1
    y0, y1 = jnp.clip(boxes[..., 1], 0, height), jnp.clip(boxes[..., 3], 0, height)
    count = -(-height // max(1, (1 << 32) // 255 // max(width, 1)))
    edges = [y0 + jnp.maximum(y1 - y0, 0) * k // count for k in range(count + 1)]
    parts = [_ask(table, boxes.at[..., 1].set(top).at[..., 3].set(bottom)) for top, bottom in zip(edges, edges[1:])]
    return sum(s.astype(jnp.uint32).astype(jnp.result_type(float)) for s, _ in parts), sum(a for _, a in parts)  # type: ignore[return-value]


def box_mean(table: Any, boxes: Any) -> Array:
    """Return the mean of the pixels of boxes, or 0 for empty boxes.

    Parameters
    ----------
    table, boxes
        As for :func:`box_sum`.

    Returns
    -------
    means : Array, shape (..., K)
        The means, as floats.

    Raises
    ------
    TypeError
        As for :func:`box_sum`.
    ValueError
        As for :func:`box_sum`, and if corners are floats and the sums of an int32 table may
        have wrapped.

    Examples
    --------
    >>> import boxsum.jax as bj, jax.numpy as jnp
    >>> bj.box_mean(bj.integral(jnp.eye(4)), [[0, 0, 4, 4], [0, 0, 2, 1]]).tolist()
    [0.25, 0.5]
    """
    table, boxes = _check_table(table), _corners(boxes)
    if table.dtype == jnp.int32 and (table.shape[-2] - 1) * (table.shape[-1] - 1) > ((1 << 31) - 1) // 255:
        sums, area = _wrapped(table, boxes)
    else:
        sums, area = _ask(table, boxes)
    if not jnp.issubdtype(sums.dtype, jnp.floating):
        sums = sums.astype(jnp.result_type(float))
    some = ~(area <= 0)  # keeps NaN
    return jnp.where(some, sums / jnp.where(some, area, 1).astype(sums.dtype), 0)


def _sides(size: Any) -> tuple[int, int]:
    pair = tuple(size) if isinstance(size, (Sequence, np.ndarray)) else (size, size)
    pair = tuple(int(n) if isinstance(n, np.integer) else n for n in pair)
    if len(pair) != 2 or any(not isinstance(n, int) for n in pair):
        raise TypeError(f"window must be one or two integers, got {size!r}")
    if min(pair) < 1:
        raise ValueError(f"window must be at least 1, got {size!r}")
    return pair  # type: ignore[return-value]


def box_filter(x: Any, window: Union[int, Sequence[int]], *, border: str = "clip", mean: bool = True) -> Array:
    """Compute the mean or the sum of the window around every pixel.

    Parameters
    ----------
    x : array_like, shape (..., H, W)
        Input images, of a floating-point type.
    window : int or sequence of int
        Side of the window in pixels, or its width and height. Windows of even size extend
        one pixel further to the left and up.
    border : {"clip", "constant"}, default "clip"
        ``"clip"`` ends windows at the edge of the image, and ``"constant"`` uses zeros
        outside.
    mean : bool, default True
        Compute means; False computes sums.

    Returns
    -------
    filtered : Array, shape (..., H, W)
        The means or sums, of the type of `x`.

    Raises
    ------
    TypeError
        If `x` does not hold floats.
    ValueError
        If `border` is unknown or the window is smaller than one pixel.

    Examples
    --------
    >>> import boxsum.jax as bj, jax.numpy as jnp
    >>> bj.box_filter(jnp.array([[0.0, 0.0, 6.0, 6.0]]), (3, 1)).tolist()
    [[0.0, 2.0, 4.0, 6.0]]
    """
    x = _check(x)
    width, height = _sides(window)
    if border not in ("clip", "constant"):
        raise ValueError(f"border must be 'clip' or 'constant', got {border!r}")
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"x must be floats, got {x.dtype}")
    wide, (rows, columns) = x.astype(_FLOAT32) if x.dtype in _SMALL else x, x.shape[-2:]
    clip = border == "clip" and mean
    factor = 1 / (width * height) if mean and not clip else 1.0
    sums = _linear.bind(wide, op="window", numbers=(width, height, width // 2, height // 2, rows, columns, factor))
    if clip:
        sums = sums / (_counts(rows, height)[:, None] * _counts(columns, width)).astype(sums.dtype)
    return sums.astype(x.dtype)


def _counts(length: int, size: int) -> np.ndarray:
    """Return the number of pixels of a window inside the image at each place along an axis."""
    at = np.arange(length) - size // 2
    return np.minimum(at + size, length) - np.maximum(at, 0)


def _pair(x: Any, y: Any, window: int) -> tuple[Array, Array, Array, Array]:
    """Return two images less the means of their pixels, and these, which have no gradients."""
    x, y = _check(x), _check(y)
    if x.shape != y.shape:
        raise ValueError(f"images must have the same shape, got {x.shape} and {y.shape}")
    if not (jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(y.dtype, jnp.floating)):
        raise TypeError(f"images must be floats, got {x.dtype} and {y.dtype}")
    if not isinstance(window, (int, np.integer)) or window < 1 or window % 2 == 0:
        raise ValueError(f"window must be an odd number, got {window!r}")
    wide = jnp.promote_types(jnp.promote_types(x.dtype, y.dtype), _FLOAT32)
    x, y = x.astype(wide), y.astype(wide)
    cx, cy = (lax.stop_gradient(v.mean((-2, -1), keepdims=True)) for v in (x, y))
    return x - cx, y - cy, cx, cy


def ssim(x: Any, y: Any, *, data_range: float, window: int = 7, k1: float = 0.01, k2: float = 0.03) -> Array:
    """Compute the structural similarity of images, with gradients: ``1 - ssim(x, y, ...)`` is a loss.

    The value is that of :func:`boxsum.ssim` for images of one channel, with sample covariances:
    the mean over all windows that lie within the image.

    Parameters
    ----------
    x, y : array_like, shape (..., H, W)
        Images of the same shape, of a floating-point type.
    data_range : float
        Difference between the greatest and the smallest possible pixel.
    window : int, default 7
        Side of the window, an odd number of 3 or more.
    k1, k2 : float, default 0.01 and 0.03
        Constants of SSIM.

    Returns
    -------
    similarity : Array, shape (...)
        The mean similarity of each pair of images, 1 if they are equal.

    Raises
    ------
    TypeError
        If the images are not floats.
    ValueError
        If the shapes differ, the window is even or larger than the images, or `data_range` is not
        positive.

    Examples
    --------
    >>> import boxsum.jax as bj, jax, jax.numpy as jnp
    >>> x = jnp.outer(jnp.arange(20.0), jnp.arange(20.0)) / 361
    >>> float(bj.ssim(x, x, data_range=1))
    1.0
    >>> jax.grad(lambda y: 1 - bj.ssim(x, y, data_range=1))(x + 0.1).shape
    (20, 20)
    """
    x, y, cx, cy = _pair(x, y, window)
    if window < 3 or window > min(x.shape[-2:]):
        raise ValueError(f"window must be from 3 to {min(x.shape[-2:])}, the smallest side of the images, got {window}")
    if not data_range > 0:
        raise ValueError(f"data_range must be greater than 0, got {data_range!r}")
    edge = window // 2

    def mean(v: Array) -> Array:
        return box_filter(v, window, border="constant")[..., edge : v.shape[-2] - edge, edge : v.shape[-1] - edge]

    sample = window**2 / (window**2 - 1)
    mx, my = mean(x), mean(y)
    covariance, variances = sample * (mean(x * y) - mx * my), sample * (mean(x * x + y * y) - mx * mx - my * my)
    ux, uy, c1, c2 = mx + cx, my + cy, (k1 * data_range) ** 2, (k2 * data_range) ** 2
    similar = (2 * ux * uy + c1) * (2 * covariance + c2) / ((ux * ux + uy * uy + c1) * (variances + c2))
    return similar.mean((-2, -1))


def lncc(x: Any, y: Any, *, window: int = 9) -> Array:
    """Compute the local correlation of images, with gradients: ``1 - lncc(x, y)`` is a loss.

    The value is that of :func:`boxsum.lncc` for images of one channel, as in VoxelMorph: the mean
    of squared correlations in the windows around all pixels, where negative correlations count as
    0. Pixels outside the image are zeros.

    Parameters
    ----------
    x, y : array_like, shape (..., H, W)
        Images of the same shape, of a floating-point type.
    window : int, default 9
        Side of the window, an odd number.

    Returns
    -------
    correlation : Array, shape (...)
        The mean squared correlation of each pair of images.

    Raises
    ------
    TypeError
        If the images are not floats.
    ValueError
        If the shapes differ, or the window is even.

    Examples
    --------
    >>> import boxsum.jax as bj, jax.numpy as jnp
    >>> x = jnp.outer(jnp.arange(20.0), jnp.arange(20.0)) / 361
    >>> bool(jnp.isclose(bj.lncc(x, x), 1, atol=1e-3))
    True
    """
    x, y, cx, cy = _pair(x, y, window)
    inside = _counts(x.shape[-2], window)[:, None] * _counts(x.shape[-1], window)
    area = window**2
    outside = jnp.asarray(1 - inside / area, x.dtype)  # the share of a window beyond the image
    count = jnp.asarray(inside, x.dtype)

    def total(v: Array) -> Array:
        return box_filter(v, window, border="constant", mean=False)

    sx, sy = total(x), total(y)
    # Sums of products of the pixels themselves, which are zero beyond the image, less those of their means.
    cross = total(x * y) - sx * sy / area + (cx * sy + cy * sx + cx * cy * count) * outside
    ax = total(x * x) - sx * sx / area + (2 * cx * sx + cx * cx * count) * outside
    ay = total(y * y) - sy * sy / area + (2 * cy * sy + cy * cy * count) * outside
    cross, ax, ay = (jnp.maximum(v, _LEAST) for v in (cross, ax, ay))
    return ((cross / ax) * (cross / ay)).mean((-2, -1))
