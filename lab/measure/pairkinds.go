// Code generated from the list of package pairs. DO NOT EDIT.

package measure

import (
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

// onDevices is what devices make of a pair of types.
func onDevices(pair raster.Pair) deviceKinds {
	if launch.GPU {
		switch pair.String() {
		case "u8:u32":
			return deviceKindsOf[uint8, uint32]()
		case "u8:u64":
			return deviceKindsOf[uint8, uint64]()
		case "u8:f32":
			return deviceKindsOf[uint8, float32]()
		case "u8:f64":
			return deviceKindsOf[uint8, float64]()
		case "u8:i64":
			return deviceKindsOf[uint8, int64]()
		case "u16:u64":
			return deviceKindsOf[uint16, uint64]()
		case "u16:f64":
			return deviceKindsOf[uint16, float64]()
		case "u16:u32":
			return deviceKindsOf[uint16, uint32]()
		case "u32:u64":
			return deviceKindsOf[uint32, uint64]()
		case "u32:u32":
			return deviceKindsOf[uint32, uint32]()
		case "i16:i64":
			return deviceKindsOf[int16, int64]()
		case "i16:f64":
			return deviceKindsOf[int16, float64]()
		case "i32:i64":
			return deviceKindsOf[int32, int64]()
		case "f32:f64":
			return deviceKindsOf[float32, float64]()
		case "f32:f32":
			return deviceKindsOf[float32, float32]()
		case "f64:f64":
			return deviceKindsOf[float64, float64]()
		}
	}
	return noDevices
}
