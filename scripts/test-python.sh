#!/bin/sh
# Tests of the Python package, of what the page shows of Python, and of the notebook.
set -eu
. "$(dirname "$0")/steps.sh"
oracles

step "the Python package"
if package; then
	# Those of arrays on a GPU, pytest -m cuda, take one, CuPy and PyTorch.
	$python -m pytest -q -p no:cacheprovider --ignore python/tests/test_cuda.py python/tests --doctest-modules --doctest-glob='*.md' --ignore-glob='*/boxsum/torch.py' --ignore-glob='*/boxsum/_bench_tensors.py' --pyargs boxsum docs/python.md docs/tensors.md
	$python -m pip install --quiet --disable-pip-version-check "nbclient>=0.10" "ipykernel>=6.29"
	BOXSUM_CODE_PYTHON=$(command -v $python) go test -run '^TestCode$' ./internal/explore
	$python examples/notebook/run.py
else
	left_out "the Python package: it takes Python 3 with venv, PyPI, a C compiler and Python.h"
fi

step "passed"
