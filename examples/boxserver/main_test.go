package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestService(t *testing.T) {
	server := httptest.NewServer(newService())
	defer server.Close()
	img := image.NewGray(image.Rect(0, 0, 50, 40))
	var sum, squares float64
	for y := range 40 {
		for x := range 50 {
			v := uint8(x*y + 3*x)
			img.SetGray(x, y, color.Gray{Y: v})
			if x >= 10 && x < 30 && y >= 5 && y < 25 {
				sum, squares = sum+float64(v), squares+float64(v)*float64(v)
			}
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	added, err := http.Post(server.URL+"/images", "image/png", &file)
	if err != nil {
		t.Fatal(err)
	}
	var image struct {
		ID            string
		Width, Height int
	}
	if err := json.NewDecoder(added.Body).Decode(&image); err != nil || image.ID != "1" || image.Width != 50 || image.Height != 40 {
		t.Fatal(image, err)
	}
	answer, err := http.Get(server.URL + "/images/1/boxes?box=10,5,30,25&box=40,30,999,999&box=3,3,3,9")
	if err != nil {
		t.Fatal(err)
	}
	var boxes []statistics
	if err := json.NewDecoder(answer.Body).Decode(&boxes); err != nil || len(boxes) != 3 {
		t.Fatal(boxes, err)
	}
	mean := sum / 400
	if b := boxes[0]; b.Sum != uint64(sum) || b.Mean != mean || b.Area != 400 || math.Abs(b.Std-math.Sqrt(squares/400-mean*mean)) > 1e-9 {
		t.Error(b, "is not of sum", sum)
	}
	if boxes[1].Area != 100 || boxes[2].Area != 0 {
		t.Error(boxes)
	}
	for path, code := range map[string]int{
		"/images/1/boxes":               400,
		"/images/1/boxes?box=1,2,3":     400,
		"/images/1/boxes?box=1,2,x,4":   400,
		"/images/1/boxes?box=5,5,1,1":   400,
		"/images/2/boxes?box=0,0,1,1":   404,
		"/images/one/boxes?box=0,0,1,1": 404,
	} {
		if answer, err := http.Get(server.URL + path); err != nil || answer.StatusCode != code {
			t.Error(path, answer.StatusCode, err)
		}
	}
	if answer, err := http.Post(server.URL+"/images", "image/png", bytes.NewReader([]byte("no image"))); err != nil || answer.StatusCode != 400 {
		t.Error(answer.StatusCode, err)
	}
}
