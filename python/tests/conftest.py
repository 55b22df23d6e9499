"""Modules for libraries that are not here have no examples to run."""

import importlib.util


def pytest_configure(config):
    missing = [name for name in ("jax", "torch") if importlib.util.find_spec(name) is None]
    config.option.ignore_glob = [*(config.option.ignore_glob or ()), *(f"*/boxsum/{name}.py" for name in missing)]
