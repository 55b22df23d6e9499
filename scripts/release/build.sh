#!/bin/sh
# Builds a release into dist: VERSION=v0.2.0 scripts/release/build.sh. WHEELS="manylinux-x86_64" builds fewer
# wheels, WHEELS=none none. Nothing is published.
set -eu
cd "$(dirname "$0")/../.."
: "${VERSION:?such as VERSION=v0.2.0}"
case $VERSION in
v[0-9]*.[0-9]*.[0-9]*) ;;
*) echo "VERSION=$VERSION is not like v0.2.0" >&2; exit 2 ;;
esac

wheels=build/wheels
rm -rf $wheels
mkdir -p $wheels
if [ "${WHEELS:-}" != none ]; then
	python=${RELEASE_PYTHON:-.venv/release/bin/python}
	if ! "$python" -c 'import ziglang, build, deflate' 2>/dev/null; then
		for base in "${PYTHON:-python3}" python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python; do
			"$base" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
		done
		scripts/python-headers.sh "$base"
		"$base" -m venv .venv/release
		python=.venv/release/bin/python
		$python -m pip install --quiet --disable-pip-version-check ziglang==0.17.0 build==1.6.1 auditwheel==6.8.2 deflate==0.9.0
	fi
	"$python" scripts/release/wheels.py "$VERSION" $wheels ${WHEELS:-}
fi

# The tag may not exist yet, and a clone of a clone has another remote: the build must depend on neither.
export GORELEASER_CURRENT_TAG="$VERSION" GIT_CONFIG_COUNT=1
export GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/boxsum/boxsum
${GORELEASER:-go run github.com/goreleaser/goreleaser/v2@v2.16.0} release --snapshot --clean
for wheel in $wheels/*; do
	[ ! -e "$wheel" ] || cp "$wheel" dist/
done

# conda-forge builds from the source distribution.
source=$(ls dist/boxsum-*[0-9].tar.gz 2>/dev/null || true)
if [ -n "$source" ]; then
	number=${source#dist/boxsum-}
	mkdir -p dist/conda
	sed -e "s/^  version: .*/  version: \"${number%.tar.gz}\"/" -e "s/^  sha256: .*/  sha256: $(sha256sum "$source" | cut -d ' ' -f 1)/" \
		python/conda/recipe.yaml >dist/conda/recipe.yaml
fi
ls -l dist
