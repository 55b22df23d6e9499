#!/bin/sh
# Installs Python's C headers, which are needed to build the Python package, unless the
# given Python has them.
set -eu
"$1" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
	"$(dirname "$0")/install.sh" python3-dev
