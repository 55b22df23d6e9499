package rank_test

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/rank"
)

func ExampleFilter() {
	img := boxsum.Image[uint8]{Pix: []uint8{
		10, 10, 12, 90, 91,
		10, 11, 12, 90, 95,
	}, Width: 5, Height: 2}
	for _, s := range []rank.Statistic{rank.Otsu, rank.Gradient, rank.Equalize} {
		out, err := rank.Filter(img, s, filter.Square(3), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s, out.Pix[:5])
	}
	// Output:
	// otsu [10 10 12 12 91]
	// gradient [1 2 80 83 5]
	// equalize [191 127 170 170 191]
}
