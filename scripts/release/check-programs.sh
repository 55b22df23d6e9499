# Part of check.sh: runs the programs of the archives for this machine, and those that an emulator or Wine can run.
# shellcheck shell=sh disable=SC2154

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
	for text in LICENSE LICENSES.txt README.md CHANGELOG.md boxsum.1 completions/boxsum.bash completions/_boxsum completions/boxsum.fish completions/boxsum.ps1; do
		[ -s "$scratch/$name/$text" ] || { echo "$name has no $text"; exit 1; }
	done
	! command -v bash >/dev/null || bash -n "$scratch/$name/completions/boxsum.bash"
	case $name in
	*_static)
		command -v readelf >/dev/null || left_out "whether $name is static: needs readelf"
		! readelf -l "$program" 2>/dev/null | grep -q INTERP || { echo "$name is not static"; exit 1; } ;;
	esac
	case $name-$(uname -m) in
	*linux_amd64*-x86_64 | *linux_arm64*-aarch64) try "$name" "$program" ;;
	*linux_arm64_static-x86_64) if [ -n "$qemu" ]; then try "$name" "$qemu" "$program"; else left_out "$name: needs qemu-user"; fi ;;
	*linux_arm64-x86_64) if [ -n "$qemu" ] && [ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ]; then try "$name" "$qemu" -L /usr/aarch64-linux-gnu "$program"; else left_out "$name: needs qemu-user and libc6-arm64-cross"; fi ;;
	*windows*) if [ -n "$wine" ]; then try "$name" "$wine" "$program.exe"; else left_out "$name: needs Wine"; fi ;;
	*) echo "not run here: $name" ;;
	esac
done
