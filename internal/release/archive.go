package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// A file goes into archives. Those of a program may be run.
type file struct {
	name string
	data []byte
	run  bool
}

func (f file) mode() int64 {
	if f.run {
		return 0o755
	}
	return 0o644
}

// tarGz packs files under a folder. The bytes depend on nothing else.
func tarGz(w io.Writer, folder string, files []file, at time.Time) error {
	z := newGzip(w)
	t := tar.NewWriter(z)
	made := map[string]bool{".": true, "/": true}
	for _, f := range files {
		name := path.Join(folder, f.name)
		prefix := ""
		if strings.HasPrefix(folder, "./") { // as dpkg has them
			prefix = "./"
		}
		var parents []string
		for parent := path.Dir(name); !made[parent]; parent = path.Dir(parent) {
			parents, made[parent] = append(parents, parent), true
		}
		for _, parent := range slices.Backward(parents) {
			if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: prefix + parent + "/", Mode: 0o755, ModTime: at, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
		}
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: prefix + name, Mode: f.mode(), Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

func zipped(w io.Writer, folder string, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// deb writes a Debian package: an ar archive of what it is and what it has.
func deb(w io.Writer, version, arch, depends string, files []file, at time.Time) error {
	size, sums := 0, ""
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf(`Package: boxsum
Version: %s
Architecture: %s
Maintainer: The boxsum authors <boxsum@users.noreply.github.com>
Installed-Size: %d
%sSuggests: opencv-data, ffmpeg
Section: graphics
Priority: optional
Homepage: https://github.com/boxsum/boxsum
Description: summed-area tables (integral images) and what is made of them
 Sums, means and deviations of any box of an image in constant time; blurs,
 thresholds for scans, templates, faces, and images larger than memory.
`, strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "~"), arch, size, depends)
	var head, body bytes.Buffer
	if err := tarGz(&head, "./", []file{{name: "control", data: []byte(control)}, {name: "md5sums", data: []byte(sums)}}, at); err != nil {
		return err
	}
	if err := tarGz(&body, "./", files, at); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		data []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", head.Bytes()}, {"data.tar.gz", body.Bytes()}} {
		fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", part.name, at.Unix(), 0, 0, 0o100644, len(part.data))
		if _, err := w.Write(part.data); err != nil {
			return err
		}
		if len(part.data)%2 == 1 {
			io.WriteString(w, "\n")
		}
	}
	return nil
}

func newGzip(w io.Writer) *gzip.Writer {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}
