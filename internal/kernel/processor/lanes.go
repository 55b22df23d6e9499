package processor

// FastChannels is the largest number of interleaved channels that assembly handles.
const FastChannels = 4

// Lanes returns the first word of a description of how channels are arranged in a vector of sums of
// 4 or 8 bytes. With it, one assembly routine supports every number of channels up to
// [FastChannels]. The generator relies on its layout.
func Lanes(sumBytes, channels int) *uint32 { return &allLanes[sumBytes/4-1][channels-1].step[0][0] }

// lanes describes lanes of 32 bits, two for each 64-bit sum, in blocks of 32 bytes.
type lanes struct {
	step [3][16]uint32 // for 1, 2 and 4 pixels to the left, the lane that holds that sum
	keep [3][16]uint32 // all ones if that lane is in the same block
	low  [16]uint32    // for the upper block: the lane with the lower block's last sum of the same channel
	last [16]uint32    // for the lower block: the lane with the vector's last sum of the same channel
	next [16]uint32    // the same for all lanes of the next vector
}

// allLanes is indexed by lanes per sum and by channels, both counted from one.
var allLanes = func() (all [2][FastChannels]lanes) {
	const block = 8
	for wide := range all {
		for channels := range all[wide] {
			l, pixel := &all[wide][channels], (channels+1)*(wide+1)
			for i := range 2 * block {
				in := i % block
				for s := range l.step {
					if left := in - pixel<<s; left >= 0 {
						l.step[s][i] = uint32(i - in + left)
						l.keep[s][i] = ^uint32(0)
					}
				}
				l.low[i] = uint32(block - pixel + in%pixel)
				l.last[i] = uint32(2*block - pixel + in%pixel)
				l.next[i] = uint32(2*block - pixel + i%pixel)
			}
		}
	}
	return all
}()
