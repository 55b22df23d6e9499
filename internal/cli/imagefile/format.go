package imagefile

import (
	"slices"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
)

// jpegFormat is used only if the output's name requests it, because it changes pixels.
const jpegFormat = "jpeg"

// FormatOf returns the format of an output file for an image. Standard output and devices get the
// format otherwise. more lists additional formats to accept: JPEG only for pictures to look at,
// because it changes pixels.
func FormatOf(path, otherwise string, more ...string) (string, error) {
	switch format, ok := imgio.FormatOf(path); {
	case path == "":
		return "", console.Usage("no output: name a file with -o")
	case ok && format == jpegFormat && !slices.Contains(more, ".jpg"):
		return "", console.Usage("%s: JPEG would change the pixels: use .png", path)
	case ok && path != console.Standard:
		return format, CheckFolder(path)
	case path == console.Standard || IsDevice(path):
		return otherwise, nil
	}
	for _, extension := range more {
		if strings.HasSuffix(strings.ToLower(path), extension) {
			return extension[1:], CheckFolder(path)
		}
	}
	names := append([]string{".png", ".tiff", ".pgm", ".ppm", ".gif", ".npy"}, more...)
	return "", console.Usage("%s: unknown extension: images are written as %s", path, strings.Join(names, ", "))
}

// kept reports whether results are written in the format of their image. JPEG and GIF
// would change pixels.
func kept(format string) bool {
	return slices.Contains([]string{"png", "tiff", "pnm", "pgm", "ppm", "pam", "npy"}, format)
}

// FormatLike returns the format of an image's file if results are kept in it, or else PNG.
func FormatLike(src *Source) string {
	if kept(src.Format) {
		return src.Format
	}
	return "png"
}

// ExtensionLike is like FormatLike for a file that has not been read: it returns the
// extension for the result.
func ExtensionLike(in string) string {
	if format, ok := imgio.FormatOf(in); ok && kept(format) {
		return in[strings.LastIndexByte(in, '.'):]
	}
	return ".png"
}
