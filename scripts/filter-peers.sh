#!/bin/sh
# Makes .filters, a virtual environment with the libraries that make bench-filters measures
# beside: OpenCV with its extra modules, SciPy, scikit-image, Pillow and libvips, which is left
# out with its rows where PyPI does not have it. Doxa has an environment of its own.
set -eu
cd "$(dirname "$0")/.."
if .filters/bin/python -c 'import cv2.ximgproc, scipy, skimage, PIL, pyvips' 2>/dev/null; then
	exit 0
fi
python=${PYTHON:-python3}
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
	scripts/install.sh python3-venv
	python=python3
fi
"$python" -m venv .filters
.filters/bin/python -m pip install --quiet --upgrade 'opencv-contrib-python-headless>=5' numpy scipy scikit-image Pillow
.filters/bin/python -m pip install --quiet --upgrade 'pyvips[binary]' || echo "libvips is left out"
