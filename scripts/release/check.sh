#!/bin/sh
# Tests the output of scripts/release/build.sh from a user's perspective: checksums, the programs for this machine and
# those that an emulator or Wine runs, packages, wheels in empty environments of every installed Python, and of
# one for arm64 and one for Windows from Maven Central. Whatever cannot be tested is listed.
set -eu
. "$(dirname "$0")/../steps.sh"
VERSION=${VERSION:-$(sed -n 's/.* boxsum_\([0-9][^_]*\)_.*/v\1/p' "${OUT:-dist}/SHA256SUMS" 2>/dev/null | head -1)} # of the files in dist
: "${VERSION:?nothing in ${OUT:-dist}: make release VERSION=v0.2.0}"
out=$(cd "${OUT:-dist}" && pwd)
number=${VERSION#v}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)

. scripts/release/wine.sh

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

for part in programs packages wheels other-wheels; do
	. scripts/release/check-$part.sh
done

step "manifests of Homebrew and Scoop name what was built"
for manifest in "$out"/homebrew/Casks/boxsum.rb "$out"/scoop/boxsum.json; do
	[ -e "$manifest" ] || continue
	for sum in $(grep -oE '\b[0-9a-f]{64}\b' "$manifest"); do
		grep "^$sum " "$out/SHA256SUMS" || { echo "$manifest: $sum is of no file"; exit 1; }
	done
done

step "everything that was built works"
