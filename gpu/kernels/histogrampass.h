// An integral histogram in one launch, for CUDA: totals, carries and the table, as
// histogram.cl and counts.h have them. The includer defines PIXEL and PIXEL_BYTES.
//
// Blocks draw tickets: first those of tiles to count, then those of carries, then
// those of bands to write. The latter two wait until all of the kind before are done.
// A block waits for lower tickets only, and those were drawn by blocks that run: no
// launch can hang, however few of its blocks are resident.

#define GROUP 128
#include "histogram.cl"

union Shared {
  Tally tally;
  Relay relay[GROUP / TEAM];
};

extern "C" __global__ void __launch_bounds__(GROUP, 4) PASTE2(histogrampass, PIXEL)(const Histogram given, const Turns turns, const u8* in, const PIXEL* limits, u8* space, u8* out) {
  __shared__ Shared shared;
  __shared__ u32 drawn;
  __shared__ Histogram job;  // not in registers over all three kinds of work
  const int item = ITEM_ID;
  if (item == 0) job = given;
  auto draw = [&] {
    __syncthreads();
    if (item == 0) drawn = atomicAdd(turns.tickets, 1u) - turns.ticketBase;
    __syncthreads();
    return drawn;
  };
  u32 ticket = draw();
  int first = 1;
#pragma unroll 1
  for (; ticket < turns.tiles; ticket = draw(), first = 0) {
    total(job, ticket, item, in, limits, first, space, &shared.tally);
    countDone(turns.tickets + 1, item);
  }
  ticket -= turns.tiles;
  if (ticket < turns.carries) awaitCount(turns.tickets + 1, turns.tileBase, turns.tiles, item);
#pragma unroll 1
  for (; ticket < turns.carries; ticket = draw() - turns.tiles) {
    const i64 i = (i64)ticket * GROUP + item;
    if (i < carries(job)) carry_on(job, i, space);
    countDone(turns.tickets + 2, item);
  }
  ticket -= turns.carries;
  if (ticket < turns.bands) awaitCount(turns.tickets + 2, turns.carryBase, turns.carries, item);
#pragma unroll 1
  for (; ticket < turns.bands; ticket = draw() - turns.tiles - turns.carries) {
    const i64 team = (i64)ticket * (GROUP / TEAM) + item / TEAM;
    if (team < turns.teams) finish(job, team, item % TEAM, space, out, &shared.relay[item / TEAM]);
  }
}

#undef PITCH
#undef PIXEL
#undef PIXEL_BYTES
#undef GROUP
