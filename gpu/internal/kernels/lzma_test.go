package kernels

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func findXZ(t *testing.T) string {
	t.Helper()
	xz, err := exec.LookPath("xz")
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skip("it takes xz")
	}
	return xz
}

// xz takes the same bytes out.
func TestLZMA(t *testing.T) {
	files, err := fs.Glob(built, "built/*.lzma")
	if err != nil || len(files) < 2*len(modules()) {
		t.Fatal(len(files), "files", err)
	}
	xz := findXZ(t)
	for _, name := range files {
		content, err := built.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpackLZMA(content)
		if err != nil {
			t.Fatal(name, err)
		}
		if testing.Short() && len(got) > 1<<20 {
			continue
		}
		want, err := exec.Command(xz, "--format=lzma", "-dc", name).Output()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s comes out as %d bytes, by xz as %d (%v)", name, len(got), len(want), err)
		}
	}
}

// Files by xz with other properties, of contents that reach every kind of match.
func TestLZMAProperties(t *testing.T) {
	xz := findXZ(t)
	far := make([]byte, 300_000)
	for i := uint32(1); i < uint32(len(far)/4); i++ {
		binary.LittleEndian.PutUint32(far[4*i:], i*2654435761>>8)
	}
	contents := [][]byte{nil, []byte("a"), bytes.Repeat([]byte("a"), 1000), []byte(strings.Repeat("one two three ", 99) + strings.Repeat("two one", 99)), append(far, far[5:200_000]...)}
	for _, properties := range []string{"lc=0,lp=4,pb=4", "lc=4,lp=0,pb=0", "lc=3,lp=0,pb=2", "lc=1,lp=3,pb=1"} {
		for _, content := range contents {
			c := exec.Command(xz, "--format=lzma", "--lzma1=dict=16MiB,"+properties, "-c")
			c.Stdin, c.Stderr = bytes.NewReader(content), os.Stderr
			packed, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := unpackLZMA(packed); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes for %d (%v)", properties, len(got), len(content), err)
			}
		}
	}
}

// Damage is an error or other bytes, and no panic.
func TestLZMADamaged(t *testing.T) {
	packed, err := built.ReadFile("built/match.compute_75.ptx.lzma")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(packed); i += 7 {
		if _, err := unpackLZMA(packed[:i]); err == nil {
			t.Fatalf("%d of %d bytes are taken for the whole", i, len(packed))
		}
		damaged := bytes.Clone(packed)
		damaged[i] ^= 0x10
		unpackLZMA(damaged)
	}
}

func BenchmarkLZMA(b *testing.B) {
	packed, err := built.ReadFile("built/squares.sm_90.cubin.lzma")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		content, err := unpackLZMA(packed)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(content)))
	}
}
