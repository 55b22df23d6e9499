package store

import (
	"encoding/binary"
	"sync"
)

// bloscPack reads what c-blosc writes. What it writes itself are elements whose bytes are shuffled, each byte of them
// in a stream of its own: as it is where it is noise, as the low bytes of sums are, and else by zstd. That is faster
// than zstd alone by as much as there is noise, and smaller.
type bloscPack struct {
	Name      string `json:"cname"`
	Level     int    `json:"clevel"`
	Shuffle   any    `json:"shuffle"` // a name, or a number in version 2
	TypeSize  int    `json:"typesize"`
	BlockSize int    `json:"blocksize"`
}

// bloscBlock is the size of the blocks that we write: a stream of one of 8 bytes is what zstd takes at once.
const bloscBlock = 1 << 20

func (b *bloscPack) bound(n int) int { return n + n>>5 + 4096 }
func (b *bloscPack) describe() named { return named{Name: "blosc", Configuration: mustJSON(b)} }

var bloscBlocks = sync.Pool{New: func() any { return new([bloscBlock]byte) }}

func (b *bloscPack) pack(buf, data []byte) ([]byte, error) {
	size := b.TypeSize
	if b.Name != "zstd" || b.Shuffle != "shuffle" || size < 1 || size > 16 || bloscBlock%size != 0 {
		return nil, bad("blosc is written with zstd, and shuffled elements of 1, 2, 4, 8 or 16 bytes")
	}
	const header = 16
	block := max(min(bloscBlock, len(data)/size*size), 1)
	if block/size < 128 { // too short for streams: it is stored
		out := append(buf[:0], 2, 1, 2|4<<5, byte(size))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
		out = binary.LittleEndian.AppendUint32(out, uint32(max(len(data), 1)))
		out = binary.LittleEndian.AppendUint32(out, uint32(header+len(data)))
		return append(out, data...), nil
	}
	blocks := ceil(len(data), block)
	out := room(buf[:0], b.bound(len(data)))[:header+4*blocks]
	copy(out, []byte{2, 1, 1 | 4<<5, byte(size)}) // version, shuffled, zstd
	binary.LittleEndian.PutUint32(out[4:], uint32(len(data)))
	binary.LittleEndian.PutUint32(out[8:], uint32(block))
	whole := bloscBlocks.Get().(*[bloscBlock]byte)
	defer bloscBlocks.Put(whole)
	zstd := zstdPack{level: b.Level}
	for i := range blocks {
		binary.LittleEndian.PutUint32(out[header+4*i:], uint32(len(out)))
		part := data[i*block : min((i+1)*block, len(data))]
		shuffled := whole[:len(part)]
		shuffle(shuffled, part, size)
		streams := size
		if len(part) < block {
			streams = 1
		}
		n := len(part) / streams
		for k := range streams {
			stream, at := shuffled[k*n:(k+1)*n], len(out)
			out = append(out, 0, 0, 0, 0)
			if !isNoise(&zstd, stream) {
				packed, err := zstd.pack(out[len(out):], stream)
				if err != nil {
					return nil, err
				}
				if len(packed) < n {
					out = append(out, packed...) // onto itself where there was room
					binary.LittleEndian.PutUint32(out[at:], uint32(len(packed)))
					continue
				}
			}
			binary.LittleEndian.PutUint32(out[at:], uint32(n))
			out = append(out, stream...)
		}
	}
	binary.LittleEndian.PutUint32(out[12:], uint32(len(out)))
	return out, nil
}

// isNoise reports whether zstd does nothing for a sample of bytes.
func isNoise(zstd *zstdPack, data []byte) bool {
	const sample = 4096
	if len(data) < 2*sample {
		return false
	}
	var memory [sample + sample/8]byte
	packed, err := zstd.pack(memory[:0], data[len(data)/2:][:sample])
	return err == nil && len(packed) > sample-sample/16
}

// shuffle puts the first bytes of all elements first, then the second of all. What is no whole element stays.
func shuffle(dst, src []byte, size int) {
	n := len(src) / size
	i := 0
	if size == 8 {
		for ; i+8 <= n; i += 8 {
			var m [8]uint64
			for k := range m {
				m[k] = binary.LittleEndian.Uint64(src[8*(i+k):])
			}
			transpose8(&m)
			for k := range m {
				binary.LittleEndian.PutUint64(dst[k*n+i:], m[k])
			}
		}
	}
	for k := range size {
		part := dst[k*n : (k+1)*n]
		for i := i; i < n; i++ {
			part[i] = src[i*size+k]
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unshuffle puts the bytes of elements together again.
func unshuffle(dst, src []byte, size int) {
	n := len(dst) / size
	i := 0
	if size == 8 {
		for ; i+8 <= n; i += 8 {
			var m [8]uint64
			for k := range m {
				m[k] = binary.LittleEndian.Uint64(src[k*n+i:])
			}
			transpose8(&m)
			for k := range m {
				binary.LittleEndian.PutUint64(dst[8*(i+k):], m[k])
			}
		}
	}
	for k := range size {
		part := src[k*n : (k+1)*n]
		for i := i; i < n; i++ {
			dst[i*size+k] = part[i]
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transpose8 swaps rows and columns of 8×8 bytes: quarters, then quarters of these, then single bytes.
func transpose8(m *[8]uint64) {
	for i := range 4 {
		a, b := m[i], m[i+4]
		m[i], m[i+4] = a&0x00000000ffffffff|b<<32, a>>32|b&0xffffffff00000000
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		a, b := m[i], m[i+2]
		m[i], m[i+2] = a&0x0000ffff0000ffff|b&0x0000ffff0000ffff<<16, a>>16&0x0000ffff0000ffff|b&0xffff0000ffff0000
	}
	for i := 0; i < 8; i += 2 {
		a, b := m[i], m[i+1]
		m[i], m[i+1] = a&0x00ff00ff00ff00ff|b&0x00ff00ff00ff00ff<<8, a>>8&0x00ff00ff00ff00ff|b&0xff00ff00ff00ff00
	}
}
