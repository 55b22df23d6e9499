package cli

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/imgio"
)

// npyMain is a command for the scripts:
//
//	npy make FILE TYPE HxW[xC] VALUE...
//	npy print FILE [KEY]
//
// Values are taken again from the first when they are fewer than the array has. Types
// that imgio does not write are numbers as the file has them: i8, f16 (its bits), and
// TYPE-big and TYPE-fortran, whose values come in the order of the file.
// KEY is that of a table in a .npz file.
func npyMain() {
	err := fmt.Errorf("usage: npy make|print FILE ...")
	switch args := os.Args[1:]; {
	case len(args) > 3 && args[0] == "make":
		err = npyMake(args[1], args[2], args[3], args[4:])
	case len(args) > 1 && args[0] == "print":
		err = npyPrint(args[1], args[2:]...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "npy:", err)
		os.Exit(1)
	}
}

func npyMake(path, element, dims string, values []string) error {
	var shape []int
	for d := range strings.SplitSeq(dims, "x") {
		n, err := strconv.Atoi(d)
		if err != nil {
			return err
		}
		shape = append(shape, n)
	}
	makers := map[string]func(string, []int, []string) error{
		"u8": npyOf[uint8], "u16": npyOf[uint16], "u32": npyOf[uint32], "u64": npyOf[uint64], "i16": npyOf[int16],
		"i32": npyOf[int32], "i64": npyOf[int64], "f32": npyOf[float32], "f64": npyOf[float64],
	}
	name, order, other := strings.Cut(element, "-")
	if !other && makers[element] != nil {
		return makers[element](path, shape, values)
	}
	return npyRaw(path, name, order, strings.ReplaceAll(dims, "x", ", "), values)
}

// npyRaw writes integers in any order, as many as there are values.
func npyRaw(path, name, order, shape string, values []string) error {
	sizes := map[string]int{"i8": 1, "f16": 2, "i64": 8, "u64": 8}
	size := sizes[name]
	if size == 0 {
		return fmt.Errorf("no type is called %s", name)
	}
	mark := map[string]string{"": "<", "fortran": "<", "big": ">"}[order]
	fortran := map[bool]string{false: "False", true: "True"}[order == "fortran"]
	header := fmt.Sprintf("{'descr': '%s%c%d', 'fortran_order': %s, 'shape': (%s), }\n", mark, name[0], size, fortran, shape)
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	file = append(file, header...)
	for _, v := range values {
		number, err := strconv.ParseInt(v, 0, 64)
		if wide, wrong := strconv.ParseUint(v, 0, 64); err != nil && wrong == nil {
			number, err = int64(wide), nil
		}
		if err != nil {
			return err
		}
		raw := binary.LittleEndian.AppendUint64(nil, uint64(number))[:size]
		if mark == ">" {
			slices.Reverse(raw)
		}
		file = append(file, raw...)
	}
	return os.WriteFile(path, file, 0o644)
}

func npyOf[T imgio.Element](path string, shape []int, values []string) error {
	size := 1
	for _, n := range shape {
		size *= n
	}
	parsed := make([]T, len(values))
	for i, v := range values {
		if _, err := fmt.Sscan(v, &parsed[i]); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	data := make([]T, size)
	for i := range data {
		data[i] = parsed[i%len(parsed)]
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return imgio.WriteNPY(f, shape, iter.Seq[[]T](func(yield func([]T) bool) { yield(data) }))
}

// npyPrint prints the type and shape of an array and then its rows.
func npyPrint(path string, key ...string) error {
	array, err := npyOpen(path, key...)
	if err != nil {
		return err
	}
	data := reflect.ValueOf(array.Data)
	fmt.Println(data.Type().Elem(), array.Shape)
	row := data.Len() / array.Shape[0]
	for i := 0; i < data.Len(); i += row {
		fmt.Println(strings.Trim(fmt.Sprint(data.Slice(i, i+row)), "[]"))
	}
	return nil
}

func npyOpen(path string, key ...string) (*imgio.Array, error) {
	if len(key) == 0 {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return imgio.ReadNPY(f)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open(key[0] + ".npy")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return imgio.ReadNPY(f)
}
