#!/bin/sh
# Tests the Python package, the Python code that the explorer shows, and the notebook. The tests of arrays on a GPU
# (pytest -m cuda) and the examples of docs/guides/gpu.md and tensors.md need a GPU with CuPy and PyTorch, and boxsum.torch needs
# PyTorch (pytest python/tests/test_torch.py), whose wheel on PyPI is for CUDA and takes gigabytes.
set -eu
. "$(dirname "$0")/steps.sh"
scripts/setup.sh
references
python=.venv/bin/python
if ! [ -x $python ] || [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	left_out "the Python package: needs .venv (scripts/setup.sh), a C compiler and cgo"
	exit 0
fi

step "the Python package"
$python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation --force-reinstall ./python
$python -m pytest -q -rs -p no:cacheprovider --ignore python/tests/test_cuda.py --ignore python/tests/test_torch.py python/tests \
	--doctest-modules --doctest-glob='*.md' --ignore-glob='*/boxsum/torch.py' --ignore-glob='*/boxsum/_bench_tensors.py' --ignore docs/guides/gpu.md --ignore docs/guides/tensors.md \
	--pyargs boxsum docs/start docs/guides docs/reference docs/migrate

step "Python code of the explorer, and the notebook"
BOXSUM_CODE_PYTHON=$PWD/$python go test -run '^TestCode$' ./web/explore
$python examples/notebook/run.py

step "all passed"
