package raster

import (
	"errors"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// folder returns a folder with the given files.
func folder(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// pretend returns a host with the given files, without limits on the process.
func pretend(t *testing.T, files map[string]string) *host {
	return &host{filesUnder(folder(t, files)), func() (float64, float64) { return math.Inf(1), math.Inf(1) }}
}

const (
	meminfo = "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\nSwapTotal:       4194304 kB\nSwapFree:        2097152 kB\nHugePages_Total:       0\n"
	mounts2 = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mounts1 = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
)

// TestLimits tests that Available returns the least that the machine and the cgroups
// leave.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64 // 0: unknown
		swap  float64
		says  string
	}{
		"nothing is known": {files: map[string]string{}},
		"the machine":      {map[string]string{"proc/meminfo": meminfo}, 8 * gib, 2 * gib, "%.1f GB are free"},
		"garbage": {files: map[string]string{
			"proc/meminfo": "MemAvailable: lots kB\nMemAvailable:\n\x00\xff", "proc/self/cgroup": "0::\nmemory\n:::\n0:memory\n4:memory:relative\n",
			"proc/self/mountinfo": " - \n1 2 3 - cgroup2 x y\n1 2 3 relative /x - cgroup2 x y\n1 2 3 / relative - cgroup2 x y\n",
		}},
		"version 2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a.scope\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/a.scope/memory.max": "2147483648\n", "sys/fs/cgroup/a.scope/memory.current": "1073741824\n",
			"sys/fs/cgroup/a.scope/memory.stat": "anon 1\nfile 4\ninactive_file 314572800\nactive_file 314572800\nfile_dirty 104857600\nfile_writeback 104857600\n",
		}, 1024*mib + 400*mib - 64*mib, 2 * gib, "the cgroup, limited to 2.1 GB, leaves %.1f GB"},
		"no limit in version 2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "1073741824\n",
		}, 8 * gib, 2 * gib, "%.1f GB are free"},
		"a group above": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b/c d\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/a/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.current": "536870912\n",
			"sys/fs/cgroup/a/b/c d/memory.max": "4294967296\n", "sys/fs/cgroup/a/b/c d/memory.current": "0\n",
		}, 512*mib - 64*mib, 2 * gib, "the cgroup, limited to 1.1 GB, leaves %.1f GB"},
		"swap of a group": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/memory.max": "1073741824", "sys/fs/cgroup/memory.current": "536870912",
			"sys/fs/cgroup/memory.swap.max": "104857600", "sys/fs/cgroup/memory.swap.current": "4857600",
		}, 512*mib - 64*mib, 1e8, "the cgroup, limited to 1.1 GB, leaves %.1f GB"},
		"a full group": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/memory.max": "1073741824", "sys/fs/cgroup/memory.current": "1173741824",
			"sys/fs/cgroup/memory.swap.max": "0", "sys/fs/cgroup/memory.swap.current": "0",
		}, 1e-300, 0, "the cgroup, limited to 1.1 GB, leaves %.1f GB"},
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/y/z\n0::/\n", "proc/self/mountinfo": mounts1,
			"sys/fs/cgroup/memory/y/z/memory.limit_in_bytes": "2147483648\n", "sys/fs/cgroup/memory/y/z/memory.usage_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/y/z/memory.memsw.limit_in_bytes": "3221225472\n", "sys/fs/cgroup/memory/y/z/memory.memsw.usage_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/y/z/memory.stat": "inactive_file 1\ntotal_inactive_file 314572800\ntotal_active_file 104857600\ntotal_dirty 104857600\ntotal_writeback 0\n",
		}, 1024*mib + 300*mib - 64*mib, 1 * gib, "the cgroup, limited to 2.1 GB, leaves %.1f GB"},
		"version 1 without a limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/y\n", "proc/self/mountinfo": mounts1,
			"sys/fs/cgroup/memory/y/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/y/memory.usage_in_bytes": "1073741824\n",
		}, 8 * gib, 2 * gib, "%.1f GB are free"},
		"version 1, limited above what a container sees": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/abc\n",
			"proc/self/mountinfo":                        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime master:9 - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n",
			"sys/fs/cgroup/memory/memory.stat": "hierarchical_memory_limit 1073741824\n",
		}, 960 * mib, 2 * gib, "the cgroup, limited to 1.1 GB, leaves %.1f GB"},
		"a group that is not where the mount begins": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/memory.max": "104857600", "sys/fs/cgroup/memory.current": "52428800",
			"sys/fs/cgroup/other/memory.max": "1", "sys/fs/cgroup/other/memory.current": "1",
		}, 50*mib - 6.25*mib, 2 * gib, "the cgroup, limited to 0.1 GB, leaves %.1f GB"},
		"a mount with a space": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": `30 22 0:26 / /my\040groups rw - cgroup2 cgroup2 rw` + "\n",
			"my groups/a/memory.max": "104857600", "my groups/a/memory.current": "52428800",
		}, 50*mib - 6.25*mib, 0, "the cgroup, limited to 0.1 GB, leaves %.1f GB"},
		"a group that cannot be read": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/a/memory.max": "soon", "sys/fs/cgroup/a/memory.current": "-5",
		}, 8 * gib, 2 * gib, "%.1f GB are free"},
	} {
		t.Run(name, func(t *testing.T) {
			least := limit{bytes: math.Inf(1)}
			for _, l := range pretend(t, c.files).limits() {
				if l.bytes < least.bytes {
					least = l
				}
			}
			switch {
			case c.want == 0:
				if !math.IsInf(least.bytes, 1) {
					t.Errorf("%v of what nobody knows", least)
				}
			case math.Abs(least.bytes-c.want) > 1e-3 || least.swap != c.swap || least.says != c.says:
				t.Errorf("%v, want %.0f, swap %.0f, %q", least, c.want, c.swap, c.says)
			}
		})
	}
}

// TestProcessLimits tests that a limit on the process leaves the unused part of it,
// minus a reserve.
func TestProcessLimits(t *testing.T) {
	reserve := float64(addressReserve + threadReserve*runtime.GOMAXPROCS(0))
	h := pretend(t, map[string]string{"proc/self/status": "Name:\tx y\nVmSize:\t 1048576 kB\nVmData:\t  524288 kB\n"})
	for _, c := range []struct {
		addresses, data float64
		want            []float64
		says            string
	}{
		{math.Inf(1), math.Inf(1), nil, ""},
		{8 * gib, math.Inf(1), []float64{7*gib - reserve}, "ulimit -v"},
		{math.Inf(1), 8 * gib, []float64{7.5*gib - reserve}, "ulimit -d"},
		{8 * gib, 16 * gib, []float64{7*gib - reserve, 15.5*gib - reserve}, "ulimit -v"},
	} {
		h.rlimits = func() (float64, float64) { return c.addresses, c.data }
		all := h.limits()
		if len(all) != len(c.want) {
			t.Fatalf("%v, want %v", all, c.want)
		}
		for i, l := range all {
			if l.bytes != c.want[i] || i == 0 && !strings.Contains(l.says, c.says) {
				t.Errorf("%v, want %v", l, c.want[i])
			}
		}
	}
	h.rlimits = func() (float64, float64) { return 1 * gib, 1 }
	for _, l := range h.limits() {
		if l.bytes > gib/2 { // the spare memory of this test's heap
			t.Errorf("%v from a process that has all it may", l)
		}
	}
}

// TestRefused tests that allocations that do not fit are refused in advance, with
// an error that names the limit.
func TestRefused(t *testing.T) {
	files := map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2,
		"sys/fs/cgroup/memory.max": "268435456", "sys/fs/cgroup/memory.current": "134217728", "sys/fs/cgroup/memory.swap.max": "0",
	}
	defer FakeLimits(folder(t, files), math.Inf(1), math.Inf(1))()
	if got, known := Available(); !known || got != 112*mib {
		t.Errorf("%d bytes are available, %v", got, known)
	}
	want := "this needs 0.2 GB of memory and the cgroup, limited to 0.3 GB, leaves 0.1 GB"
	if err := Check(200e6); !errors.Is(err, ErrMemory) || err.Error() != want {
		t.Errorf("error is %v", err)
	}
	if err := Check(100e6); err != nil {
		t.Error(err)
	}
	if _, err := Make[uint64](200e6 / 8); !errors.Is(err, ErrMemory) || err.Error() != want {
		t.Errorf("error is %v", err)
	}
	if _, err := Make[uint64](largeBytes/8 - 1); err != nil {
		t.Errorf("little memory: %v", err)
	}
	if _, _, err := NewSums[uint32](PlaneExtent(8000, 8000, 1, 0)); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "a table of 8000×8000 with 1 channel: this needs 0.3 GB") {
		t.Errorf("error is %v", err)
	}
	if err := Fit(PlaneExtent(4000, 4000, 1, 0), 12); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "tables of 4000×4000 with 1 channel: this needs 0.2 GB") {
		t.Errorf("error is %v", err)
	}
	if err := errors.Join(Fit(PlaneExtent(4000, 4000, 1, 0), 4), Fit(PlaneExtent(100, 100, 1, 0), 12), Fit(PlaneExtent(0, 0, 0, 0), 12)); err != nil {
		t.Error(err)
	}
}

// TestHere tests that the limits of this machine can be read, whatever they are.
func TestHere(t *testing.T) {
	got, known := Available()
	if runtime.GOOS != "linux" {
		if known || got != math.MaxUint64 {
			t.Errorf("%d, %v", got, known)
		}
		return
	}
	if !known || got == 0 || got > total() {
		t.Errorf("%d of %d bytes are available, %v", got, total(), known)
	}
}

// FuzzLimits reads files with arbitrary contents. No group may be outside its
// mount, and no limit negative.
func FuzzLimits(f *testing.F) {
	f.Add(meminfo, "0::/a/b\n", mounts2, "VmSize:\t 1 kB\nVmData: 1 kB\n", "2147483648\n", "inactive_file 1\nfile_dirty 3\n")
	f.Add(meminfo, "4:memory:/a\n0::/\n", mounts1, "VmSize:\n", "9223372036854771712", "total_inactive_file 1\nhierarchical_memory_limit 5\n")
	f.Add("", "0::/../../x\n", `1 2 3 /..\057 /\040/.. rw - cgroup2 a b`, "", "max", "\\")
	f.Fuzz(func(t *testing.T, meminfo, groups, mounts, status, number, stat string) {
		for _, m := range parseMounts(mounts) {
			v1, v2, _ := parseGroups(groups)
			for _, in := range []string{v1, v2, groups} {
				dir := m.dir(in)
				if rest, ok := strings.CutPrefix(dir, m.point); !ok || path.Clean(dir) != dir || m.point != "/" && rest != "" && rest[0] != '/' {
					t.Fatalf("%q of %q in %q", dir, in, m.point)
				}
			}
		}
		files := map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": groups, "proc/self/mountinfo": mounts, "proc/self/status": status}
		h := &host{text: func(name string) string {
			if text, ok := files[name]; ok {
				return text
			}
			if path.Base(name) == "memory.stat" {
				return stat
			}
			return number
		}, rlimits: func() (float64, float64) { return 1 << 30, 1 << 29 }}
		for _, l := range h.limits() {
			if !(l.bytes >= 0) || !(l.swap >= 0) {
				t.Fatalf("%v", l)
			}
		}
	})
}
