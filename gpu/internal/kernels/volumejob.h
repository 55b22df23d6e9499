// What the host tells a one-pass kernel of volumes. gpu/volume_fast.go has the
// same struct.
struct BoxsumVolume {
  const char* in;  // the first voxel
  char* out;       // entry (0, 0, 0) of the table
  uint4* edges;    // what tiles tell each other
  unsigned* tickets;
  char* planes;    // the sums of each slab along z, in whole tiles, where there are several
  long long inStride, inSlice;  // bytes
  long long outStride, outSlice;
  double offset;
  int width, height, depth;
  int tilesX, tilesY;
  unsigned epoch, base;
  int carry;              // slice 0 of the table is an input
  int columnBytes;        // that may be zeros up to the end of an entry (0, y, z): its own, or 32
  int slabDepth;          // slices of a slab: slabs are worked on side by side
};

static_assert(sizeof(BoxsumVolume) == 120, "gpu/volume_fast.go has a struct of the same size");
