"""boxsum.torch on every device that there is: against cumsum and unfold, with gradients, compiled and mapped."""

import os
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

import boxsum  # noqa: E402
import boxsum.torch as bt  # noqa: E402
from test_docstrings import check_sections  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
device = pytest.fixture(params=[pytest.param(d, marks=pytest.mark.cuda) if d == "cuda" else d for d in DEVICES])(lambda request: request.param)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(22)


def table_of(x, dtype=torch.float64):
    return F.pad(x.to(dtype).cumsum(-1).cumsum(-2), (1, 0, 1, 0))


def views(x):
    """The same numbers in other places of memory."""
    yield x
    yield x.transpose(-1, -2).contiguous().transpose(-1, -2)
    yield torch.stack([x, x], -1)[..., 0]
    yield F.pad(x, (3, 2, 1, 4))[..., 1:-4, 3:-2]
    if x.dim() == 4:
        yield x.contiguous(memory_format=torch.channels_last)
        yield torch.cat([x, x], 1)[:, : x.shape[1]]
        yield x.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3)


TYPES = [torch.uint8, torch.int16, torch.int32, torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", TYPES)
def test_integral(device, dtype):
    for shape in [(5, 7), (3, 1, 1), (2, 3, 17, 130), (0, 4, 4), (2, 0, 3), (2, 3, 0), (33, 2, 9, 8)]:
        x = torch.randint(0, 9, shape).to(dtype).to(device)
        for v in views(x):
            t = bt.integral(v)
            assert t.dtype == (torch.int32 if dtype == torch.uint8 else torch.int64 if not dtype.is_floating_point else torch.float64 if dtype == torch.float64 else torch.float32)
            torch.testing.assert_close(t.double(), table_of(x), rtol=0, atol=0)
    for wanted in [torch.float64] if dtype.is_floating_point else [torch.int64]:
        torch.testing.assert_close(bt.integral(x, dtype=wanted), table_of(x).to(wanted), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_many_planes_and_large_ones(device, dtype):
    """Planes that a block each goes down, and those that are cut into bands: whole numbers, so that all is exact."""
    shapes = [(140, 37, 512), (300, 20, 100), (129, 1, 130, 128), (1024, 33, 31), (9, 11, 65, 300), (300, 20, 131), (530, 9, 256), (70, 33, 257), (2, 300, 700), (1, 1, 1000, 260), (3, 129, 513)]
    for shape in shapes if device == "cuda" else shapes[-3:]:
        x = torch.randint(-3, 4, shape).to(dtype).to(device)
        for v in views(x) if device == "cuda" else (x,):
            torch.testing.assert_close(bt.integral(v).double(), table_of(x), rtol=0, atol=0)
        wide = x.to(torch.float64 if dtype == torch.float64 else torch.float32)
        want = wide.double().flip(-1, -2).cumsum(-1).cumsum(-2).flip(-1, -2)
        for v in (wide, F.pad(wide, (1, 0, 1, 0))[..., 1:, 1:]):
            torch.testing.assert_close(torch.ops.boxsum.suffix(v).double(), want, rtol=0, atol=0)


def test_gradients(device):
    for shape in [(4, 5), (2, 3, 4, 6)]:
        x = torch.randn(shape, dtype=torch.float64, device=device, requires_grad=True)
        assert torch.autograd.gradcheck(bt.integral, x)
        assert torch.autograd.gradgradcheck(bt.integral, x)
        for f in (
            lambda v: bt.box_filter(v, (3, 4)),
            lambda v: bt.box_filter(v, 3, border="constant", mean=False),
            lambda v: bt.box_filter(v, 3, border="reflect101"),
            lambda v: bt.local_norm(v, 3, eps=0.1),
            lambda v: bt.avg_pool(v, (2, 3), 1, 1),
            lambda v: bt.avg_pool(v, 2, count_include_pad=False),
        ):
            assert torch.autograd.gradcheck(f, x)
            assert torch.autograd.gradgradcheck(f, x)
    g = torch.randn(3, 4, 6, 8, device=device)
    x = torch.randn(3, 4, 5, 7, device=device, requires_grad=True)
    bt.integral(x).backward(g)
    torch.testing.assert_close(x.grad, g[..., 1:, 1:].flip(-1, -2).cumsum(-1).cumsum(-2).flip(-1, -2))


def test_corners_have_gradients(device):
    x = torch.randn(2, 3, 6, 7, dtype=torch.float64, device=device, requires_grad=True)
    boxes = torch.tensor([[0.3, 1.2, 4.6, 5.7], [-2.5, 0.1, 3.3, 9.9], [2.2, 2.3, 2.9, 2.7]], dtype=torch.float64, device=device, requires_grad=True)
    for ask in (bt.box_sum, bt.box_mean):
        for own in (boxes, boxes.detach()[None].repeat(2, 1, 1).requires_grad_()):
            f = lambda v, b: ask(bt.integral(v), b)  # noqa: B023, E731
            assert torch.autograd.gradcheck(f, (x, own))
            assert torch.autograd.gradgradcheck(f, (x, own))
    # A box that ends inside of pixels has these parts of them.
    one = bt.box_sum(bt.integral(x), torch.tensor([1.5, 2.0, 3.0, 3.0], dtype=torch.float64, device=device))
    torch.testing.assert_close(one, 0.5 * x[..., 2, 1] + x[..., 2, 2])


def test_corners_beyond_63_bits():
    table = bt.integral(torch.ones(4, 5))
    assert bt.box_sum(table, torch.tensor([[0, 0, 2**64 - 1, 2**64 - 1]], dtype=torch.uint64)).tolist() == [20.0]


def test_boxes(device):
    x = torch.randint(0, 255, (2, 3, 9, 11), dtype=torch.uint8, device=device)
    t = bt.integral(x)
    boxes = torch.randint(-2, 13, (2, 20, 4), device=device)
    got, mean = bt.box_sum(t, boxes), bt.box_mean(t, boxes)
    assert got.shape == (2, 3, 20)
    for n in range(2):
        for k, (x0, y0, x1, y1) in enumerate(boxes[n].tolist()):
            part = x[n, :, max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)]
            assert torch.equal(got[n, :, k].long(), part.sum((-1, -2)))
            torch.testing.assert_close(mean[n, :, k], part.double().mean((-1, -2)) if part.numel() else torch.zeros(3, dtype=torch.float64, device=device))
    assert bt.box_sum(t, boxes[0]).shape == (2, 3, 20) and bt.box_sum(t, boxes[0, 0]).shape == (2, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_filters(device, dtype):
    x = torch.randn(2, 3, 13, 18, device=device).to(dtype)
    close = {"rtol": 1e-2, "atol": 1e-2} if dtype.itemsize == 2 else {"rtol": 1e-5, "atol": 1e-6}
    for size, stride, pad in [(3, 1, 1), ((5, 2), 1, (2, 1)), (4, None, 0), ((7, 3), (2, 3), (3, 1)), (13, 1, 6)]:
        for include in (True, False):
            want = F.avg_pool2d(x.double(), size, stride, pad, count_include_pad=include)
            torch.testing.assert_close(bt.avg_pool(x, size, stride, pad, count_include_pad=include).double(), want, **close)
    for v in views(x):
        torch.testing.assert_close(bt.box_filter(v, 5).double(), F.avg_pool2d(x.double(), 5, 1, 2, count_include_pad=False), **close)
    for border, mode in [("reflect101", "reflect"), ("replicate", "replicate"), ("wrap", "circular")]:
        want = F.avg_pool2d(F.pad(x.double(), (2, 2, 1, 1), mode=mode), (3, 5), 1)
        torch.testing.assert_close(bt.box_filter(x, (5, 3), border=border).double(), want, **close)
    wide = F.pad(x.double(), (3, 3, 3, 3)).unfold(-2, 7, 1).unfold(-2, 7, 1)
    ones = F.pad(torch.ones_like(x.double()), (3, 3, 3, 3)).unfold(-2, 7, 1).unfold(-2, 7, 1).sum((-1, -2))
    mean = wide.sum((-1, -2)) / ones
    want = (x.double() - mean) / ((wide**2).sum((-1, -2)) / ones - mean**2 + 1e-5).sqrt()
    torch.testing.assert_close(bt.local_norm(x, 7).double(), want, rtol=max(close["rtol"], 1e-4), atol=max(close["atol"], 1e-4))


def test_a_nan_touches_windows_that_have_it(device):
    x = torch.ones(1, 20, 40, device=device)
    x[0, 7, 9], x[0, 12, 30] = float("nan"), float("inf")
    y = bt.box_filter(x, 5)
    assert int((~y.isfinite()).sum()) == 50 and bool((y[y.isfinite()] == 1).all())
    x[0, 3, 3], x[0, 7, 9], x[0, 12, 30] = 1e30, 1, 1
    assert float(bt.box_filter(x, 5)[0, 3, 6]) == 1


OPERATORS = {
    "integral": lambda x: (x, None),
    "suffix": lambda x: (x,),
    "window": lambda x: (x, 3, 2, 1, 0, 5, 6, 0.5),
    "box_filter": lambda x: (x, 3, 2, "clip", True),
    "local_norm": lambda x: (x, 3, 3, 1e-3),
    "avg_pool": lambda x: (x, [2, 3], [1, 2], [1, 1], False),
    "box_sum": lambda x: (x, torch.rand(4, 4, dtype=x.dtype, device=x.device) * 5),
    "box_mean": lambda x: (x, torch.randint(0, 5, (4, 4), device=x.device)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_registered_right(device, name):
    operator = getattr(torch.ops.boxsum, name).default
    for shape in [(5, 6), (2, 3, 5, 6)]:
        x = torch.rand(shape, dtype=torch.float64, device=device, requires_grad=True)
        torch.library.opcheck(operator, OPERATORS[name](x))


def test_vmap(device):
    x = torch.randn(4, 3, 6, 7, device=device)
    torch.testing.assert_close(torch.vmap(bt.integral)(x), bt.integral(x))
    torch.testing.assert_close(torch.vmap(bt.integral, in_dims=1)(x), bt.integral(x).transpose(0, 1))
    torch.testing.assert_close(torch.vmap(lambda v: bt.box_filter(v, 3))(x), bt.box_filter(x, 3))
    grads = torch.func.vmap(torch.func.grad(lambda v: (bt.integral(v) ** 2).sum()))(x)
    every = torch.func.grad(lambda v: (bt.integral(v) ** 2).sum())(x)
    torch.testing.assert_close(grads, every)
    boxes = torch.rand(4, 5, 4, device=device) * 6
    torch.testing.assert_close(torch.vmap(bt.box_sum)(bt.integral(x), boxes), bt.box_sum(bt.integral(x), boxes))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_without_breaks(device, dynamic):
    torch._dynamo.reset()

    def step(x, w):
        y = bt.box_filter(torch.relu(x * w), 5) + bt.local_norm(x, 3)
        return (bt.box_sum(bt.integral(y), torch.tensor([[0, 0, 3, 4], [1, 1, 5, 5]], device=x.device)) ** 2).sum()

    fast = torch.compile(step, fullgraph=True, dynamic=dynamic, backend="aot_eager" if device == "cpu" else "inductor")
    for n in (2, 3):
        x = torch.randn(n, 3, 12, 14, device=device, requires_grad=True)
        w = torch.randn(3, 1, 1, device=device, requires_grad=True)
        want = torch.autograd.grad(step(x, w), (x, w))
        got = torch.autograd.grad(fast(x, w), (x, w))
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_a_compiled_step_has_the_operator_once(device):
    graphs = []

    def keep(graph, inputs):
        graphs.append(graph)
        return graph

    from torch._dynamo.backends.common import aot_autograd

    step = torch.compile(lambda x: bt.integral(x * 2).square().sum(), fullgraph=True, backend=aot_autograd(fw_compiler=keep, bw_compiler=keep))
    step(torch.randn(2, 3, 8, 9, device=device, requires_grad=True)).backward()
    for graph, name in zip(graphs, ("boxsum.integral", "boxsum.suffix")):
        called = [str(n.target) for n in graph.graph.nodes if n.op == "call_function"]
        assert sum(name in c for c in called) == 1
        assert not any("clone" in c or "copy" in c for c in called), called


def test_modules_learn(device):
    layer = bt.BoxConv2d(1, 2, 6).to(device)
    x = torch.rand(4, 1, 16, 16, device=device)
    want = bt.box_filter(x, (5, 3), border="constant")
    mix = torch.nn.Conv2d(2, 1, 1).to(device)
    optimizer = torch.optim.Adam([*layer.parameters(), *mix.parameters()], 0.05)
    losses = []
    for _ in range(60):
        loss = F.mse_loss(mix(layer(x)), want)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 4
    norm = bt.LocalNorm(5, 3).to(device)
    assert norm(torch.randn(2, 3, 9, 9, device=device)).shape == (2, 3, 9, 9)
    double = bt.BoxConv2d(2, 3, 3).to(device).double()
    v = torch.randn(1, 2, 5, 6, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, c: torch.func.functional_call(double, {"corners": c}, (a,)), (v, double.corners))


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: bt.integral(torch.zeros(3)), ValueError, r"\(\.\.\., H, W\)"),
        (lambda: bt.integral([[1, 2]]), TypeError, "tensor"),
        (lambda: bt.integral(torch.zeros(2, 2, dtype=torch.complex64)), TypeError, "real"),
        (lambda: bt.integral(torch.zeros(2, 2), dtype=torch.int32), TypeError, "float32"),
        (lambda: bt.box_sum(torch.zeros(3, 3), torch.zeros(2, 3)), ValueError, "four numbers"),
        (lambda: bt.box_sum(torch.zeros(2, 3, 3), torch.zeros(5, 2, 4)), ValueError, "leading"),
        (lambda: bt.box_sum(torch.zeros(2, 3, 3), torch.zeros(2, 4, device="meta")), ValueError, "same device"),
        (lambda: bt.box_filter(torch.zeros(3, 3, dtype=torch.uint8), 3), TypeError, "floating-point"),
        (lambda: bt.box_filter(torch.zeros(3, 3), 0), ValueError, "at least 1"),
        (lambda: bt.box_filter(torch.zeros(3, 3), 3, border="mirror"), ValueError, "reflect101"),
        (lambda: bt.avg_pool(torch.zeros(3, 3), 5), ValueError, "larger"),
        (lambda: bt.BoxConv2d(3, 1, 2)(torch.zeros(1, 2, 4, 4)), ValueError, "3, H, W"),
        (lambda: bt.BoxConv2d(3, 1, 2)(torch.zeros(1, 3, 4, 4, dtype=torch.int32)), TypeError, "floating-point"),
        (lambda: bt.BoxConv2d(3, 1, -2), ValueError, "greater than 0"),
        (lambda: bt.BoxConv2d(3, 0, 2), ValueError, "at least 1"),
        (lambda: bt.LocalNorm(3, 4)(torch.zeros(1, 3, 5, 5)), ValueError, "4, H, W"),
        (lambda: bt.integral(torch.zeros(3, 3).to(torch.float8_e4m3fn)), TypeError, "16 to 64 bits"),
        (lambda: bt.integral(torch.nested.nested_tensor([torch.zeros(3, 3)])), TypeError, "nested"),
        (lambda: bt.box_sum(torch.zeros(3, 3).numpy(), [[0, 0, 1, 1]]), TypeError, "tensor"),
        (lambda: bt.box_sum(torch.zeros(3, 3, dtype=torch.uint8), [[0, 0, 1, 1]]), TypeError, "as integral returns"),
        (lambda: bt.box_mean(torch.zeros(3, 3), torch.zeros(1, 4, dtype=torch.complex64)), TypeError, "integers or floats"),
        (lambda: bt.avg_pool(torch.zeros(3, 3), 2, divisor_override=0), ValueError, "other than 0"),
    ],
)
def test_mistakes_are_named(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_beyond_16_bit_floats(dtype, device):
    x = torch.full((1, 1, 64, 64), 100.0, dtype=dtype, device=device)
    assert (bt.box_filter(x, 31) == 100).all()
    assert (bt.avg_pool(x, 31, 1, 15, count_include_pad=False) == 100).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_gradients_of_large_clipped_means(dtype, device):
    # 300×300 pixels are more than the largest float16.
    x = torch.rand(1, 400, 400, dtype=torch.float64)
    weight = torch.rand(1, 400, 400, dtype=torch.float64) * 100
    grads = []
    for kind, where in ((torch.float64, "cpu"), (dtype, device)):
        leaf = x.clone().to(kind).to(where).requires_grad_()
        (bt.box_filter(leaf, 300) * weight.to(kind).to(where)).sum().backward()
        grads.append(leaf.grad.double().cpu())
    assert (grads[1] > 0).all()
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-5 if dtype == torch.float32 else 0.02, atol=0)


def test_local_norm_beside_a_nan(device):
    x = torch.rand(2, 30, 40, dtype=torch.float64, device=device) + 5
    want = bt.local_norm(x, 5)
    for bad in (float("nan"), float("inf")):
        y = x.clone()
        y[0, 10, 20] = bad
        got = bt.local_norm(y, 5)
        spoilt = torch.zeros_like(got, dtype=torch.bool)
        spoilt[0, 8:13, 18:23] = True
        assert got[spoilt].isnan().all()
        torch.testing.assert_close(got[~spoilt], want[~spoilt])
    assert bt.local_norm(torch.full((3, 4), float("nan"), device=device), 3).isnan().all()


def test_a_sign_that_is_yet_to_change(device):
    x = torch.randn(2, 8, 9, dtype=torch.complex128, device=device).conj().imag
    assert x.is_neg()
    for f in (bt.integral, torch.ops.boxsum.integral, torch.ops.boxsum.suffix, lambda v: bt.box_filter(v, 3)):
        torch.testing.assert_close(f(x), f(x.resolve_neg()))
    leaf = torch.randn(2, 8, 9, dtype=torch.complex128, device=device, requires_grad=True)
    bt.integral(leaf.conj().imag).sum().backward()
    assert leaf.grad.abs().sum() > 0


def test_windows_have_numbers_of_their_own():
    from concurrent.futures import ThreadPoolExecutor

    asked = [(1, 1, 0, 0, n % 3000, 1, 1.0, False) for n in range(12000)]
    with ThreadPoolExecutor(8) as threads:
        numbers = list(threads.map(bt._number, asked))
    owner = {}
    assert all(owner.setdefault(number, window) == window for number, window in zip(numbers, asked))


def test_windows_beyond_the_image(device):
    x = torch.rand(2, 9, 11, dtype=torch.float64, device=device)
    assert torch.allclose(bt.box_filter(x, 10**9), x.mean((-2, -1), keepdim=True).expand_as(x))
    for window in (1, 2, 5, 8, 13, 22, 23, 40, 101):
        before = window // 2
        sides = (before, window - 1 - before) * 2
        want = torch.nn.functional.avg_pool2d(torch.nn.functional.pad(x, sides), window, 1)
        assert torch.allclose(bt.box_filter(x, window, border="constant"), want)


def test_means_of_sums_that_wrap():
    white = torch.full((2, 3000, 3000), 255, dtype=torch.uint8)
    white[1, 5, 7] = 5
    table = bt.integral(white, dtype=torch.int32)
    boxes = torch.tensor([[0, 0, 3000, 3000], [-5, -5, 9000, 9000], [1000, 1000, 3000, 3000], [7, 5, 8, 6], [9, 9, 4, 4]])
    assert torch.equal(bt.box_mean(table, boxes), bt.box_mean(bt.integral(white, dtype=torch.int64), boxes))
    tall = bt.integral(torch.full((17000, 1010), 255, dtype=torch.uint8), dtype=torch.int32)  # in two parts
    assert bt.box_mean(tall, [[0, 0, 1010, 17000], [3, 4, 1000, 16999]]).tolist() == [255, 255]
    with pytest.raises(ValueError, match="int64"):
        bt.box_mean(table, boxes + 0.5)


def test_corners_of_nan(device):
    table = bt.integral(torch.rand(5, 6, device=device))
    boxes = torch.tensor([[float("nan"), 0, 3, 3], [0, 0, 3, float("nan")], [0, 0, float("inf"), 3]], device=device, requires_grad=True)
    for ask in (bt.box_sum, bt.box_mean):
        got = ask(table, boxes)
        assert got.isnan().tolist() == [True, True, False]
        got[2].backward()


def test_windows_of_numpy():
    x = torch.rand(9, 9)
    assert torch.equal(bt.box_filter(x, np.int64(3)), bt.box_filter(x, 3))
    assert torch.equal(bt.box_filter(x, np.array([3, 5])), bt.box_filter(x, (3, 5)))
    with pytest.raises(TypeError, match="integers"):
        bt.box_filter(x, 3.5)


@pytest.mark.parametrize("seed", range(60))
def test_avg_pool_has_all_arguments(device, seed):
    r = random.Random(seed)
    size = tuple(r.randint(1, 8) for _ in range(2))
    rest = (
        r.choice([None, tuple(r.randint(1, 9) for _ in range(2))]), tuple(r.randint(0, k // 2) for k in size),
        r.random() < 0.6, r.random() < 0.5, r.choice([None, None, 3]),
    )  # fmt: skip
    x = torch.randn(2, 3, r.randint(1, 14), r.randint(1, 14), dtype=torch.float64, device=device, requires_grad=True)
    try:
        want = F.avg_pool2d(x, size, *rest)
    except RuntimeError:
        with pytest.raises(ValueError, match="larger than images"):
            bt.avg_pool(x, size, *rest)
        return
    got = bt.avg_pool(x, size, *rest)
    torch.testing.assert_close(got, want)
    grad = torch.randn_like(want)
    torch.testing.assert_close(torch.autograd.grad(got, x, grad), torch.autograd.grad(want, x, grad))
    torch.testing.assert_close(bt.avg_pool(x.half(), size, *rest), want.half(), atol=1e-2, rtol=1e-2)


FUNCTIONS = {
    "integral": bt.integral, "torch.ops": torch.ops.boxsum.integral, "suffix": torch.ops.boxsum.suffix,
    "box_filter": lambda x: bt.box_filter(x, 3), "wrap": lambda x: bt.box_filter(x, 3, border="wrap"),
    "local_norm": lambda x: bt.local_norm(x, 3, eps=0.1), "avg_pool": lambda x: bt.avg_pool(x, 3, 2, 1, True, False),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_goes_along(device, name):
    """Forward-mode AD, over backward too, and batches of gradients."""
    f, x = FUNCTIONS[name], torch.randn(2, 4, 5, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(f, x, check_fwd_over_rev=True)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.ones_like(x))
        assert torch.autograd.forward_ad.unpack_dual(f(dual)).tangent is not None
    if name not in ("torch.ops", "suffix"):  # PyTorch has no transforms for operators themselves
        torch.testing.assert_close(torch.func.jacfwd(f)(x.detach()), torch.func.jacrev(f)(x.detach()))


def some_tensor(r, device):
    """A random tensor of whole numbers, so that sums are exact, anywhere in memory; some have many planes, as kernels of their own take them."""
    many = device == "cuda" and r.random() < 0.3
    lead = (r.randint(130, 300),) if many else tuple(r.choice([1, 2, 3, 5]) for _ in range(r.randint(0, 3)))
    shape = (*lead, r.choice([1, 2, 7, 33, 64, 129, r.randint(1, 300)]), r.choice([1, 3, 8, 64, 128, 257, 512, r.randint(1, 600)]))
    dtype = r.choice(TYPES)
    x = torch.randint(-2, 3, shape).abs() if dtype == torch.uint8 else torch.randint(-2, 3, shape)
    x = x.to(dtype).to(device)
    return x, r.choice(list(views(x)))


@pytest.mark.parametrize("block", range(10))
def test_random_tensors(device, block):
    """BOXSUM_TENSORS of them on each device, 200 if it is not set."""
    r = random.Random(block)
    for n in range(int(os.environ.get("BOXSUM_TENSORS", "200")) // 10):
        x, v = some_tensor(r, device)
        what = (block, n, x.shape, x.dtype, v.stride())
        v = v.detach().requires_grad_(x.dtype.is_floating_point)
        t = bt.integral(v)
        assert torch.equal(t.double(), table_of(x)), what
        if v.requires_grad:  # of a random part of the table, by sums from the other corner
            g = torch.randint(-2, 3, t.shape, device=device).to(t.dtype)
            (got,) = torch.autograd.grad(t, v, g)
            want = g[..., 1:, 1:].double().flip(-1, -2).cumsum(-1).cumsum(-2).flip(-1, -2).to(x.dtype)
            assert torch.equal(got, want), what
        h, w = x.shape[-2:]
        boxes = torch.tensor([[r.randint(-3, w), r.randint(-3, h), r.randint(0, w + 3), r.randint(0, h + 3)] for _ in range(5)], device=device)
        want = [x[..., max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)].double().sum((-1, -2)) for x0, y0, x1, y1 in boxes.tolist()]
        assert torch.equal(bt.box_sum(t.detach(), boxes).double(), torch.stack(want, -1)), what
        if x.dtype.is_floating_point:
            a, b = r.randint(1, min(h, 9)), r.randint(1, min(w, 9))
            wide = F.pad(x.double(), (b // 2, (b - 1) // 2, a // 2, (a - 1) // 2))
            want = wide.unfold(-2, a, 1).unfold(-2, b, 1).sum((-1, -2))
            assert torch.equal(bt.box_filter(v.detach(), (b, a), border="constant", mean=False).double(), want), what


def test_tables_of_tensors():
    """What boxsum itself, beside boxsum.torch, knows of the tables of tensors."""
    image = 1e7 + np.random.default_rng(4).standard_normal((40, 50))
    tables = boxsum.integral(torch.from_numpy(image), squares=True)
    np.testing.assert_allclose(boxsum.box_std(*tables, [3, 4, 45, 36]), image[4:36, 3:45].std(), rtol=1e-6)
    bright = torch.from_numpy(np.full((9, 9), (1 << 32) - 1, np.uint32))
    assert boxsum.box_mean(boxsum.integral(bright), [0, 0, 9, 9]) == (1 << 32) - 1


def test_docstrings():
    check_sections("boxsum.torch")


def test_usual_sums_of_tensors_have_room():
    white = torch.full((2901, 2903), 255, dtype=torch.uint8)  # more than 31 bits hold
    for table in (boxsum.integral(white), boxsum.integral(white[None], axes=(-2, -1))[0], boxsum.volume(white[None])[1]):
        assert table.dtype == torch.int64 and table[-1, -1] == white.numel() * 255
    assert boxsum.integral(white[:2900, :2900]).dtype == torch.int32


@pytest.mark.parametrize("seed", range(6))
def test_similarity(device, seed):
    """Values as in NumPy, and gradients as differences."""
    rng = np.random.default_rng(seed)
    shape, window = tuple(int(n) for n in rng.integers(11, 30, 2)), int(rng.choice([3, 5, 7, 9]))
    x, y = (torch.tensor(float(rng.choice([0, 10])) + rng.random((2, *shape)), device=device, requires_grad=True) for _ in range(2))
    for dtype, atol in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        score = bt.ssim(x.to(dtype), y.to(dtype), data_range=1, window=window)
        match = bt.lncc(x.to(dtype), y.to(dtype), window=window)
        for k in range(2):
            a, b = (v[k].detach().to(dtype).cpu().numpy() for v in (x, y))
            np.testing.assert_allclose(score[k].item(), boxsum.ssim(a, b, data_range=1, window=window), atol=atol)
            np.testing.assert_allclose(match[k].item(), boxsum.lncc(a, b, window=window), atol=atol)
    assert torch.autograd.gradcheck(lambda x, y: bt.ssim(x, y, data_range=1, window=window), (x, y))
    assert torch.autograd.gradcheck(lambda x, y: bt.lncc(x, y, window=window), (x, y))
