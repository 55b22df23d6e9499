package imgio

// Options say how pictures are read; the zero value reads them as viewers show them.
type Options struct {
	// Color is what becomes of colour.
	Color ColorMode
	// AsStored leaves the rows and columns in the order of the file, whatever
	// its orientation tag says.
	AsStored bool
	// Page is the page of a TIFF file, or the frame of a GIF file, from 1 on.
	// Zero stands for the first. Volumes have all pages, and do not look at it.
	Page int
}
