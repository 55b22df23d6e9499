// Command boxserver answers questions about boxes of images over HTTP.
//
//	go run ./examples/boxserver -listen localhost:8080
//	curl --data-binary @photo.png localhost:8080/images              # {"id":"1","width":640,"height":480}
//	curl 'localhost:8080/images/1/boxes?box=0,0,64,64&box=9,9,99,99' # [{"sum":…,"mean":…,"std":…,"area":…},…]
//
// A table is made once for each image; a box then takes less than a microsecond.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
)

const (
	largestImage = 64 << 20 // bytes of a file
	mostImages   = 16       // number kept; the oldest is dropped
	mostBoxes    = 10000    // in one query
)

func main() {
	listen := flag.String("listen", "localhost:8080", "`address` to listen on")
	flag.Parse()
	server := &http.Server{Addr: *listen, Handler: newService(), ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}

type service struct {
	mu     sync.RWMutex
	tables map[int]*boxsum.SquaredTable[uint32, uint64]
	next   int
}

func newService() http.Handler {
	s := &service{tables: map[int]*boxsum.SquaredTable[uint32, uint64]{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /images", s.add)
	mux.HandleFunc("GET /images/{id}/boxes", s.boxes)
	return mux
}

// add receives an image and makes its table.
func (s *service) add(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestImage))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		http.Error(w, "the image is too large", http.StatusRequestEntityTooLarge)
		return
	} else if err != nil {
		return // the client has disconnected
	}
	picture, err := imgio.Decode(bytes.NewReader(body), imgio.ToGray)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer picture.Close()
	img, ok := picture.Image.(boxsum.Image[uint8])
	if !ok {
		http.Error(w, "image has pixels of more than 8 bits, want 8", http.StatusBadRequest)
		return
	}
	table, err := boxsum.IntegrateSquares[uint32, uint64](img, &boxsum.Options{Context: r.Context()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	s.next++
	id := s.next
	s.tables[id] = table
	delete(s.tables, id-mostImages)
	s.mu.Unlock()
	answer(w, map[string]any{"id": strconv.Itoa(id), "width": img.Width, "height": img.Height})
}

type statistics struct {
	Sum  uint64  `json:"sum"`
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	Area int     `json:"area"`
}

// boxes answers queries for any number of box=x0,y0,x1,y1 parameters.
func (s *service) boxes(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	s.mu.RLock()
	table := s.tables[id] // immutable, so it may be read concurrently
	s.mu.RUnlock()
	if table == nil {
		http.Error(w, "no such image", http.StatusNotFound)
		return
	}
	asked := r.URL.Query()["box"]
	if len(asked) == 0 || len(asked) > mostBoxes {
		http.Error(w, fmt.Sprintf("ask for 1 to %d boxes: box=x0,y0,x1,y1", mostBoxes), http.StatusBadRequest)
		return
	}
	all := make([]statistics, len(asked))
	for i, text := range asked {
		box, err := parse(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		box = box.Intersect(table.Sum.Bounds())
		area := box.Dx() * box.Dy()
		mean := table.Mean(box, 0)
		all[i] = statistics{uint64(mean*float64(area) + 0.5), mean, table.StdDev(box, 0), area}
	}
	answer(w, all)
}

func parse(text string) (image.Rectangle, error) {
	parts := strings.Split(text, ",")
	var n [4]int
	if len(parts) != len(n) {
		return image.Rectangle{}, fmt.Errorf("box is %q, want four integers x0,y0,x1,y1", text)
	}
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(parts[i]); err != nil {
			return image.Rectangle{}, fmt.Errorf("box is %q, want four integers x0,y0,x1,y1", text)
		}
	}
	if n[0] > n[2] || n[1] > n[3] {
		return image.Rectangle{}, fmt.Errorf("box is %q, want x0 ≤ x1 and y0 ≤ y1", text)
	}
	return image.Rect(n[0], n[1], n[2], n[3]), nil
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Print(err)
	}
}
