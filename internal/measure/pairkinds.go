// Code generated from the list of package pairs. DO NOT EDIT.

package measure

var kinds = map[string]pairKinds{
	"u8:u32":  kindsOf[uint8, uint32](),
	"u8:u64":  kindsOf[uint8, uint64](),
	"u8:f32":  kindsOf[uint8, float32](),
	"u8:f64":  kindsOf[uint8, float64](),
	"u8:i64":  kindsOf[uint8, int64](),
	"u16:u64": kindsOf[uint16, uint64](),
	"u16:f64": kindsOf[uint16, float64](),
	"u16:u32": kindsOf[uint16, uint32](),
	"u32:u64": kindsOf[uint32, uint64](),
	"u32:u32": kindsOf[uint32, uint32](),
	"i16:i64": kindsOf[int16, int64](),
	"i16:f64": kindsOf[int16, float64](),
	"i32:i64": kindsOf[int32, int64](),
	"f32:f64": kindsOf[float32, float64](),
	"f32:f32": kindsOf[float32, float32](),
	"f64:f64": kindsOf[float64, float64](),
}
