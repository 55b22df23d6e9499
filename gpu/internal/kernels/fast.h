// What the host tells a one-pass kernel. gpu/fast.go has the same struct.
struct BoxsumJob {
  alignas(64) unsigned char map[128];  // a tensor map of the pixels, for chips that take them
  const char* in;  // the first pixel
  char* out;       // entry (0, 0) of the table
  char* squares;   // of the table of squares
  uint4* status;   // what tiles tell each other
  long long squaresStatus;  // where that of the squares begins, in words of 16 bytes
  unsigned* tickets;
  long long inStride, inBatch;  // bytes
  long long outStride, outBatch;
  long long squaresStride, squaresBatch;
  double offset;
  int width, height, count;  // width in values: pixels times channels
  int tilesX, tilesY;
  int strip;             // tiles of a row that are worked on together, row by row; 0: all, along diagonals
  int lag;               // the logarithm of how many tiles a row is ahead of the next, along diagonals
  int ahead;             // how many tiles later comes the one to ask for; 0: none
  int turn;              // images that take turns, at least 1
  unsigned epoch, base;  // epoch is a multiple of 4
  int inAligned, outAligned, squaresAligned;
  int carry;  // row 0 of the table is an input
  int spotCount;
  const int4* spots;  // the tiles to work on, see spotOf, or null: all of them
};

static_assert(sizeof(BoxsumJob) == 320, "gpu/fast.go pads its struct to the same size");
