#!/bin/sh
# Makes .venv/cascades, a virtual environment with OpenCV 4, the oracle of cascades, which
# OpenCV 5 has not.
set -eu
cd "$(dirname "$0")/.."
if .venv/cascades/bin/python -c 'import cv2; cv2.CascadeClassifier' 2>/dev/null; then
	exit 0
fi
python=${PYTHON:-python3}
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
	scripts/install.sh python3-venv
	python=python3
fi
"$python" -m venv .venv/cascades
.venv/cascades/bin/python -m pip install --quiet --disable-pip-version-check 'opencv-python-headless==4.14.*' numpy
.venv/cascades/bin/python -c 'import cv2; print("OpenCV", cv2.__version__, "in .venv/cascades")'
