package tables

import (
	"fmt"
	"testing"

	"github.com/boxsum/boxsum/internal/cli/flags"
)

func FuzzParseRange(f *testing.F) {
	for _, text := range []string{"0,1", "-5, 1e3", "1,2,3", "NaN,0", "0x1p-3,2", "3,2", "0,1e999", "", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := flags.ParseRange(text)
		if err != nil {
			return
		}
		if !(r.Low < r.High) || !r.Given {
			t.Errorf("%q became %+v", text, r)
		}
		if again, err := flags.ParseRange(fmt.Sprintf("%v,%v", r.Low, r.High)); err != nil || again != r {
			t.Errorf("%q became %+v and then %+v, %v", text, r, again, err)
		}
	})
}
