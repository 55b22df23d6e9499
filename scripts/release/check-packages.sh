# Part of check.sh: installs the packages into empty folders, runs their programs, and removes them.
# shellcheck shell=sh disable=SC2154

# installed ROOT tests the program and the texts of a package that was unpacked into an empty folder.
installed() {
	try "$(basename "$package")" "$1/usr/bin/boxsum"
	gzip -t "$1/usr/share/man/man1/boxsum.1.gz"
	for text in bash-completion/completions/boxsum fish/vendor_completions.d/boxsum.fish doc/boxsum/copyright doc/boxsum/LICENSES.txt; do
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
		command -v dpkg >/dev/null || { left_out "$package: needs dpkg"; continue; }
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
		command -v rpm >/dev/null || { left_out "$package: needs rpm"; continue; }
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
