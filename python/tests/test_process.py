"""The library in its process: forks, signals, threads, memory."""

import os
import subprocess
import sys
import textwrap

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="what a fork leaves behind is Linux's")


def run(code, timeout=120):
    """Runs a script in a process of its own."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout)


def succeeds(code):
    done = run(code)
    assert done.returncode == 0, done.stderr
    return done.stdout


@linux
@pytest.mark.parametrize("used", [True, False])
def test_forked_children(used):
    """Before the first call a fork is like any other; after it, children have
    a library of their own."""
    succeeds(f"""
        import multiprocessing, os
        import numpy as np, boxsum

        image = np.random.default_rng(0).integers(0, 256, (1500, 1200), dtype=np.uint8)
        want = np.pad(image.cumsum(0, dtype="u4").cumsum(1, dtype="u4"), [(1, 0), (1, 0)])
        if {used}:
            boxsum.integral(image)
            along = boxsum.rotated(image[:50, :50], 1)

        def work(i):
            import faulthandler
            for _ in range(5):
                table = boxsum.integral(image)
                assert np.array_equal(table, want)
            if {used}:
                try:
                    along.sum([0, 0, 9, 9])
                except RuntimeError as error:
                    assert "fork" in str(error)
                else:
                    raise AssertionError
            return int(boxsum.box_sum(table, [0, 0, 10, 10 + i]))

        with multiprocessing.get_context("fork").Pool(3) as pool:
            sums = pool.map(work, range(12))
        assert sums == [int(image[:10 + i, :10].sum()) for i in range(12)]
        assert np.array_equal(boxsum.integral(image), want)
        if {used}:
            child = os.fork()
            if child == 0:  # and a grandchild
                boxsum.integral(image)
                grandchild = os.fork()
                if grandchild == 0:
                    os._exit(0 if np.array_equal(boxsum.integral(image), want) else 1)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)


@linux
def test_memory_is_not_shared_after_a_fork():
    """Neither that of tables nor what is kept of freed ones."""
    succeeds("""
        import multiprocessing, os
        import numpy as np, boxsum

        barrier = multiprocessing.get_context("fork").Barrier(2)
        def work(value):
            table = boxsum.integral(np.full((1500, 1500), value, np.uint8))
            barrier.wait()  # both have one now
            return int(table[-1, -1]) // 1500**2

        boxsum.integral(np.ones((1500, 1500), np.uint8))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(1, 5), chunksize=1) == [1, 2, 3, 4]
        table = boxsum.integral(np.ones((1500, 1500), np.uint8))
        child = os.fork()
        if child == 0:
            table[...] = 7
            os._exit(0)
        os.waitpid(child, 0)
        assert table[-1, -1] == 1500**2
    """)


@linux
def test_signals_are_pythons():
    """Ctrl-C raises, faulthandler reports, handlers and alarms are called."""
    out = succeeds("""
        import os, signal, threading
        import numpy as np, boxsum
        image = np.zeros((500, 500), np.uint8)
        boxsum.integral(image)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                boxsum.integral(image)
        except KeyboardInterrupt:
            print("interrupted")
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        os.kill(os.getpid(), signal.SIGUSR1)
        boxsum.integral(image)
        assert seen
    """)
    assert "interrupted" in out
    crash = run("""
        import faulthandler, ctypes
        import numpy as np, boxsum
        faulthandler.enable()
        boxsum.integral(np.zeros((50, 50), np.uint8))
        ctypes.string_at(0)
    """)
    assert crash.returncode == -11 and "Segmentation fault" in crash.stderr and "goroutine" not in crash.stderr


@linux
def test_a_limit_of_memory_raises():
    """Where the system gives no memory there is a MemoryError, and life goes on."""
    succeeds("""
        import resource
        import numpy as np, boxsum
        boxsum.integral(np.zeros((100, 100), np.uint8))
        with open("/proc/self/statm") as f:
            now = int(f.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 29),) * 2)
        image = np.zeros((12000, 12000), np.uint8)
        for function in (boxsum.integral, boxsum.moments, lambda a: boxsum.rotated(a, 1), lambda a: boxsum.histogram(a, 64)):
            for _ in range(3):
                try:
                    function(image)
                except MemoryError:
                    continue
                raise AssertionError
        assert boxsum.integral(image[:100, :100]).shape == (101, 101)
    """)


@linux
def test_tables_beside_each_other_are_counted_together():
    """Each would fit alone: the system counts pages when they are written."""
    succeeds("""
        import resource
        import numpy as np, boxsum
        from boxsum import _memory
        from boxsum.compat import cv2
        boxsum.integral(np.zeros((100, 100), np.uint8))
        image = np.zeros((8000, 8000), np.uint8)
        asked = []
        call = _memory.call
        def spy(name, *arguments):
            asked.append(arguments[0])
            return call(name, *arguments)
        _memory.call = spy
        cv2.integral2(image[:10, :10])
        for both in (lambda: boxsum.integral(image, squares=True, dtype=np.uint32), lambda: cv2.integral2(image), lambda: cv2.integral2(image)):
            boxsum.keep_memory(0)
            asked.clear()
            both()
            assert len(asked) == 1 and 12 * 8001**2 <= asked[0] < 12.1 * 8001**2, asked
        for limit, used in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
            with open("/proc/self/status") as f:
                now = next(int(line.split()[1]) << 10 for line in f if line.startswith(used))
            before = resource.getrlimit(limit)
            resource.setrlimit(limit, (now + (700 << 20), before[1]))
            for _ in range(3):
                try:
                    boxsum.integral(image, squares=True, dtype=np.uint32)
                except MemoryError as error:
                    assert "ulimit" in str(error), error
                else:
                    raise AssertionError
            resource.setrlimit(limit, before)
        boxsum.integral(image, squares=True, dtype=np.uint32)
    """)


@linux
def test_a_limit_of_addresses_raises():
    """Go's runtime would end the process."""
    succeeds("""
        import resource
        import numpy as np, boxsum
        with open("/proc/self/statm") as f:
            now = int(f.read().split()[0]) * resource.getpagesize()
        for room in range(100, 3000, 400):
            resource.setrlimit(resource.RLIMIT_AS, (now + (room << 20), resource.RLIM_INFINITY))
            try:
                assert boxsum.integral(np.ones((5, 5), np.uint8))[-1, -1] == 25
                break
            except MemoryError as error:
                assert "ulimit" in str(error)
        else:
            raise AssertionError
    """)


@linux
def test_ten_thousand_calls_leak_nothing():
    out = succeeds("""
        from boxsum import bench
        bench.leaks()
    """)
    grown = float(out.split()[2])
    assert grown < 10, out


def test_the_library_is_loaded_on_first_use():
    succeeds("""
        import boxsum
        from boxsum import _native
        assert _native.loaded is None
        boxsum.integral([[1]])
        assert _native.loaded is not None
    """)


def test_a_device_that_fails_is_said_once(tmp_path):
    """And what CuPy would say of everything that it frees afterwards is not."""
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "cupy.py").write_text(
        textwrap.dedent("""
            class Array:
                def __del__(self):
                    raise RuntimeError("cannot be freed")

            arrays = [Array() for _ in range(100)]

            def asarray(_):
                raise RuntimeError("an illegal memory access was encountered")
        """)
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    done = subprocess.run([sys.executable, "-m", "boxsum.bench", "--cuda"], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 1
    assert done.stderr.count("RuntimeError: an illegal memory access") == 1 and "freed" not in done.stderr


def test_help_and_types():
    succeeds("""
        import inspect, sys, boxsum
        from importlib.resources import files
        assert files("boxsum").joinpath("py.typed").is_file()
        for name in boxsum.__all__:
            public = getattr(boxsum, name)
            if callable(public):
                assert inspect.getdoc(public), name
                for method, function in vars(public).items() if inspect.isclass(public) else ():
                    assert method.startswith("_") or inspect.getdoc(function), (name, method)
        if sys.version_info >= (3, 11):  # before, it is Optional[int]
            assert "workers: int | None = None" in str(inspect.signature(boxsum.integral))
    """)


def test_imports_point_down():
    """No module of the package needs one that needs it, within functions neither."""
    import ast
    from pathlib import Path

    import boxsum

    root = Path(boxsum.__file__).parent
    needs = {}
    for path in root.rglob("*.py"):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        here = name.split(".")[:-1]
        needs[name] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = here[: len(here) - node.level + 1] + (node.module.split(".") if node.module else [])
                for alias in node.names:
                    inner = ".".join([*base, alias.name])
                    needs[name].add(inner if (root / (inner.replace(".", "/") + ".py")).exists() else ".".join(base))
    needs = {name: {n for n in needed if n in needs} for name, needed in needs.items()}
    while needs:
        free = [name for name, needed in needs.items() if not needed & needs.keys()]
        assert free, f"in a circle: {sorted(needs)}"
        for name in free:
            del needs[name]


def test_a_call_of_the_library_that_cannot_be_is_an_exception():
    """Never a crash, whatever a module of the package gets wrong."""
    import numpy as np
    from boxsum._native import call

    for arguments, error in [
        ((), TypeError),
        (("collect",) * 20, TypeError),
        (("no such function",), AttributeError),
        (("integral",), RuntimeError),
        (("integral", object(), 1, 2), TypeError),
        (("integral", 1 << 70), OverflowError),
        (("boxes", None, None, None, None, 0, 0), RuntimeError),
        (("rotated_bounds", 0, np.zeros(4, np.int64)), RuntimeError),
        (("haar", np.zeros(4), None, None, 1.0, b"", 0), RuntimeError),
    ]:
        with pytest.raises(error):
            call(*arguments)
