# Part of check.sh: prepares Wine, if it is installed.
# shellcheck shell=sh

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
