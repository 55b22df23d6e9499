#!/bin/sh
# Installs Python's C header, which the Python package is built with, unless the
# Python that is named has it.
set -eu
"$1" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
	"$(dirname "$0")/install.sh" python3-dev
