#!/bin/sh
# Makes .venv, a virtual environment with the current OpenCV, with its extra modules, and
# scikit-image from PyPI: the oracles of some tests, and the peers of the benchmarks.
set -eu
cd "$(dirname "$0")/.."
if .venv/bin/python -c 'import cv2.ximgproc, skimage' 2>/dev/null; then
	exit 0
fi
python=${PYTHON:-python3}
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
	scripts/install.sh python3-venv
	python=python3
fi
"$python" -m venv .venv
# One without the extra modules has the same files: it must go before the other comes.
.venv/bin/python -m pip uninstall --quiet --yes opencv-python-headless opencv-python opencv-contrib-python 2>/dev/null || true
.venv/bin/python -m pip install --quiet --upgrade 'opencv-contrib-python-headless>=5' scikit-image numpy
.venv/bin/python -c 'import cv2, skimage; print("OpenCV", cv2.__version__, "and scikit-image", skimage.__version__, "in .venv")'
