package papers_test

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/papers"
)

// This example runs the example of Bertazzini and Guiducci with their algorithm for threads.
func Example() {
	img := boxsum.Image[uint8]{Width: 3, Height: 3, Pix: []uint8{
		1, 0, 2,
		3, 2, 4,
		1, 5, 0,
	}}
	a, err := papers.Find("bertazzini/threads")
	if err != nil {
		panic(err)
	}
	job, err := papers.Prepare(a, &papers.Options{Threads: 2}, img)
	if err != nil {
		panic(err)
	}
	defer job.Close()
	if err := job.Run(); err != nil {
		panic(err)
	}
	fmt.Println("verified:", job.Verify() == nil)
	table, err := papers.Table[uint32](job, 0)
	if err != nil {
		panic(err)
	}
	inclusive := table.Inclusive()
	for y := range inclusive.Height {
		fmt.Println(inclusive.Row(y))
	}
	// Output:
	// verified: true
	// [1 1 3]
	// [4 6 12]
	// [5 12 18]
}
