#!/bin/sh
# Uses what scripts/release.sh built, as a stranger would: checksums, programs of this machine and
# those that an emulator runs, packages, wheels in empty environments of every Python here.
set -eu
. "$(dirname "$0")/steps.sh"
: "${VERSION:?such as VERSION=v0.2.0}"
out=$(cd "${OUT:-dist}" && pwd)
number=${VERSION#v}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step "checksums"
(cd "$out" && sha256sum --quiet -c SHA256SUMS)

# try runs a program: its version, and a sum that is known.
try() {
	"$@" version --json | grep -q "\"version\": \"$VERSION\"" || { echo "$* is another version"; exit 1; }
	printf 'P5 4 3 255\n\001\002\003\004\005\006\007\010\011\012\013\014' >"$scratch/a.pgm"
	"$@" query "$scratch/a.pgm" --box 0,0,4,3 | grep -q 78 || { echo "$* sums wrongly"; exit 1; }
	echo "works: $*"
}

step "programs"
for archive in "$out"/boxsum_"$number"_linux_*.tar.gz; do
	[ -e "$archive" ] || continue
	name=$(basename "$archive" .tar.gz)
	tar -xzf "$archive" -C "$scratch"
	program=$scratch/$name/boxsum
	[ "$(wc -c <"$program")" -le 20971520 ] || echo "larger than 20 MB: $name"
	case $name in
	*amd64) ! readelf -l "$program" 2>/dev/null | grep -q INTERP || { echo "$name is not static"; exit 1; } ;;
	esac
	case $name-$(uname -m) in
	*amd64*-x86_64 | *arm64*-aarch64) try "$program" ;;
	*arm64-x86_64)
		qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
		if [ -n "$qemu" ]; then try "$qemu" "$program"; else left_out "$name: it takes qemu-user"; fi ;;
	*) echo "not run here: $name" ;;
	esac
done
if [ -e "$out/boxsum_${number}_windows_amd64.zip" ]; then
	python3 -m zipfile -e "$out/boxsum_${number}_windows_amd64.zip" "$scratch"
	wine=$(command -v wine64 || command -v wine || true)
	if [ -n "$wine" ]; then
		WINEDEBUG=-all try "$wine" "$scratch/boxsum_${number}_windows_amd64/boxsum.exe"
	else
		echo "not run here: windows/amd64 takes Wine"
	fi
fi

step "packages"
if command -v dpkg-deb >/dev/null; then
	for package in "$out"/*.deb; do
		[ -e "$package" ] || continue
		dpkg-deb -I "$package" | grep -E '^ (Version|Architecture|Installed-Size)'
		case $package in
		*_"$(dpkg --print-architecture)".deb)
			dpkg-deb -x "$package" "$scratch/root"
			try "$scratch/root/usr/bin/boxsum"
			[ -e "$scratch/root/usr/share/man/man1/boxsum.1.gz" ] ;;
		esac
	done
fi

step "wheels"
for wheel in "$out"/*.whl; do
	[ -e "$wheel" ] || continue
	[ "$(wc -c <"$wheel")" -le 10485760 ] || echo "larger than 10 MB: $(basename "$wheel")"
done
if [ -e .venv/release/bin/auditwheel ]; then
	for wheel in "$out"/*linux*.whl; do
		[ ! -e "$wheel" ] || .venv/release/bin/python -m auditwheel show "$wheel" | grep -o '"[a-z]*linux_[^"]*"' | head -1
	done
fi
for wheel in "$out"/*manylinux*_"$(uname -m)".whl; do
	[ -e "$wheel" ] || continue
	for python in python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
		"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || continue
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		[ ! -e "$scratch/venv$version" ] || continue
		"$python" -m venv "$scratch/venv$version"
		"$scratch/venv$version/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
		(cd "$scratch" && "venv$version/bin/python" -c '
import boxsum, numpy as np
a = np.arange(12, dtype=np.uint8).reshape(3, 4)
assert boxsum.__version__.startswith("'"${number%%-*}"'"), boxsum.__version__
assert boxsum.box_sum(boxsum.integral(a), [1, 1, 3, 2]) == 11
assert boxsum.blur(a, 1).shape == a.shape')
		echo "works: Python $version"
	done
done
step "all of it works"
