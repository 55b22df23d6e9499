package browser

import (
	"testing"
)

func engines(t *testing.T, run func(t *testing.T, address string)) {
	t.Run("server", func(t *testing.T) { run(t, serve(t)) })
	t.Run("wasm", func(t *testing.T) {
		address, err := site()
		if err != nil {
			t.Fatal(err)
		}
		run(t, address)
	})
}

// TestViews opens every view on every screen.
func TestViews(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		for _, f := range forms {
			t.Run(f.name, func(t *testing.T) {
				b := open(t, address, f)
				for _, name := range []string{"boxes", "work", "how", "reports"} {
					b.do(navigate(name)...)
					b.wait(`boxsum.view === '` + name + `'`)
					if name == "work" {
						b.wait(`boxsum.stage.result`)
					}
					b.settled()
					if wide := eval[float64](b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
						t.Errorf("%s is wider than the screen by %v pixels", name, wide)
					}
					b.shot(f.name + "-" + name)
				}
				b.quiet()
			})
		}
	})
}
