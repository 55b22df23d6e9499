#!/bin/sh
# Installs the programs and libraries that the tests compare boxsum with:
#
#   - the Debian packages of scripts/packages.txt, if apt-get and root privileges are available;
#   - the Python packages of scripts/requirements.txt, in .venv;
#   - OpenCV 4, in .venv/cascades: OpenCV 5 has no cascades, and one environment cannot hold both;
#   - axe-core, which checks pages for accessibility, in .axe.
#
# Anything that cannot be installed is skipped with a message, and so are its tests. With CI=true this is an error.
set -eu
cd "$(dirname "$0")/.."

left_out() {
	echo "left out: $*" >&2
	[ "${CI:-}" != true ] || exit 1
}

missing=
while read -r package program only; do
	[ "$only" != ci ] || [ "${CI:-}" = true ] || continue
	command -v "$program" >/dev/null || dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done <<END
$(grep -v '^#' scripts/packages.txt)
END
! command -v google-chrome >/dev/null || missing=$(echo "$missing" | sed 's/ chromium//')
if [ -n "$missing" ]; then
	scripts/install.sh $missing || left_out "Debian packages:$missing"
fi

# Find the first Python that the pinned versions support.
find_python() {
	for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-4]*/bin/python; do
		if "$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 12) <= sys.version_info < (3, 15))' 2>/dev/null; then
			echo "$python"
			return
		fi
	done
	return 1
}

python=$(find_python) && scripts/venv.sh .venv scripts/requirements.txt "$python" ||
	left_out "Python packages: need Python 3.12, 3.13 or 3.14 with venv, and PyPI"
python=$(find_python) && scripts/venv.sh .venv/cascades scripts/requirements-opencv4.txt "$python" ||
	left_out "OpenCV 4: need Python 3.12, 3.13 or 3.14 with venv, and PyPI"

axe=4.11.0
if [ ! -e ".axe/$axe" ]; then
	rm -rf .axe
	mkdir .axe
	(cd .axe && npm pack --silent "axe-core@$axe" >/dev/null && tar xzf "axe-core-$axe.tgz" --strip-components=1 package/axe.min.js && touch "$axe") ||
		left_out "axe-core: needs npm"
fi
