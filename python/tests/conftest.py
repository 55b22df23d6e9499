"""Examples are not run where they need what is not installed: other libraries, or OpenCV's cascades. With CI=true, every skipped test is an error."""

import importlib.util
import os

import boxsum
import pytest


def pytest_configure(config):
    missing = [name for name in ("jax", "torch") if importlib.util.find_spec(name) is None]
    config.option.ignore_glob = [*(config.option.ignore_glob or ()), *(f"*/boxsum/{name}.py" for name in missing)]


def pytest_collection_modifyitems(items):
    examples = [item for item in items if isinstance(item, pytest.DoctestItem) and "detect" in item.name]
    if not examples:
        return
    try:
        boxsum.detect.Cascade("frontalface_alt2")
    except FileNotFoundError:
        for item in examples:
            item.add_marker(pytest.mark.skip(reason="there are no cascades of OpenCV: they are in Debian's opencv-data"))


def pytest_sessionfinish(session):
    if os.environ.get("CI") == "true" and session.config.pluginmanager.getplugin("terminalreporter").stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if os.environ.get("CI") == "true" and (skipped := terminalreporter.stats.get("skipped")):
        terminalreporter.write_line(f"CI has everything that the tests need, but {len(skipped)} were skipped", red=True)
