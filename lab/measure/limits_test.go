package measure

import (
	"bytes"
	"testing"
)

// TestLimits tests that the limits write every byte of the output and none outside it.
func TestLimits(t *testing.T) {
	for _, types := range []string{"u8:u32", "f64:f64", squares} {
		for _, workers := range []int{1, 2, 3, 7} {
			for _, size := range []Size{{Name: "", Width: 1, Height: 1}, {Name: "", Width: 33, Height: 9}, {Name: "", Width: 640, Height: 48}} {
				c := Case{Types: types, Channels: 3}
				w, err := Prepare(c, size, []int{1}, Options{Level: best})
				if err != nil {
					t.Fatal(err)
				}
				pixels := bytes.Clone(w.Pixels)
				for _, limit := range []*Contestant{w.Fill(workers), w.FillRead(workers)} {
					for _, table := range w.Tables {
						copy(table.memory, bytes.Repeat([]byte{0xa5}, len(table.memory)))
					}
					if _, err := limit.Run(1, 0); err != nil {
						t.Fatal(err)
					}
					for _, table := range w.Tables {
						n := len(table.output)
						if bytes.Contains(table.output, []byte{0xa5}) || bytes.Count(table.memory[n:], []byte{0xa5}) != len(table.memory)-n {
							t.Errorf("%v %d×%d with %d workers: not just the output was filled", c, size.Width, size.Height, workers)
						}
					}
				}
				want := make([][]byte, len(w.Tables))
				head := len(pixels)
				for i, table := range w.Tables {
					for j := range table.output {
						table.output[j] = byte(j * 7 >> 2)
					}
					rest := bytes.Clone(table.output[head:])
					copy(rest[len(rest)/2:], rest[:len(rest)/2])
					want[i] = append(bytes.Clone(pixels[:head]), rest...)
					head = 0
				}
				if _, err := w.Copy(workers).Run(1, 0); err != nil {
					t.Fatal(err)
				}
				for i, table := range w.Tables {
					if !bytes.Equal(table.output, want[i]) {
						t.Errorf("%v %d×%d with %d workers: table %d is not the copy", c, size.Width, size.Height, workers, i)
					}
				}
				if !bytes.Equal(w.Pixels, pixels) {
					t.Errorf("%v: the pixels changed", c)
				}
			}
		}
	}
}

func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 1 << 20} {
		for parts := 1; parts < 20; parts++ {
			end := 0
			for part := range parts {
				lo, hi := share(n, part, parts)
				if lo != end || hi < lo || lo%64 != 0 && lo != n {
					t.Fatalf("part %d of %d of %d bytes is [%d,%d) after %d", part, parts, n, lo, hi, end)
				}
				end = hi
			}
			if end != n {
				t.Fatalf("%d parts of %d bytes end at %d", parts, n, end)
			}
		}
	}
}
