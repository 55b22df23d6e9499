"""Summed-area tables for PyTorch, with gradients.

    >>> import torch, boxsum.torch as bt
    >>> images = torch.rand(2, 3, 40, 50)
    >>> table = bt.integral(images)  # from (N, C, H, W) to (N, C, H + 1, W + 1)
    >>> boxes = torch.tensor([[0, 0, 50, 40], [10, 5, 20, 9]])  # (K, 4) or (N, K, 4); corners may be real, and learned
    >>> sums = bt.box_sum(table, boxes)
    >>> soft = bt.box_filter(images, 31)  # in a time that does not depend on the window

All functions work on the last two axes, on CPUs and CUDA devices, under ``torch.compile``
and ``vmap``. They are also registered as operators in ``torch.ops.boxsum``.
:class:`BoxConv2d` and :class:`LocalNorm` are modules.
"""

from __future__ import annotations

import itertools
import math
from functools import cache, partial
from typing import Any, Optional, Sequence, Union

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _batch, _cuda, _native
from ._arguments import UPRIGHT
from ._core import queue
from ._foreign import _torch_cuda, describe, repeat
from ._host import batches
from ._native import LayoutError, call, flat_array

__all__ = ["BoxConv2d", "LocalNorm", "avg_pool", "box_filter", "box_mean", "box_sum", "integral", "lncc", "local_norm", "ssim"]


def __dir__() -> list[str]:
    return __all__


_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_PLANES = (-2, -1)
_LEAST = 1e-5  # variance, times the number of pixels, that a correlation divides by
_LINE, _SECTOR = 256, 32  # alignment in bytes of table rows for fast device writes: of images, and of many planes


# --- Types, shapes, memory ---


def _check(x: Tensor, what: str = "images") -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{what} must be a tensor, not {type(x).__name__}")
    if x.is_nested:
        raise TypeError(f"{what} must be a tensor of shape (..., H, W), not a nested tensor")
    if x.dim() < 2:
        raise ValueError(f"{what} must have shape (..., H, W), got {tuple(x.shape)}")
    if x.device.type not in ("cpu", "cuda", "meta"):
        raise ValueError(f"{what} must be on a CPU or CUDA device, got {x.device}")
    if x.is_complex() or x.is_quantized or x.layout != torch.strided:
        raise TypeError(f"{what} must be dense and real, got {x.dtype} with layout {x.layout}")
    if x.is_floating_point() and x.dtype not in _FLOATS:
        raise TypeError(f"{what} must be integers or floats of 16 to 64 bits, got {x.dtype}")


def _check_table(table: Tensor) -> None:
    _check(table, "tables")
    if not table.is_floating_point() and table.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"tables must have type int32, int64 or float, as integral returns, got {table.dtype}")


def _sum_type(x: Tensor, dtype: Optional[torch.dtype]) -> torch.dtype:
    """Return the type of a tensor's sums: one that holds the sum of an image unless requested."""
    if dtype is None:
        if x.dtype in (torch.float16, torch.bfloat16):
            return torch.float32
        if x.is_floating_point():
            return x.dtype
        small = x.dtype in (torch.uint8, torch.bool) and x.shape[-1] * x.shape[-2] <= ((1 << 31) - 1) // 255
        return torch.int32 if small else torch.int64
    known = {torch.float32, torch.float64} if x.is_floating_point() else {torch.int32, torch.int64, torch.float32, torch.float64}
    if x.dtype == torch.float64:
        known = {torch.float64}
    if x.dtype not in (torch.uint8, torch.bool) and not x.is_floating_point():
        known = {torch.int64, torch.float64}
    if dtype not in known:
        raise TypeError(f"pixels of {x.dtype} have no sums of {dtype}, only {', '.join(sorted(str(d) for d in known))}")
    return dtype


def _table_like(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Allocate tables for a tensor; on a device their rows are aligned for fast writes."""
    height, width = x.shape[-2] + 1, x.shape[-1] + 1
    shape = (*x.shape[:-2], height, width)
    if x.device.type == "cpu":
        return torch.empty(shape, dtype=dtype, device=x.device)
    by_planes = _tensor_kernel(x, dtype)
    line = (_SECTOR if by_planes else _LINE) // dtype.itemsize
    row = (width + line - 1) // line * line
    strides, step = [row, 1], row * height
    for n in reversed(x.shape[:-2]):
        strides.insert(0, step)
        step = step * n
    if by_planes:
        return torch.empty_strided(shape, strides, dtype=dtype, device=x.device)
    return torch.empty(step + line, dtype=dtype, device=x.device).as_strided(shape, strides, line - 1)


# --- Calls of the library ---


def _array(x: Tensor) -> np.ndarray:
    x = x.detach()
    return (x.float() if x.dtype == torch.bfloat16 else x).numpy(force=False)


def _rows(x: Tensor) -> Tensor:
    """Return a tensor whose rows have a supported layout: itself, or a contiguous copy."""
    good = x.stride(-1) == 1 or x.shape[-1] <= 1
    good = good and (x.shape[-2] <= 1 or x.stride(-2) >= x.shape[-1])
    return x if good else x.contiguous()


def _planes(x: Tensor) -> Optional[tuple[int, int]]:
    """Return the number of planes and the elements between them, or None if they are uneven."""
    count, step = 1, 0
    for n, stride in zip(reversed(x.shape[:-2]), reversed(x.stride()[:-2])):
        if n == 1:
            continue
        if count == 1:
            step = stride
        elif stride != count * step:
            return None
        count *= n
    least = (x.shape[-2] - 1) * x.stride(-2) + x.shape[-1] if x.shape[-2] else 0
    return None if count > 1 and step < least else (count, step or x.shape[-2] * max(x.stride(-2), x.shape[-1]))


def _flat(x: Tensor, count: int, step: int) -> bytes:
    item = x.element_size()
    kind = _BRAIN if x.dtype == torch.bfloat16 else _torch_cuda.numpy_type(torch.uint8 if x.dtype == torch.bool else x.dtype)
    row = x.stride(-2) if x.shape[-2] > 1 else x.shape[-1]
    return flat_array(x.data_ptr(), (count, *x.shape[-2:]), (step * item, row * item, item), kind)


_BRAIN = np.dtype("V2")  # NumPy has no bfloat16
_PLANES_OF, _TABLE, _SUFFIX, _WINDOW = 8, 16, 17, 18  # kinds of work, numbered as in the library
_UNITS = 132  # multiprocessors of an H200
_HIGH = 64  # minimum rows of a band
_SMALL = 1 << 19  # pixels that take no longer to process than to launch
_WIDEST = 512  # widest window that the library sums on a device
_plans: dict[Any, int] = _torch_cuda._plans


def _by_planes(planes: int, height: int, width: int) -> bool:
    """Report whether planes are so many or so small that each takes a few multiprocessors."""
    return height * width <= 1 << 16 or planes >= 6


def _band(x: Tensor) -> int:
    """Return the rows of a band if few large planes are split into bands, otherwise 0."""
    planes, (height, width) = math.prod(x.shape[:-2]), x.shape[-2:]
    return 0 if _by_planes(planes, height, width) or height <= _HIGH else max(_HIGH, -(-height * planes // (4 * _UNITS)))


@cache
def _goes_down(device: Optional[int]) -> bool:
    """Report whether a device has the kernels that go down planes."""
    return not torch.cuda.is_available() or torch.cuda.get_device_capability(device)[0] == 9


# How to repeat work for tensors of the same description: plan, recipe, and a function that allocates the result.
_ready = _torch_cuda.ready
_MOST_READY = 1024


def _queue(x: Tensor, out: Tensor, kind: int, *more: Any) -> tuple[int, Optional[bytes]]:
    """Queue work on the current stream; return its plan, and a recipe if there is one."""
    key = (kind, x.dtype, x.shape, x.stride(), out.dtype, out.shape, out.stride(), x.get_device(), *more)
    stream = _torch_cuda.stream(x)
    while True:
        plan = _plans.get(key) if _cuda._planned is _native.loaded else None
        if plan is None:
            one, other = _planes(x), _planes(out)
            if one is None or other is None:
                raise LayoutError("planes must be evenly spaced in memory")
            plan = _torch_cuda.plan(key, _flat(x, *one), _flat(out, *other), _torch_cuda.number(x.get_device()), kind, *more)
        try:
            queue(plan, x.data_ptr(), out.data_ptr(), stream)
            text = call("recipe", plan, x.data_ptr(), out.data_ptr())
            return plan, bytes.fromhex(text) if text else None
        except LayoutError:  # dropped meanwhile, as other threads made many plans
            with _cuda._planning:
                if _plans.get(key) == plan:
                    del _plans[key]


def _again(number: int, x: Tensor) -> Optional[Tensor]:
    """Repeat work done before for tensors of this description, or return None."""
    try:
        return repeat(_ready, number, x)
    except LayoutError:  # the plan was dropped
        return None


def _remember(number: int, x: Tensor, out: Tensor, plan: int, recipe: Optional[bytes]) -> None:
    key = describe(number, x)
    if key is None:
        return
    if len(_ready) >= _MOST_READY:
        _ready.clear()
    shape, strides, begin = tuple(out.shape), out.stride(), out.storage_offset()
    if begin:
        make = partial(torch.empty, out.untyped_storage().nbytes() // out.element_size(), dtype=out.dtype, device=out.device)
        _ready[key] = plan, recipe, lambda: make().as_strided(shape, strides, begin)
    else:
        _ready[key] = plan, recipe, partial(torch.empty_strided, shape, strides, dtype=out.dtype, device=out.device)


def _evenly(x: Tensor) -> Tensor:
    """Return a tensor whose planes are evenly spaced: itself, or a contiguous copy."""
    x = _rows(x)
    return x if _planes(x) is not None else x.contiguous()


def _pixels(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a tensor on a device in a type that kernels accept for such sums."""
    if x.dtype in (torch.float16, torch.bfloat16):
        return x
    if x.dtype == torch.int8:
        return x.to(torch.int16)
    if not x.is_floating_point() and dtype.is_floating_point and x.dtype not in (torch.uint8, torch.bool):
        return x.to(torch.float64)
    if x.dtype == torch.int64:
        raise TypeError("pixels of torch.int64 are not supported on a device (use .to(torch.int32), or dtype=torch.float64)")
    return x


def _tensor_kernel(x: Tensor, dtype: torch.dtype) -> bool:
    """Report whether to use the kernels for many planes of floats.

    The kernels for images take longer to launch. They are faster if planes are wide, or if
    few of the blocks that run at once have a plane.
    """
    planes, (height, width) = math.prod(x.shape[:-2]), x.shape[-2:]
    if x.dtype in (torch.float16, torch.bfloat16):
        return True  # the kernels for images do not support these types
    if x.dtype != dtype or not x.is_floating_point():
        return False
    if width <= 1024 and planes * width * height <= _SMALL:
        return True
    if dtype != torch.float32 or width > 512 or not _goes_down(x.device.index):
        return False
    if width <= 128:
        return planes >= 128
    at_once = _UNITS * (2 if width <= 256 else 1)
    return planes >= 0.7 * at_once * -(-planes // at_once)


def _fill_cuda(x: Tensor, out: Tensor) -> Optional[tuple[int, Optional[bytes]]]:
    """Compute tables on a device; return plan and recipe if they apply to the tensor as it is."""
    pixels = _evenly(_pixels(x, out.dtype))
    if _tensor_kernel(x, out.dtype):
        high = _band(x)
        if high:  # the column sums above a band are written where it begins
            above = pixels[..., : (x.shape[-2] - 1) // high * high, :].unflatten(-2, (-1, high)).sum(-2, dtype=out.dtype).cumsum(-2)
            out[..., 1 + high :: high, 1:][..., : above.shape[-2], :] = above
        found = _queue(pixels, out, _TABLE, int(out.storage_offset() == 0), high)  # only memory allocated here begins with the table
        if high:
            return None
    else:
        found = _queue(pixels, out, UPRIGHT | _PLANES_OF)
    return found if pixels is x else None


def _integral_into(x: Tensor, out: Tensor) -> Optional[tuple[int, Optional[bytes]]]:
    if out.numel() == 0:
        return None
    if x.numel() == 0:
        out.zero_()
    elif x.device.type == "cuda":
        return _fill_cuda(x, out)
    else:
        target = out.numpy()
        batches(_array(_rows(x)), UPRIGHT, target.dtype, False, False, target, None, None, _PLANES)
    return None


# --- Operators ---
#
# PyTorch's dispatcher calls these functions directly. Work done before for tensors of the same sizes, strides and types is launched
# again with as little overhead as possible.

_INTEGRALS: dict[Any, int] = {None: 0, torch.int32: 1, torch.int64: 2, torch.float32: 3, torch.float64: 4}  # keys in _ready
_SUFFIXES, _WINDOWS = 8, 16
_windows: dict[tuple[Any, ...], int] = {}  # unique numbers of the windows requested so far
_numbers = itertools.count(_WINDOWS)


def _integral(x: Tensor, dtype: Optional[torch.dtype] = None) -> Tensor:
    number = _INTEGRALS.get(dtype, -1)
    out = _again(number, x)
    if out is None:
        _check(x)
        out = _table_like(x, _sum_type(x, dtype))
        found = _integral_into(x, out)
        if found is not None:
            _remember(number, x, out, *found)
    return out


def _integral_fake(x: Tensor, dtype: Optional[torch.dtype] = None) -> Tensor:
    _check(x)
    return _table_like(x, _sum_type(x, dtype))


def _suffix(x: Tensor) -> Tensor:
    """Return the sum at and after each place, to the right and below; the shape is kept."""
    out = _again(_SUFFIXES, x)
    if out is not None:
        return out
    out = _suffix_fake(x)
    if x.numel() == 0:
        return out
    if x.device.type == "cpu":
        x = _rows(x)
        array = _array(x)
        _batch.run(array.ndim - 2, 2, "suffix", array, out.numpy(), 0)
    elif x.dtype in (torch.float32, torch.float64):
        pixels, high = _evenly(x), _band(x)
        if high:
            height = x.shape[-2]
            rest = (height - 1) // high * high
            below = pixels[..., height - rest :, :].unflatten(-2, (-1, high)).sum(-2).flip(-2).cumsum(-2).flip(-2)
            out[..., height - 1 - rest : height - high : high, :] = below
        found = _queue(pixels, out, _SUFFIX, high)
        if pixels is x and not high:
            _remember(_SUFFIXES, x, out, *found)
    else:
        table = _table_like(x, _sum_type(x, None))
        _integral_into(x.flip(_PLANES), table)
        out.copy_(table[..., 1:, 1:].flip(_PLANES))
    return out


def _suffix_fake(x: Tensor) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def _cut(size: int, before: int, length: int, places: int) -> tuple[int, int]:
    """Return the length of windows along an axis and their offset, without parts that are always outside."""
    near = min(before, places - 1)
    return min(size - (before - near), near + length), near


def _number(window: tuple[Any, ...]) -> int:
    with _cuda._planning:
        if len(_windows) >= _MOST_READY:
            _windows.clear()
            _ready.clear()
        if window not in _windows:
            _windows[window] = next(_numbers)
        return _windows[window]


def _window(x: Tensor, height: int, width: int, top: int, left: int, rows: int, columns: int, factor: float, clip: bool = False) -> Tensor:
    """Return the sums of windows with zeros outside, times a factor.

    The window of (y, x) begins at (y - top, x - left). With `clip`, each sum is divided by
    the number of its pixels inside the image instead.
    """
    window = (height, width, top, left, rows, columns, factor, clip)
    number = _windows.get(window, -1)
    if number >= 0:
        out = _again(number, x)
        if out is not None:
            return out
    out = _window_fake(x, *window)
    if out.numel() == 0:
        return out
    size = x.shape[-2:]
    width, left = _cut(width, left, size[1], columns)
    height, top = _cut(height, top, size[0], rows)
    if width <= 0 or height <= 0 or x.numel() == 0:
        return out.zero_()
    if x.device.type == "cuda" and width <= _WIDEST:
        pixels = _evenly(x)
        found = _queue(pixels, out, _WINDOW, width, height, left, top, float(factor), int(clip))
        if pixels is x:
            _remember(_number(window), x, out, *found)
        return out
    # On a CPU, or as several windows side by side, in a type that holds the sums.
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype if x.device.type == "cpu" else torch.float64
    sums = torch.zeros(out.shape, dtype=wide, device=x.device)
    if x.device.type == "cpu":
        array = _array(_rows(x.to(wide)))
        _batch.run(array.ndim - 2, 7, "window", array, sums.numpy(), width, height, left, top, 1.0 if clip else factor, 0)
    else:
        for first in range(0, width, _WIDEST):
            sums += _window(x.to(wide), height, min(_WIDEST, width - first), top, left - first, rows, columns, 1.0 if clip else factor)
    if clip:
        sums /= _counts(rows, height, top, size[0], sums)[:, None] * _counts(columns, width, left, size[1], sums)
    return out.copy_(sums)


def _window_fake(x: Tensor, height: int, width: int, top: int, left: int, rows: int, columns: int, factor: float, clip: bool = False) -> Tensor:
    return torch.empty((*x.shape[:-2], rows, columns), dtype=x.dtype, device=x.device)


def _counts(places: int, size: int, before: int, length: int, like: Tensor) -> Tensor:
    """Return the number of pixels, at least 1, of a window inside the image at each place along an axis."""
    at = torch.arange(places, device=like.device) - before
    return ((at + size).clamp(max=length) - at.clamp(min=0)).clamp(min=1).to(like.dtype if like.dtype in (torch.float32, torch.float64) else torch.float32)


# The gradient of a table is a suffix sum and vice versa; that of a window is the window from the opposite corner.


def _keep_type(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.pixel, ctx.sum = inputs[0].dtype, output.dtype


def _integral_forward(ctx: Any, tangent: Tensor) -> Tensor:
    return integral_of(tangent, ctx.sum)


def _integral_backward(ctx: Any, grad: Tensor) -> Any:
    return suffix_of(grad[..., 1:, 1:]).to(ctx.pixel), None


def _suffix_forward(ctx: Any, tangent: Tensor) -> Tensor:
    return suffix_of(tangent)


def _suffix_backward(ctx: Any, grad: Tensor) -> Any:
    return integral_of(grad, grad.dtype if grad.dtype in (torch.float32, torch.float64) else None)[..., 1:, 1:].to(ctx.pixel)


def _keep_window(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, *window = inputs
    ctx.window = (*window, False)[:8]
    ctx.size = x.shape[-2:]


def _window_forward(ctx: Any, tangent: Tensor) -> Tensor:
    return window_of(tangent, *ctx.window)


def _window_backward(ctx: Any, grad: Tensor) -> Any:
    height, width, top, left, rows, columns, factor, clip = ctx.window
    wide = grad
    if clip:  # counts overflow 16-bit floats, and so do the sums
        wide, factor = _wide(grad), 1.0
        wide = wide / (_counts(rows, height, top, ctx.size[0], wide)[:, None] * _counts(columns, width, left, ctx.size[1], wide))
    back = window_of(wide, height, width, height - 1 - top, width - 1 - left, *ctx.size, factor, False).to(grad.dtype)
    return back, None, None, None, None, None, None, None, None


def _over_batch(operator: Any) -> Any:
    """Return a vmap rule that adds the mapped axis to the leading axes."""

    def rule(info: Any, in_dims: tuple[Any, ...], x: Tensor, *rest: Any) -> tuple[Tensor, int]:
        return operator(x.movedim(in_dims[0], 0), *rest), 0

    return rule


def _transformed() -> bool:
    """Report whether a torch.func transform is active; compilers handle these themselves."""
    return not torch.compiler.is_compiling() and torch._C._functorch.peek_interpreter_stack() is not None


def _plain(x: Tensor) -> bool:
    """Report whether a call may go straight to the library.

    It may not under a transform or a mode, or for tensor subclasses, batched gradients
    (``is_grads_batched``), meta tensors and lazy negation.
    """
    return type(x) in _TENSORS and _transform() is None and _modes() == 0 and not x.is_neg() and not x.is_meta and not _batched(x)


def _followed(x: Tensor) -> bool:
    """Report whether PyTorch must record what becomes of a tensor: for gradients or forward-mode AD."""
    return x.requires_grad and torch.is_grad_enabled() or forward_ad._current_level >= 0


_TENSORS = (Tensor, torch.nn.Parameter)
_transform, _modes = torch._C._functorch.peek_interpreter_stack, torch._C._len_torch_dispatch_stack
_batched = torch._C._functorch.is_legacy_batchedtensor
_library = torch.library.Library("boxsum", "FRAGMENT")


def _operator(schema: str, run: Any, fake: Any, context: Any, along: Any, backward: Any) -> Any:
    """Register an operator, and return a function that torch.func can differentiate and map."""
    name = schema.partition("(")[0]
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    for key in ("CPU", "CUDA"):
        _library.impl(name, run, key)
    operator = getattr(torch.ops.boxsum, name).default
    torch.library.register_fake(f"boxsum::{name}", fake, lib=_library)
    torch.library.register_vmap(f"boxsum::{name}", _over_batch(operator), lib=_library)
    torch.library.register_autograd(f"boxsum::{name}", backward, setup_context=context, lib=_library)

    class Mapped(torch.autograd.Function):  # for torch.func transforms
        forward = staticmethod(operator)
        setup_context = staticmethod(context)

        @staticmethod
        def jvp(ctx: Any, tangent: Tensor, *rest: Any) -> Tensor:
            return along(ctx, tangent)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], x: Tensor, *rest: Any) -> tuple[Tensor, int]:
            return Mapped.apply(x.movedim(in_dims[0], 0), *rest), 0

    class Plain(torch.autograd.Function):  # takes half the time
        @staticmethod
        def forward(ctx: Any, x: Tensor, *rest: Any) -> Tensor:
            out = run(x, *rest)
            context(ctx, (x, *rest), out)
            return out

        @staticmethod
        def jvp(ctx: Any, tangent: Tensor, *rest: Any) -> Tensor:
            return along(ctx, tangent)

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Any:
            found = backward(ctx, grad)
            return found[: len(ctx.needs_input_grad)] if isinstance(found, tuple) else found

    Mapped.backward = staticmethod(backward)  # type: ignore[method-assign]

    def function(x: Tensor, *rest: Any) -> Tensor:
        if torch.compiler.is_compiling():
            return operator(x, *rest)
        if _plain(x):
            return Plain.apply(x, *rest) if _followed(x) else run(x, *rest)
        return Mapped.apply(x, *rest) if _transformed() else operator(x, *rest)

    _hasten(name, operator, run, Plain, context, backward)
    return function


def _hasten(name: str, operator: Any, run: Any, function: Any, context: Any, backward: Any) -> None:
    """Let calls of the operator itself take the same short path, if PyTorch's internals are known."""
    try:
        from torch._library.autograd import Info, make_autograd_impl

        usual = make_autograd_impl(operator, Info(backward, context))
    except (ImportError, TypeError, AttributeError):
        return

    def kernel(keys: Any, x: Tensor, *rest: Any) -> Tensor:
        if not _plain(x):
            return usual(keys, x, *rest)
        return function.apply(x, *rest) if _followed(x) else run(x, *rest)

    for key in ("AutogradCPU", "AutogradCUDA"):
        _library.impl(name, kernel, key, with_keyset=True)


integral_of = _operator("integral(Tensor x, ScalarType? dtype=None) -> Tensor", _integral, _integral_fake, _keep_type, _integral_forward, _integral_backward)
suffix_of = _operator("suffix(Tensor x) -> Tensor", _suffix, _suffix_fake, _keep_type, _suffix_forward, _suffix_backward)
window_of = _operator(
    "window(Tensor x, SymInt height, SymInt width, SymInt top, SymInt left, SymInt rows, SymInt columns, float factor, bool clip=False) -> Tensor",
    _window, _window_fake, _keep_window, _window_forward, _window_backward,
)  # fmt: skip


def _composite(schema: str) -> Any:
    """Register a function composed of operators, which provide its gradients."""

    def register(function: Any) -> Any:
        _library.define(schema)
        _library.impl(schema.partition("(")[0], function, "CompositeImplicitAutograd")
        return function

    return register


def _spread(boxes: Tensor, table: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """Return boxes for each table of a batch, (lead, K, 4), and the shape of the answer for one."""
    if boxes.dim() == 0 or boxes.shape[-1] != 4:
        raise ValueError(f"boxes must have four numbers along the last axis (x0, y0, x1, y1), got shape {tuple(boxes.shape)}")
    leading, own, each = table.shape[:-2], boxes.shape[:-2], boxes.shape[-2:-1]
    if len(own) > len(leading) or any(n not in (1, m) for n, m in zip(own, leading)):
        raise ValueError(f"boxes must have shape (K, 4) or (leading axes of the tables, K, 4), got {tuple(boxes.shape)} for tables of shape {tuple(table.shape)}")
    if boxes.device != table.device:
        raise ValueError(f"boxes and tables must be on the same device, got {boxes.device} and {table.device}")
    flat = boxes.reshape(*own, *(1,) * (len(leading) - len(own)), math.prod(each), 4)
    return flat.expand(*leading, *flat.shape[-2:]), tuple(each)


def _corners(table: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sums of boxes (B, K, 4) of tables (B, H + 1, W + 1), and their areas."""
    height, width = table.shape[-2] - 1, table.shape[-1] - 1
    real = boxes.is_floating_point()
    if real:
        boxes = boxes.to(torch.promote_types(boxes.dtype, table.dtype) if table.is_floating_point() else torch.float64)
    else:
        boxes = boxes.long()
    x0, y0, x1, y1 = boxes.unbind(-1)
    x0, y0 = x0.clamp(0, width), y0.clamp(0, height)
    x1, y1 = torch.maximum(x1.clamp(0, width), x0), torch.maximum(y1.clamp(0, height), y0)
    image = torch.arange(table.shape[0], device=table.device)[:, None]
    area = (x1 - x0) * (y1 - y0)
    if not real:
        return table[image, y1, x1] - table[image, y1, x0] - table[image, y0, x1] + table[image, y0, x0], area
    if not table.is_floating_point():
        table = table.double()

    def parts(at: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor]:
        low = at.detach().nan_to_num(0.0).floor().clamp(max=max(most - 1, 0)).long()  # a NaN corner makes the sum NaN
        return low, (low + 1).clamp(max=most), at - low

    def entry(y: Tensor, x: Tensor) -> Tensor:
        (top, bottom, v), (left, right, u) = parts(y, height), parts(x, width)
        above = table[image, top, left] * (1 - u) + table[image, top, right] * u
        below = table[image, bottom, left] * (1 - u) + table[image, bottom, right] * u
        return above * (1 - v) + below * v

    return entry(y1, x1) - entry(y1, x0) - entry(y0, x1) + entry(y0, x0), area


_ROOM = (1 << 31) - 1


def _wrapped(table: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Return sums and areas of boxes of 8-bit pixels in int32 tables that may have wrapped.

    Boxes are summed in parts that 32 bits hold.
    """
    if boxes.is_floating_point():
        raise ValueError("boxes must be integers for tables of int32, whose sums may have wrapped (or make the tables with dtype=torch.int64)")
    height, width = table.shape[-2] - 1, table.shape[-1] - 1
    x0, y0, x1, y1 = boxes.long().unbind(-1)
    y0, y1 = y0.clamp(0, height), y1.clamp(0, height)
    count = math.ceil(height / max(1, 2 * _ROOM // 255 // max(width, 1)))
    edges = [y0 + (y1 - y0).clamp(min=0) * k // count for k in range(count + 1)]
    parts = [_corners(table, torch.stack([x0, top, x1, bottom], -1)) for top, bottom in zip(edges, edges[1:])]
    return sum((s.long() & 0xFFFFFFFF for s, _ in parts), torch.zeros_like(x0)), sum((a for _, a in parts), torch.zeros_like(x0))


def _ask(table: Tensor, boxes: Tensor, mean: bool) -> Tensor:
    _check_table(table)
    if boxes.is_complex() or boxes.dtype == torch.bool:
        raise TypeError(f"boxes must be integers or floats, got {boxes.dtype}")
    if boxes.dtype == torch.uint64:  # coordinates of more than 63 bits lie outside every image
        boxes = torch.where(boxes.long() < 0, 1 << 62, boxes.long())
    if 0 in table.shape[-2:]:
        raise ValueError(f"tables must have at least a row and a column of zeros, as integral returns them, got shape {tuple(table.shape)}")
    spread, each = _spread(boxes, table)
    leading = table.shape[:-2]
    one = table.reshape(math.prod(leading), *table.shape[-2:])
    flat = spread.reshape(math.prod(leading), *spread.shape[-2:])
    if mean and table.dtype == torch.int32 and (table.shape[-2] - 1) * (table.shape[-1] - 1) > _ROOM // 255:
        sums, area = _wrapped(one, flat)
    else:
        sums, area = _corners(one, flat)
    if mean:
        sums = sums if sums.is_floating_point() else sums.double()
        sums = torch.where(~(area <= 0), sums / area.clamp(min=torch.finfo(area.dtype).tiny if area.is_floating_point() else 1), torch.zeros_like(sums))
    return sums.reshape(*leading, *each)


@_composite("box_sum(Tensor table, Tensor boxes) -> Tensor")
def _box_sum(table: Tensor, boxes: Tensor) -> Tensor:
    return _ask(table, boxes, False)


@_composite("box_mean(Tensor table, Tensor boxes) -> Tensor")
def _box_mean(table: Tensor, boxes: Tensor) -> Tensor:
    return _ask(table, boxes, True)


_BORDERS = ("clip", "constant", "reflect101", "reflect", "replicate", "wrap")


def _places(length: int, before: int, after: int, border: str, device: torch.device) -> Tensor:
    """Return the row or column of an image at each place, from `before` it to `after` it."""
    at = torch.arange(-before, length + after, device=device)
    if border == "replicate":
        return at.clamp(0, length - 1)
    if border == "wrap":
        return at % length
    once = 0 if border == "reflect" else 1
    period = max(2 * (length - once), 1)
    at = at % period
    return torch.where(at < length, at, period - at - (1 - once)).clamp(0, length - 1)


def _wide(x: Tensor) -> Tensor:
    """Return a tensor of a type that holds sums, which soon overflow 16-bit floats."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


@_composite("box_filter(Tensor x, int width, int height, str border='clip', bool mean=True) -> Tensor")
def _box_filter(x: Tensor, width: int, height: int, border: str = "clip", mean: bool = True) -> Tensor:
    top, left, (rows, columns) = height // 2, width // 2, x.shape[-2:]
    factor = 1 / (width * height) if mean else 1.0
    if border in ("clip", "constant") or x.numel() == 0:
        clip = border == "clip" and mean
        return window_of(x, height, width, top, left, rows, columns, 1.0 if clip else factor, clip)
    x = x.index_select(-2, _places(rows, top, height - 1 - top, border, x.device)).index_select(-1, _places(columns, left, width - 1 - left, border, x.device))
    return window_of(x, height, width, 0, 0, rows, columns, factor, False)


@_composite("local_norm(Tensor x, int width, int height, float eps=1e-5) -> Tensor")
def _local_norm(x: Tensor, width: int, height: int, eps: float = 1e-5) -> Tensor:
    wide = _wide(x)
    # Subtract the mean of the finite pixels first: squares of large offsets would lose digits. A NaN affects only its own windows.
    still = wide.detach()
    finite = still.isfinite()
    base = still.where(finite, 0).sum(_PLANES, keepdim=True) / finite.sum(_PLANES, keepdim=True).clamp(min=1)
    centered = wide - base.nan_to_num(0, 0, 0)
    mean = _box_filter(centered, width, height)
    variance = (_box_filter(centered * centered, width, height) - mean * mean).clamp(min=0)
    return ((centered - mean) * torch.rsqrt(variance + eps)).to(x.dtype)


@_composite(
    "avg_pool(Tensor x, int[2] kernel_size, int[2] stride, int[2] padding, bool count_include_pad=True, bool ceil_mode=False, int? divisor_override=None) -> Tensor"
)
def _avg_pool(
    x: Tensor, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], count_include_pad: bool = True,
    ceil_mode: bool = False, divisor_override: Optional[int] = None,
) -> Tensor:  # fmt: skip
    (height, width), (top, left) = kernel_size, padding
    last = []  # start of the last window
    for n, k, p, s in zip(x.shape[-2:], kernel_size, padding, stride):
        at = (n + 2 * p - k + (s - 1 if ceil_mode else 0)) // s * s  # the last may end beyond the padding,
        if ceil_mode and at >= n + p:  # and must not begin there
            at -= s
        if at < 0:
            raise ValueError(f"a window of {height}×{width} is larger than images of shape {tuple(x.shape)} with padding {tuple(padding)}")
        last.append(at)
    rows, columns = last[0] + 1, last[1] + 1
    clip = not count_include_pad and divisor_override is None
    factor = 1.0 if clip else 1 / (divisor_override or height * width)
    means = window_of(x, height, width, top, left, rows, columns, factor, clip)[..., :: stride[0], :: stride[1]]
    if not ceil_mode or clip or divisor_override is not None:
        return means
    # Padding counts; what lies beyond it does not.
    parts = []
    for n, k, p, s, at in zip(x.shape[-2:], kernel_size, padding, stride, last):
        begin = torch.arange(0, at + 1, s, device=x.device)
        parts.append(k / (begin + k).clamp(max=n + 2 * p).sub(begin).to(_wide(x).dtype))
    return (means * (parts[0][:, None] * parts[1])).to(x.dtype)


# --- Public functions ---


def _through(function: Any, x: Tensor) -> Any:
    """Return the registered operator for compilers and modes, and the function itself otherwise.

    Transforms have no rules for composite operators, but for what they are made of.
    """
    if torch.compiler.is_compiling() or not _plain(x) and not _transformed():
        return getattr(torch.ops.boxsum, function.__name__[1:])
    return function


def integral(x: Tensor, *, dtype: Optional[torch.dtype] = None) -> Tensor:
    """Compute the summed-area tables of a batch of images.

    Entry ``[..., i, j]`` is the sum of ``x[..., :i, :j]``. Gradients of any order are
    computed from tables as well.

    Parameters
    ----------
    x : Tensor, shape (..., H, W)
        Input images.
    dtype : torch.dtype, optional
        Type of the sums. The default is the type of `x` for float32 and float64, float32
        for float16 and bfloat16, int64 for integers, and int32 for uint8 and bool images
        whose sum fits. For small boxes of large images, use ``torch.float64``; see
        :func:`box_sum`.

    Returns
    -------
    table : Tensor, shape (..., H + 1, W + 1)
        The tables. On a CUDA device there are gaps between the rows, so the tensor is not
        contiguous.

    Raises
    ------
    TypeError
        If `x` is not a dense tensor of real numbers, or has no sums of type `dtype`.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> x = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    >>> bt.integral(x).tolist()
    [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0], [0.0, 3.0, 8.0, 15.0]]
    """
    if type(x) not in _TENSORS:
        _check(x)
    return integral_of(x, dtype)


def box_sum(table: Tensor, boxes: Any) -> Tensor:
    """Sum the pixels of boxes.

    Parameters
    ----------
    table : Tensor, shape (..., H + 1, W + 1)
        Tables from :func:`integral`.
    boxes : Tensor or array_like, shape (K, 4) or (N, K, 4)
        Boxes ``x0, y0, x1, y1``, clipped to the image. With shape (N, K, 4), each image
        along the first axis of the tables has its own boxes. Floating-point corners are
        interpolated bilinearly between table entries, so that half a pixel counts half.

    Returns
    -------
    sums : Tensor, shape (..., K)
        The sums. They have gradients with respect to the table and to floating-point
        corners. A box with a NaN corner has sum NaN.

    Raises
    ------
    TypeError
        If boxes or tables are of a type that is not supported.
    ValueError
        If boxes do not have four numbers, are on another device, or if there are not as
        many groups of boxes as images.

    Notes
    -----
    With integer tables and boxes, sums are exact. With floats, a sum is the difference of
    large ones: in float32 its error may reach 2^-22 of the largest table entry at its
    corners, and in tables of ``dtype=torch.float64`` 2^-51 of it.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> table = bt.integral(torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    >>> bt.box_sum(table, [[0, 0, 3, 2], [0.5, 0, 1.5, 1]]).tolist()
    [15.0, 0.5]
    """
    _check_table(table)
    return _through(_box_sum, table)(table, boxes if isinstance(boxes, Tensor) else torch.as_tensor(boxes, device=table.device))


def box_mean(table: Tensor, boxes: Any) -> Tensor:
    """Return the mean of the pixels of boxes, or 0 for empty boxes.

    Parameters
    ----------
    table, boxes
        As for :func:`box_sum`.

    Returns
    -------
    means : Tensor, shape (..., K)
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
    >>> import torch, boxsum.torch as bt
    >>> table = bt.integral(torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    >>> bt.box_mean(table, [[0, 0, 3, 2]]).tolist()
    [2.5]
    """
    _check_table(table)
    return _through(_box_mean, table)(table, boxes if isinstance(boxes, Tensor) else torch.as_tensor(boxes, device=table.device))


def _floats(x: Tensor, name: str) -> None:
    _check(x)
    if x.dtype not in _FLOATS:
        raise TypeError(f"input of {name} must be floating-point, got {x.dtype} (use .float())")


def _sides(size: Any, name: str, least: int = 1) -> tuple[int, int]:
    pair = tuple(size) if isinstance(size, (Sequence, np.ndarray)) else (size, size)
    pair = tuple(int(n) if isinstance(n, np.integer) else n for n in pair) * (2 if len(pair) == 1 else 1)
    if len(pair) != 2 or any(not isinstance(n, int) for n in pair):
        raise TypeError(f"{name} must be one or two integers, got {size!r}")
    if min(pair) < least:
        raise ValueError(f"{name} must be at least {least}, got {size!r}")
    return pair  # type: ignore[return-value]


def box_filter(x: Tensor, window: Union[int, Sequence[int]], *, border: str = "clip", mean: bool = True) -> Tensor:
    """Compute the mean or the sum of the window around every pixel.

    Parameters
    ----------
    x : Tensor, shape (..., H, W)
        Input images, of a floating-point type.
    window : int or sequence of int
        Side of the window in pixels, or its width and height. Windows of even size extend
        one pixel further to the left and up.
    border : str, default "clip"
        Values outside the image: ``"clip"`` for none, ``"constant"`` for zeros, or
        ``"reflect101"``, ``"reflect"``, ``"replicate"`` or ``"wrap"``, which copy the image
        first.
    mean : bool, default True
        Compute means; False computes sums.

    Returns
    -------
    filtered : Tensor, shape (..., H, W)
        The means or sums, of the type of `x`.

    Raises
    ------
    TypeError
        If `x` does not hold floats.
    ValueError
        If `border` is unknown or the window is smaller than one pixel.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> x = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    >>> bt.box_filter(x, 3).tolist()
    [[2.0, 2.5, 3.0], [2.0, 2.5, 3.0]]
    >>> bt.box_filter(x, 3, border="constant", mean=False).tolist()
    [[8.0, 15.0, 12.0], [8.0, 15.0, 12.0]]
    """
    _floats(x, "a filter")
    if border not in _BORDERS:
        raise ValueError(f"border must be one of {', '.join(_BORDERS)}, got {border!r}")
    return _through(_box_filter, x)(x, *_sides(window, "window"), border, mean)


def local_norm(x: Tensor, window: Union[int, Sequence[int]], *, eps: float = 1e-5) -> Tensor:
    """Normalize local contrast: ``(x - mean) / sqrt(variance + eps)``.

    The mean and variance are those of the window around every pixel, clipped to the image.

    Parameters
    ----------
    x : Tensor, shape (..., H, W)
        Input images, of a floating-point type.
    window : int or sequence of int
        Side of the window in pixels, or its width and height.
    eps : float, default 1e-05
        Added to the variance, to avoid division by zero.

    Returns
    -------
    normalized : Tensor, shape (..., H, W)
        The normalized images, of the type of `x`.

    Raises
    ------
    TypeError
        If `x` does not hold floats.
    ValueError
        If the window is smaller than one pixel.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> bt.local_norm(torch.ones(1, 4, 4), 3).abs().max().item()  # nothing stands out
    0.0
    """
    _floats(x, "local_norm")
    return _through(_local_norm, x)(x, *_sides(window, "window"), eps)


def avg_pool(
    x: Tensor, kernel_size: Union[int, Sequence[int]], stride: Union[int, Sequence[int], None] = None,
    padding: Union[int, Sequence[int]] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Optional[int] = None,
) -> Tensor:  # fmt: skip
    """Compute average pooling, in a time that does not depend on the window.

    Parameters
    ----------
    x : Tensor, shape (..., H, W)
        Input images, of a floating-point type.
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As for ``torch.nn.functional.avg_pool2d``. Pairs are given as height and width.

    Returns
    -------
    pooled : Tensor
        The pooled images, of the type of `x`.

    Raises
    ------
    TypeError
        If `x` does not hold floats.
    ValueError
        If the padding is more than half of the window, or the window is larger than the
        padded images.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> bt.avg_pool(torch.arange(16.0).reshape(1, 4, 4), 2).tolist()
    [[[2.5, 4.5], [10.5, 12.5]]]
    """
    _floats(x, "avg_pool")
    size = _sides(kernel_size, "kernel_size")
    pads = _sides(padding, "padding", 0)
    if any(2 * p > k for p, k in zip(pads, size)):
        raise ValueError(f"padding must be at most half of the window, {kernel_size!r}, got {padding!r}")
    if divisor_override is not None and (not isinstance(divisor_override, int) or divisor_override == 0):
        raise ValueError(f"divisor_override must be an integer other than 0, got {divisor_override!r}")
    steps = size if stride is None or isinstance(stride, Sequence) and not stride else _sides(stride, "stride")
    return _through(_avg_pool, x)(x, size, steps, pads, bool(count_include_pad), bool(ceil_mode), divisor_override)


# --- Modules ---


def _pair(x: Tensor, y: Tensor, window: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return two images less the means of their pixels, and these, which have no gradients."""
    _floats(x, "a comparison")
    _floats(y, "a comparison")
    if x.shape != y.shape:
        raise ValueError(f"images must have the same shape, got {x.shape} and {y.shape}")
    if not isinstance(window, (int, np.integer)) or window < 1 or window % 2 == 0:
        raise ValueError(f"window must be an odd number, got {window!r}")
    wide = torch.promote_types(torch.promote_types(x.dtype, y.dtype), torch.float32)
    x, y = x.to(wide), y.to(wide)
    cx, cy = (v.detach().mean(_PLANES, keepdim=True) for v in (x, y))
    return x - cx, y - cy, cx, cy


def ssim(x: Tensor, y: Tensor, *, data_range: float, window: int = 7, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    """Compute the structural similarity of images, with gradients: ``1 - ssim(x, y, ...)`` is a loss.

    The value is that of :func:`boxsum.ssim` for images of one channel, with sample covariances:
    the mean over all windows that lie within the image.

    Parameters
    ----------
    x, y : Tensor, shape (..., H, W)
        Images of the same shape, of a floating-point type.
    data_range : float
        Difference between the greatest and the smallest possible pixel.
    window : int, default 7
        Side of the window, an odd number of 3 or more.
    k1, k2 : float, default 0.01 and 0.03
        Constants of SSIM.

    Returns
    -------
    similarity : Tensor, shape (...)
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
    >>> import torch, boxsum.torch as bt
    >>> x = torch.arange(400.0).reshape(20, 20) / 400
    >>> round(bt.ssim(x, x, data_range=1).item(), 4)
    1.0
    >>> y = (x + 0.1).requires_grad_()
    >>> (1 - bt.ssim(x, y, data_range=1)).backward()
    >>> y.grad.shape
    torch.Size([20, 20])
    """
    x, y, cx, cy = _pair(x, y, window)
    if window < 3 or window > min(x.shape[-2:]):
        raise ValueError(f"window must be from 3 to {min(x.shape[-2:])}, the smallest side of the images, got {window}")
    if not data_range > 0:
        raise ValueError(f"data_range must be greater than 0, got {data_range!r}")
    edge = window // 2

    def mean(v: Tensor) -> Tensor:
        return box_filter(v, window, border="constant")[..., edge : v.shape[-2] - edge, edge : v.shape[-1] - edge]

    sample = window**2 / (window**2 - 1)
    mx, my = mean(x), mean(y)
    covariance, variances = sample * (mean(x * y) - mx * my), sample * (mean(x * x + y * y) - mx * mx - my * my)
    ux, uy, c1, c2 = mx + cx, my + cy, (k1 * data_range) ** 2, (k2 * data_range) ** 2
    similar = (2 * ux * uy + c1) * (2 * covariance + c2) / ((ux * ux + uy * uy + c1) * (variances + c2))
    return similar.mean(_PLANES)


def lncc(x: Tensor, y: Tensor, *, window: int = 9) -> Tensor:
    """Compute the local correlation of images, with gradients: ``1 - lncc(x, y)`` is a loss.

    The value is that of :func:`boxsum.lncc` for images of one channel, as in VoxelMorph: the mean
    of squared correlations in the windows around all pixels, where negative correlations count as
    0. Pixels outside the image are zeros.

    Parameters
    ----------
    x, y : Tensor, shape (..., H, W)
        Images of the same shape, of a floating-point type.
    window : int, default 9
        Side of the window, an odd number.

    Returns
    -------
    correlation : Tensor, shape (...)
        The mean squared correlation of each pair of images.

    Raises
    ------
    TypeError
        If the images are not floats.
    ValueError
        If the shapes differ, or the window is even.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> x = torch.arange(400.0).reshape(20, 20) / 400
    >>> round(bt.lncc(x, x).item(), 3)
    1.0
    >>> y = (x * x).requires_grad_()
    >>> (1 - bt.lncc(x, y)).backward()
    >>> y.grad.shape
    torch.Size([20, 20])
    """
    x, y, cx, cy = _pair(x, y, window)
    rows, columns = (_counts(length, window, window // 2, length, x) for length in x.shape[-2:])
    area, count = window**2, rows[:, None] * columns
    outside = 1 - count / area  # the share of a window beyond the image

    def total(v: Tensor) -> Tensor:
        return box_filter(v, window, border="constant", mean=False)

    sx, sy = total(x), total(y)
    # Sums of products of the pixels themselves, which are zero beyond the image, less those of their means.
    cross = total(x * y) - sx * sy / area + (cx * sy + cy * sx + cx * cy * count) * outside
    ax = total(x * x) - sx * sx / area + (2 * cx * sx + cx * cx * count) * outside
    ay = total(y * y) - sy * sy / area + (2 * cy * sy + cy * cy * count) * outside
    cross, ax, ay = (v.clamp(min=_LEAST) for v in (cross, ax, ay))
    return ((cross / ax) * (cross / ay)).mean(_PLANES)


class LocalNorm(torch.nn.Module):
    """A layer that applies :func:`local_norm`, with an optional weight and bias per channel.

    Parameters
    ----------
    window : int or sequence of int
        Side of the window in pixels, or its width and height.
    channels : int, optional
        Number of channels C of (N, C, H, W) inputs, each of which then has a learned weight
        and bias.
    eps : float, default 1e-05
        Added to the variance, to avoid division by zero.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> layer = bt.LocalNorm(15, channels=3)
    >>> layer(torch.rand(2, 3, 32, 32)).shape
    torch.Size([2, 3, 32, 32])
    """

    def __init__(self, window: Union[int, Sequence[int]], channels: Optional[int] = None, eps: float = 1e-5) -> None:
        super().__init__()
        self.window, self.eps = _sides(window, "window"), eps
        self.weight = None if channels is None else torch.nn.Parameter(torch.ones(channels))
        self.bias = None if channels is None else torch.nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize a batch of images."""
        y = local_norm(x, self.window, eps=self.eps)
        if self.weight is None or self.bias is None:
            return y
        if x.dim() < 3 or x.shape[-3] != len(self.weight):
            raise ValueError(f"images must have shape (N, {len(self.weight)}, H, W), got {tuple(x.shape)}")
        return y * self.weight[:, None, None] + self.bias[:, None, None]

    def extra_repr(self) -> str:
        """Return the parameters of the layer for its representation."""
        channels = "" if self.weight is None else f", channels={len(self.weight)}"
        return f"window={self.window}{channels}, eps={self.eps}"


class BoxConv2d(torch.nn.Module):
    """A convolution with boxes whose corners are learned.

    Each output is the mean of a box around the pixel, with zeros outside the image. The
    sides of a box are real numbers, in pixels from the center of the pixel; bilinear table
    lookups give them gradients. The time does not depend on the size of the boxes.

    Parameters
    ----------
    channels : int
        Number of channels C of the (N, C, H, W) input. The output has shape
        (N, C * boxes, H, W).
    boxes : int
        Number of boxes per channel.
    reach : float or sequence of float
        Maximum distance of a side from the pixel, or one horizontally and one vertically.
    least : float, default 1.0
        Minimum width and height of a box in pixels.

    Attributes
    ----------
    corners : torch.nn.Parameter, shape (C, boxes, 4)
        The learned sides ``x0, y0, x1, y1``.

    Raises
    ------
    ValueError
        If an argument is not positive.

    Examples
    --------
    >>> import torch, boxsum.torch as bt
    >>> layer = bt.BoxConv2d(3, boxes=4, reach=8)
    >>> layer(torch.rand(2, 3, 32, 32)).shape
    torch.Size([2, 12, 32, 32])
    """

    def __init__(self, channels: int, boxes: int, reach: Union[float, Sequence[float]], least: float = 1.0) -> None:
        super().__init__()
        pair = tuple(reach) if isinstance(reach, (Sequence, np.ndarray)) else (reach, reach)
        if len(pair) != 2 or any(isinstance(n, str) or not float(n) > 0 for n in (*pair, least)):
            raise ValueError(f"reach must be one or two numbers greater than 0, and least one, got {reach!r} and {least!r}")
        if channels < 1 or boxes < 1:
            raise ValueError(f"channels and boxes must be at least 1, got {channels} and {boxes}")
        across, down = (float(n) for n in pair)
        self.channels, self.boxes, self.reach, self.least = channels, boxes, (float(across), float(down)), float(least)
        half = torch.tensor([across, down])
        middle = (torch.rand(channels, boxes, 2) - 0.5) * half
        size = (0.25 + 0.5 * torch.rand(channels, boxes, 2)) * half
        self.corners = torch.nn.Parameter(torch.cat([middle - size / 2, middle + size / 2], -1))

    def sides(self) -> Tensor:
        """Return the sides of the boxes in order, limited by `least` and `reach`."""
        low, high = self.corners[..., :2], self.corners[..., 2:]
        middle, size = (low + high) / 2, (high - low).clamp(min=self.least)
        most = self.corners.new_tensor(self.reach)
        return torch.cat([torch.maximum(middle - size / 2, -most), torch.minimum(middle + size / 2, most)], -1)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve a batch of images with the boxes."""
        if x.dim() != 4 or x.shape[1] != self.channels:
            raise ValueError(f"images must have shape (N, {self.channels}, H, W), got {tuple(x.shape)}")
        _floats(x, "BoxConv2d")
        table = integral(x)
        height, width = x.shape[-2:]
        x0, y0, x1, y1 = self.sides().unbind(-1)
        channel = torch.arange(self.channels, device=x.device)[:, None, None]

        def parts(edge: Tensor, length: int) -> tuple[Tensor, Tensor]:
            at = (torch.arange(length, device=x.device) + 0.5 + edge[..., None]).clamp(0, length)
            low = at.detach().floor().clamp(max=max(length - 1, 0)).long()
            return low, (at - low).to(table.dtype)

        def rows(edge: Tensor) -> Tensor:  # (N, C, boxes, H, W + 1)
            low, part = parts(edge, height)
            return torch.lerp(table[:, channel, low], table[:, channel, low + 1], part[..., None])

        down = rows(y1) - rows(y0)

        def columns(edge: Tensor) -> Tensor:
            low, part = parts(edge, width)
            low = low[:, :, None, :].expand(x.shape[0], -1, -1, height, -1)
            return torch.lerp(down.gather(-1, low), down.gather(-1, low + 1), part[:, :, None, :].expand(low.shape))

        sums = columns(x1) - columns(x0)
        area = ((x1 - x0) * (y1 - y0))[..., None, None]
        return (sums / area).reshape(x.shape[0], self.channels * self.boxes, height, width).to(x.dtype)

    def extra_repr(self) -> str:
        """Return the parameters of the layer for its representation."""
        return f"{self.channels}, {self.boxes}, reach={self.reach}"
