// The view "Memory": words for states, examples, boxes of the picture, and readings of the log.

/** States before the first step: text and meaning. */
const GIVENS = [
  ["K0", "nothing is warm"],
  ["K1", "pages in both TLB levels"],
  ["K2", "K1, and lines in the L2"],
  ["K3", "K2, and lines in the L1"],
  ["K3d", "K3, and lines dirty in the L1D"],
  ["K3, TLBs empty", "a hit in the L1 after a walk"],
  ["K3, pages in L2 TLB", "a miss in the L1 TLB alone"],
  ["K1, lines in SLC", "lines in the system level cache"],
  ["K1, lines in peer", "lines in another core"],
  ["K1, lines in remote", "lines on another chip"],
  ["K3, lines shared", "lines shared with another core"],
  ["K0, pages in a 2 MiB block", "one TLB entry for 2 MiB"],
  ["K0, pages unmapped", "no translation: a fault"],
  ["K1, pages device", "device memory"],
  ["K0, own fetches", "the fetches of the steps count too"],
];

/** Examples: title, state before, steps. */
const EXAMPLES = [
  ["Store, load of the same line, load of another page", "K0", "ST8 0x8000 ; LD8 0x8000 ; LD8 0x9000"],
  ["First touch, then the same line, then the next", "K0", "LD8 0x8000 ; LD8 0x8008 ; LD8 0x8040"],
  ["Hit in the L2", "K2", "LD8 0x8000"],
  ["Set conflict: five lines of one set", "K1", "LD8 a0 ; LD8 a1 ; LD8 a2 ; LD8 a3 ; LD8 a4 ; LD8 a0"],
  ["Dirty victim: stores to five lines of one set", "K1", "ST8 a0 ; ST8 a1 ; ST8 a2 ; ST8 a3 ; ST8 a4"],
  ["Two loads of one line at once: one refill", "K1", "LD8 0x8000 & LD8 0x8008"],
  ["Two lines at once: misses overlap", "K1", "LD8 0x8000 & LD8 0x8040"],
  ["Walk alone: the line is in the L1", "K3, TLBs empty", "LD8 0x8000"],
  ["L1 TLB miss, L2 TLB hit", "K3, pages in L2 TLB", "LD8 0x8000"],
  ["Stores that write whole lines", "K1", "ST8 0x8000 step 8 x 64"],
  ["False sharing: another core takes the line", "K3", "ST8 0x8000 ; SNP-U 0x8000 ; LD8 0x8008"],
  ["Wrong path: a squashed load fills the cache", "K1", "[LD8 0x9000] ; LD8 0x9000"],
  ["Software prefetch, then the load", "K1", "PLD 0x8000 ; LD8 0x8000"],
  ["Line from the system level cache", "K1, lines in SLC", "LD8 0x8000"],
  ["Line from another core", "K1, lines in peer", "LD8 0x8000"],
  ["Instruction fetch", "K0", "IF 0x400000 ; IF 0x400000"],
  ["Atomic add", "K2", "LDADD8 0x8000"],
  ["Loads with a stride of a page: TLB misses", "K0", "LD8 0x10000 step 4096 x 8"],
];

/** Boxes of the picture: title lines, level (distance from the core), first slot, number of slots. */
const NODES = {
  core: [["core"], 0, 0, 4],
  l1dtlb: [["L1D TLB"], 1, 0, 1],
  l1itlb: [["L1I TLB"], 1, 1, 1],
  l1d: [["L1D cache"], 1, 2, 1],
  l1i: [["L1I cache"], 1, 3, 1],
  l2tlb: [["L2 TLB"], 2, 0, 2],
  l2: [["L2 cache"], 2, 2, 2],
  walker: [["table", "walker"], 3, 0, 2],
  bus: [["bus", "(CHI)"], 3, 2, 2],
  home: [["mesh and", "home node"], 4, 0, 4],
  slc: [["system level", "cache"], 5, 0, 1],
  peer: [["other cores"], 5, 1, 1],
  dram: [["DRAM"], 5, 2, 1],
  chip: [["other chip"], 5, 3, 1],
};

/** Connections, from the core outwards. */
const LINKS = [
  "core-l1dtlb",
  "core-l1itlb",
  "core-l1d",
  "core-l1i",
  "l1dtlb-l2tlb",
  "l1itlb-l2tlb",
  "l2tlb-walker",
  "l1d-l2",
  "l1i-l2",
  "l2-bus",
  "bus-home",
  "home-slc",
  "home-peer",
  "home-dram",
  "home-chip",
];

const SUPPLIERS = {
  "system level cache": "slc",
  "another core": "peer",
  "another chip": "chip",
  DRAM: "dram",
  device: "dram",
};

/** Clocks and stalls: cycles, not places of an access. */
const CLOCKS = /^(STALL|CPU_CYCLES|CNT_CYCLES|BUS_CYCLES)/;

/**
 * Reading of events: pattern, box, word, links ("out" or "in" for the direction of the arrow), and
 * the name of the time that begins.
 */
const READINGS = [
  [/^L1D_TLB_REFILL/, "l1dtlb", "refill", ["l1dtlb-l2tlb in"], ""],
  [/^L1D_TLB/, "l1dtlb", "lookup", ["core-l1dtlb out"], "L1 TLB lookup"],
  [/^L1I_TLB_REFILL/, "l1itlb", "refill", ["l1itlb-l2tlb in"], ""],
  [/^L1I_TLB/, "l1itlb", "lookup", ["core-l1itlb out"], "L1 TLB lookup"],
  [/^L2D_TLB_REFILL/, "l2tlb", "refill", ["l2tlb-walker in"], ""],
  [/^L2D_TLB/, "l2tlb", "lookup", [], "L2 TLB lookup"],
  [/^[DI]TLB_WALK/, "walker", "walk", ["l2tlb-walker out"], "table walk"],
  [/^L1D_CACHE_REFILL/, "l1d", "refill", ["l1d-l2 in"], "line to the core"],
  [/^L1D_CACHE_WB/, "l1d", "victim out", ["l1d-l2 out"], ""],
  [/^L1D_CACHE_INVAL/, "l1d", "line dropped", [], ""],
  [/^L1D_/, "l1d", "lookup", ["core-l1d out"], "L1D lookup"],
  [/^L1I_CACHE_REFILL/, "l1i", "refill", ["l1i-l2 in"], "line to the core"],
  [/^L1I_/, "l1i", "lookup", ["core-l1i out"], "L1I lookup"],
  [/^L2D_CACHE_REFILL/, "l2", "refill", ["l2-bus in", "bus-home in"], "line to the L1"],
  [/^L2D_CACHE_WB/, "l2", "victim out", ["l2-bus out"], ""],
  [/^L2D_CACHE_INVAL/, "l2", "line dropped", [], ""],
  [/^L2D_/, "l2", "lookup", [], "L2 lookup"],
  [/^BUS_ACCESS_RD/, "bus", "read", ["bus-home out"], "bus, mesh, "],
  [/^BUS_ACCESS_WR/, "bus", "write", ["bus-home out"], "bus, mesh, "],
  [/^BUS_ACCESS/, "bus", "transfer", ["bus-home in"], "answer to another core"],
  [/^LL_CACHE_MISS/, "home", "SLC missed", [], ""],
  [/^LL_CACHE/, "home", "answer", [], ""],
  [/^REMOTE_ACCESS/, "chip", "data", ["home-chip in"], ""],
  [/_RETIRED/, "core", "retires", [], "waits to write"],
  [/^MEM_ACCESS/, "core", "issues", [], ""],
  [/_SPEC$/, "core", "decodes", [], "rename, issue"],
];

/** Reading of decisions: pattern of "from > to", box of the decision, link that it takes. */
const DECISIONS = [
  [/^L1 TLB lookup > L2/, "TLB", "TLB-l2tlb out"],
  [/^L1 TLB lookup/, "TLB", ""],
  [/^preload.* > L2 TLB/, "TLB", "TLB-l2tlb out"],
  [/^L2 TLB lookup.* > walk/, "l2tlb", "l2tlb-walker out"],
  [/^L2 TLB lookup/, "l2tlb", ""],
  [/^walk/, "walker", "l2tlb-walker in"],
  [/^L1D lookup > (refill|write)/, "l1d", "l1d-l2 out"],
  [/^L1D lookup/, "l1d", ""],
  [/^L1I lookup > refill/, "l1i", "l1i-l2 out"],
  [/^L1I lookup/, "l1i", ""],
  [/^L2 lookup > bus/, "l2", "l2-bus out"],
  [/^L2 lookup/, "l2", ""],
];

/** Edges of a flow that leave a box with a single way out; the model does not report them. */
const IMPLIED = [
  ["load", "L1 TLB lookup"],
  ["store", "L1 TLB lookup"],
  ["L2 TLB refill", "L1 TLB refill"],
  ["L1 TLB refill", "translated"],
  ["L2 TLB refill by AT", "translated"],
  ["stage 2 walk for a descriptor", "translated"],
  ["data from outside", "allocated"],
  ["data from the L2", "allocated"],
  ["data from another chip", "refill"],
  ["refill", "allocated"],
  ["refill", "done"],
  ["line claimed without a read", "allocated"],
  ["victim written back", "done"],
  ["victim sent out", "done"],
  ["write to the L2", "done"],
];
