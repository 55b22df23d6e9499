package regress

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/detect"
)

// randomCascade writes a cascade of stumps in OpenCV's format. About half of the windows
// pass each stage, so that most work is in the first few, as it is for faces.
func randomCascade(stages, stumps int) string {
	const side = 20
	rng := rand.New(rand.NewPCG(3, 4))
	var xml, features strings.Builder
	fmt.Fprintf(&xml, `<opencv_storage><cascade><stageType>BOOST</stageType><featureType>HAAR</featureType>
<height>%d</height><width>%d</width><stageParams><maxWeakCount>%d</maxWeakCount></stageParams>
<featureParams><maxCatCount>0</maxCatCount></featureParams><stageNum>%d</stageNum><stages>`, side, side, stumps, stages)
	feature := 0
	for range stages {
		fmt.Fprintf(&xml, "<_><maxWeakCount>%d</maxWeakCount><stageThreshold>0</stageThreshold><weakClassifiers>\n", stumps)
		for range stumps {
			fmt.Fprintf(&xml, "<_><internalNodes>0 -1 %d 0</internalNodes><leafValues>%d %d</leafValues></_>\n", feature, 1-feature%2*2, feature%2*2-1)
			width, height := 2+rng.IntN(8), 2+rng.IntN(8)
			x, y := rng.IntN(side-2*width+1), rng.IntN(side-height+1)
			fmt.Fprintf(&features, "<_><rects><_>%d %d %d %d -1.</_><_>%d %d %d %d 2.</_></rects><tilted>0</tilted></_>\n",
				x, y, 2*width, height, x+width, y, width, height)
			feature++
		}
		xml.WriteString("</weakClassifiers></_>\n")
	}
	fmt.Fprintf(&xml, "</stages><features>\n%s</features></cascade></opencv_storage>\n", features.String())
	return xml.String()
}

func BenchmarkDetect(b *testing.B) {
	cascade, err := detect.Load(strings.NewReader(randomCascade(16, 9)))
	check(b, err)
	forWorkers[uint8](b, []size{small, sd, hd}, func(b *testing.B, s size) func(int) error {
		img := noise[uint8](b, s)
		return func(workers int) error {
			_, err := cascade.Detect(img, &detect.Options{Workers: workers})
			return err
		}
	})
}
