package jobs

// An NLM is the job of the kernels of non-local means. Frames are first extended on all sides; the frames of an image
// follow each other.
type NLM struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	Stride, Distance                 int64 // of the extended frames
	Width, Height, Channels, Images  int32
	PixelBytes, Margin               int32 // Margin is what a patch and the search reach beyond a pixel
	Frames, Index                    int32 // of an image, and the one that is denoised
	Patch, Search                    int32 // how far they reach from their middle
	Absolute, Shift, Last            int32 // Last is the last entry of the table of weights
	Strips, Bands                    int32
}
