// The view "Memory": an access on its way, from the log of the model alone. Parts: fields, time,
// picture, hops, events, contents of caches and TLBs, flow charts of the guide, guesses.

(() => {
/** States before the first step: text and meaning. */
const GIVENS = [
  ["K0", "nothing is warm"], ["K1", "pages in both TLB levels"], ["K2", "K1, and lines in the L2"],
  ["K3", "K2, and lines in the L1"], ["K3d", "K3, and lines dirty in the L1D"],
  ["K3, TLBs empty", "a hit in the L1 after a walk"], ["K3, pages in L2 TLB", "a miss in the L1 TLB alone"],
  ["K1, lines in SLC", "lines in the system level cache"], ["K1, lines in peer", "lines in another core"],
  ["K1, lines in remote", "lines on another chip"], ["K3, lines shared", "lines shared with another core"],
  ["K0, pages in a 2 MiB block", "one TLB entry for 2 MiB"], ["K0, pages unmapped", "no translation: a fault"],
  ["K1, pages device", "device memory"], ["K0, own fetches", "the fetches of the steps count too"],
];

/** Examples: title, state before, steps. */
const EXAMPLES = [
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
  core: [["core"], 0, 0, 4], l1dtlb: [["L1D TLB"], 1, 0, 1], l1itlb: [["L1I TLB"], 1, 1, 1],
  l1d: [["L1D cache"], 1, 2, 1], l1i: [["L1I cache"], 1, 3, 1], l2tlb: [["L2 TLB"], 2, 0, 2],
  l2: [["L2 cache"], 2, 2, 2], walker: [["table", "walker"], 3, 0, 2], bus: [["bus", "(CHI)"], 3, 2, 2],
  home: [["mesh and", "home node"], 4, 0, 4], slc: [["system level", "cache"], 5, 0, 1],
  peer: [["other cores"], 5, 1, 1], dram: [["memory", "(DRAM)"], 5, 2, 1], chip: [["other chip"], 5, 3, 1],
};

/** Connections, from the core outwards. */
const LINKS = ["core-l1dtlb", "core-l1itlb", "core-l1d", "core-l1i", "l1dtlb-l2tlb", "l1itlb-l2tlb", "l2tlb-walker",
  "l1d-l2", "l1i-l2", "l2-bus", "bus-home", "home-slc", "home-peer", "home-dram", "home-chip"];

const SUPPLIERS = { "system level cache": "slc", "another core": "peer", "another chip": "chip", memory: "dram",
  device: "dram" };

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
  [/^BUS_ACCESS_WR/, "bus", "write", ["bus-home out"], ""],
  [/^BUS_ACCESS/, "bus", "transfer", ["bus-home in"], "answer to another core"],
  [/^LL_CACHE_MISS/, "home", "SLC missed", [], ""], [/^LL_CACHE/, "home", "answer", [], ""],
  [/^REMOTE_ACCESS/, "chip", "data", ["home-chip in"], ""],
  [/_RETIRED/, "core", "retires", [], "waits to write"],
  [/^MEM_ACCESS/, "core", "issues", [], ""], [/_SPEC$/, "core", "decodes", [], "rename, issue"],
];

/** Reading of decisions: pattern of "from > to", box of the decision, link that it takes. */
const DECISIONS = [
  [/^L1 TLB lookup > L2/, "TLB", "TLB-l2tlb out"], [/^L1 TLB lookup/, "TLB", ""],
  [/^preload.* > L2 TLB/, "TLB", "TLB-l2tlb out"], [/^L2 TLB lookup.* > walk/, "l2tlb", "l2tlb-walker out"],
  [/^L2 TLB lookup/, "l2tlb", ""], [/^walk/, "walker", "l2tlb-walker in"],
  [/^L1D lookup > (refill|write)/, "l1d", "l1d-l2 out"], [/^L1D lookup/, "l1d", ""],
  [/^L1I lookup > refill/, "l1i", "l1i-l2 out"], [/^L1I lookup/, "l1i", ""],
  [/^L2 lookup > bus/, "l2", "l2-bus out"], [/^L2 lookup/, "l2", ""],
];

/** Edges of a flow that leave a box with a single way out; the model does not report them. */
const IMPLIED = [["load", "L1 TLB lookup"], ["store", "L1 TLB lookup"], ["L2 TLB refill", "L1 TLB refill"],
  ["L1 TLB refill", "translated"], ["L2 TLB refill by AT", "translated"],
  ["stage 2 walk for a descriptor", "translated"], ["data from outside", "allocated"],
  ["data from the L2", "allocated"], ["data from another chip", "refill"], ["refill", "allocated"],
  ["refill", "done"], ["line claimed without a read", "allocated"], ["victim written back", "done"],
  ["victim sent out", "done"], ["write to the L2", "done"]];

const SVG = "http://www.w3.org/2000/svg";

/** State of the view; what a link does not show again. */
const my = { app: null, el: {}, key: "", wanted: "", busy: false, answer: null, points: [], entries: [], groups: [],
  flow: 0, timer: 0, score: [0, 0], guessing: false, open: true, drawn: {} };

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element[name] = value;
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function classes(element, text) {
  if (element.getAttribute("class") !== text) element.setAttribute("class", text);
}

const number = (n) => n.toLocaleString("en");
const hex = (n) => "0x" + n.toString(16).toUpperCase();
/** A cycle or count for the reader, hidden until the guess is made. */
const hidden = (n) => (my.guessing && !my.open ? "?" : number(n));

// --- Fields ---------------------------------------------------------------------------------------

/** A text field of the state. Typing is one change for undo, until the field is left. */
function bind(element, key) {
  let timer = 0;
  let first = true;
  const take = () => {
    clearTimeout(timer);
    const value = element.value.replace(/\s*\n\s*/g, " ");
    if (value === my.app.state[key]) return;
    my.app.change({ [key]: value }, { quiet: !first });
    first = false;
  };
  element.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(take, 30);
  });
  element.addEventListener("change", take);
  element.addEventListener("blur", () => { first = true; });
}

function fields() {
  const el = my.el;
  el.given = h("input", { id: "mem-given", class: "mono", spellcheck: "false", "aria-describedby": "mem-given-error" });
  el.do = h("textarea", { id: "mem-do", rows: "4", spellcheck: "false", "aria-describedby": "mem-do-error" });
  el.givenError = h("p", { id: "mem-given-error", class: "error mem-error" });
  el.doError = h("p", { id: "mem-do-error", class: "error mem-error" });
  bind(el.given, "given");
  bind(el.do, "do");
  const usual = menu("mem-usual", "Usual states", GIVENS.map(([text, about]) => `${text}: ${about}`), (i) =>
    my.app.change({ given: GIVENS[i][0] }));
  const examples = menu("mem-examples", "Examples", EXAMPLES.map(([title]) => title), (i) =>
    my.app.change({ given: EXAMPLES[i][1], do: EXAMPLES[i][2], step: 0 }));
  return h("div", { class: "mem-fields" }, examples,
    h("label", { for: "mem-given" }, "State before"), el.given, el.givenError, usual,
    h("label", { for: "mem-do" }, "Steps"), el.do, el.doError,
    h("p", { class: "dim mem-note" }, "; waits for the step before, & does not, [ ] is a wrong path, step 64 x 8 repeats."),
    guessFields());
}

/** A menu that acts and goes back to its title. */
function menu(id, title, texts, act) {
  const select = h("select", { id, "aria-label": title }, h("option", { value: "" }, title + " ..."),
    ...texts.map((text, i) => h("option", { value: i }, text)));
  select.onchange = () => {
    if (select.value !== "") act(+select.value);
    select.value = "";
  };
  return select;
}

function showError(message) {
  const { el } = my;
  const of = /^given:/.test(message) ? el.given : /^do:/.test(message) ? el.do : null;
  for (const [field, place] of [[el.given, el.givenError], [el.do, el.doError]]) {
    const is = message !== "" && (field === of || (of === null && field === el.do));
    put(place, is ? message.replace(/^(given|do):/, "").replace(/^1:(\d+):/, "At character $1:") : "");
    field.setAttribute("aria-invalid", String(is && field === of));
  }
  el.stale.hidden = message === "" || my.answer === null;
  if (message !== "") my.app.say(message.split("\n")[0], true);
  else if (document.getElementById("status").classList.contains("error")) my.app.say("Ready");
}

// --- Run and read the log -------------------------------------------------------------------------

/** Runs the model until its answer belongs to the present state. */
async function run() {
  if (my.busy) return;
  my.busy = true;
  while (my.wanted !== my.key) {
    const key = my.wanted;
    const [given, steps, machine] = JSON.parse(key);
    try {
      const answer = await my.app.model.ask({ ask: "watch", given, do: steps, machine });
      my.key = key;
      take(answer);
      showError("");
    } catch (error) {
      my.key = key;
      showError(error.message);
    }
  }
  my.busy = false;
}

function take(answer) {
  my.answer = answer;
  my.entries = [];
  answer.steps.forEach((step, i) => {
    for (const [cycle, what, n] of step.log) my.entries.push(read(i, cycle, what, n));
  });
  my.entries.sort((a, b) => a.cycle - b.cycle || a.step - b.step);
  my.points = [];
  my.entries.forEach((entry, i) => {
    const last = my.points.at(-1);
    if (last && last.cycle === entry.cycle) last.to = i + 1;
    else my.points.push({ cycle: entry.cycle, from: i, to: i + 1 });
  });
  if (my.points.length === 0) my.points.push({ cycle: 0, from: 0, to: 0 });
  groupSteps(answer);
  my.drawn = {};
  if (my.guessing) my.open = false;
  drawHops();
  drawEventRows();
  drawGuess();
  draw();
}

/** An entry of the log with its box, word, and links. */
function read(step, cycle, what, n) {
  const entry = { step, cycle, links: [], word: "", box: "", begins: "" };
  if (typeof what === "string") {
    entry.event = what;
    entry.n = n;
    entry.clock = CLOCKS.test(what);
    const found = !entry.clock && READINGS.find(([pattern]) => pattern.test(what));
    if (found) [, entry.box, entry.word, entry.links, entry.begins] = found;
    return entry;
  }
  const { from, to, label, flow } = my.app.tables.edges[what];
  entry.edge = what;
  const found = DECISIONS.find(([pattern]) => pattern.test(`${from} > ${to}`));
  if (!found) return entry;
  const side = my.app.tables.flows[flow].section === "5.3" ? "l1itlb" : "l1dtlb";
  const upper = (text) => text.replace("TLB", side);
  entry.box = found[1] === "TLB" ? side : found[1];
  entry.links = found[2] ? [found[2].startsWith("TLB") ? upper(found[2]) : found[2]] : [];
  entry.word = /^hit/.test(label) ? "hit" : /^miss/.test(label) ? "miss" : /no translation/.test(label) ? "fault" : "";
  return entry;
}

/** Steps joined by & share one state: puts them together, with the contents before and after. */
function groupSteps(answer) {
  const merge = (state, change) => {
    const next = { ...state, ...change };
    for (const cache of ["l1d", "l1i", "l2"]) {
      next[cache] = new Map(state ? state[cache] : []);
      for (const set of change[cache]) next[cache].set(set.set, set);
    }
    return next;
  };
  let before = merge(null, answer.before);
  let first = 0;
  my.groups = [];
  answer.steps.forEach((step, i) => {
    const last = i + 1 === answer.steps.length;
    if (step.state === undefined && !last) return;
    const after = step.state ? merge(before, step.state) : before;
    my.groups.push({ first, last: i, before, after });
    before = after;
    first = i + 1;
  });
}

const groupOf = (step) => my.groups.find((group) => step <= group.last) || my.groups.at(-1);

// --- Time -----------------------------------------------------------------------------------------

const place = () => Math.max(0, Math.min(my.points.length - 1, Math.round(my.app.state.step)));

function go(to) {
  const step = Math.max(0, Math.min(my.points.length - 1, to));
  my.app.change({ step }, { quiet: true });
}

function play() {
  if (my.timer) return stop();
  if (place() === my.points.length - 1) go(0);
  put(my.el.play, "Pause");
  my.timer = setInterval(() => {
    if (my.root.hidden || place() === my.points.length - 1) return stop();
    go(place() + 1);
  }, 900);
}

function stop() {
  clearInterval(my.timer);
  my.timer = 0;
  put(my.el.play, "Play");
}

function timeFields() {
  const { el } = my;
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  el.first = button("|◀", "First point in time (Home)", () => go(0));
  el.back = button("◀", "Point in time before (left arrow)", () => go(place() - 1));
  el.next = button("▶", "Next point in time (right arrow)", () => go(place() + 1));
  el.last = button("▶|", "Last point in time (End)", () => go(my.points.length - 1));
  el.play = button("Play", "Play", play);
  el.slider = h("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Point in time",
    oninput: () => go(+el.slider.value) });
  el.now = h("strong", { class: "mem-cycle" });
  addEventListener("keydown", (event) => {
    if (my.root.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.closest("#machine, #tabs")) return;
    const to = { ArrowLeft: place() - 1, ArrowRight: place() + 1, Home: 0, End: my.points.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  return h("div", { class: "mem-time" }, el.first, el.back, el.next, el.last, el.play, el.slider, el.now);
}

/** Draws the point in time. */
function draw() {
  if (!my.answer) return;
  const { el } = my;
  const at = place();
  const point = my.points[at];
  const now = my.entries.slice(point.from, point.to);
  const step = Math.max(0, ...now.filter((entry) => !entry.clock).map((entry) => entry.step));
  const shown = now.some((entry) => !entry.clock) ? step : now.length ? now.at(-1).step : 0;
  const moment = { at, cycle: point.cycle, now, step: shown, group: groupOf(shown) };
  el.slider.max = String(my.points.length - 1);
  if (+el.slider.value !== at) el.slider.value = String(at);
  el.slider.setAttribute("aria-valuetext", `cycle ${hidden(point.cycle)}`);
  put(el.now, `cycle ${hidden(point.cycle)}  (${at + 1} of ${my.points.length})`);
  el.first.disabled = el.back.disabled = at === 0;
  el.last.disabled = el.next.disabled = at === my.points.length - 1;
  drawPicture(moment);
  drawHappening(moment);
  markHops(moment);
  drawEvents(moment);
  drawContents(moment);
  drawFlow(moment);
}

// --- Picture --------------------------------------------------------------------------------------

/** Makes the picture; `tall` for a phone: levels go down instead of right. */
function picture(tall) {
  const size = tall ? { level: 80, slot: 92, w: 84, h: 58, gapLevel: 22, gapSlot: 8 }
    : { level: 112, slot: 76, w: 86, h: 62, gapLevel: 26, gapSlot: 14 };
  const box = ([, level, slot, slots]) => {
    const along = tall ? slots * size.slot - size.gapSlot : slots * size.slot - size.gapSlot;
    return tall ? { x: 4 + slot * size.slot, y: 4 + level * size.level, w: along, h: size.h }
      : { x: 4 + level * size.level, y: 4 + slot * size.slot, w: size.w, h: along };
  };
  const root = s("svg", { viewBox: tall ? "0 0 370 470" : "0 0 658 302", role: "img", class: "mem-picture",
    "aria-label": "Core, TLBs, caches, bus, mesh and memory; the parts in use are marked" });
  root.append(s("defs", {}, ...["now", "past"].map((kind) => s("marker", { id: "mem-arrow-" + kind, viewBox: "0 0 8 8",
    refX: 7, refY: 4, markerWidth: kind === "now" ? 3.2 : 4, markerHeight: kind === "now" ? 3.2 : 4,
    orient: "auto-start-reverse" }, s("path", { d: "M0 0L8 4L0 8z", class: "mem-arrow " + kind })))));
  my.links = {};
  for (const link of LINKS) {
    const [a, b] = link.split("-").map((id) => ({ ...box(NODES[id]), slots: NODES[id][3] }));
    const small = a.slots < b.slots ? a : b;
    const points = tall ? [small.x + small.w / 2, a.y + a.h + 1, small.x + small.w / 2, b.y - 1]
      : [a.x + a.w + 1, small.y + small.h / 2, b.x - 1, small.y + small.h / 2];
    const [x1, y1, x2, y2] = points;
    my.links[link] = s("line", { x1, y1, x2, y2, class: "mem-link" });
    root.append(my.links[link]);
  }
  my.nodes = {};
  for (const [id, node] of Object.entries(NODES)) {
    const { x, y, w, h: height } = box(node);
    const middle = y + height / 2 - (node[0].length === 2 ? 15 : 7);
    const text = (dy, content, name) => s("text", { x: x + w / 2, y: middle + dy, class: name }, content);
    const word = text(node[0].length * 15 + 3, "", "mem-word");
    const g = s("g", { class: "mem-node" }, s("rect", { x, y, width: w, height, rx: 6 }),
      ...node[0].map((line, i) => text(3 + i * 15, line, "mem-name")), word);
    my.nodes[id] = { g, word };
    root.append(g);
  }
  return root;
}

/** Box that supplied the line that arrives at this cycle. */
function supplier(moment, entry) {
  for (const sets of [moment.group.after.l2, moment.group.after.l1d, moment.group.after.l1i]) {
    for (const set of sets.values()) {
      const line = set.ways.find((way) => way && way.ready === moment.cycle);
      if (line && SUPPLIERS[line.source]) return SUPPLIERS[line.source];
    }
  }
  const op = my.answer.steps[entry.step].ops.find((one) => SUPPLIERS[one.source]);
  return op ? SUPPLIERS[op.source] : "";
}

/** What an entry marks: boxes with words, links with directions. */
function marks(moment, entry) {
  const nodes = entry.box ? [[entry.box, entry.word]] : [];
  const links = entry.links.map((link) => link.split(" "));
  if (entry.event && /^L2D_CACHE_REFILL/.test(entry.event)) {
    const from = supplier({ ...moment, cycle: entry.cycle }, entry);
    nodes.push(["home", "answer"], ["bus", "data"]);
    if (from) {
      nodes.push([from, "data"]);
      links.push(["home-" + from, "in"]);
    }
  }
  if (entry.event && /_RETIRED/.test(entry.event)) {
    const step = my.answer.steps[entry.step];
    if (step.ops.some((op) => op.source && !op.written && op.complete === entry.cycle)) {
      links.push(["core-l1d", "in"]);
      nodes[0][1] = "has its data";
    }
  }
  return { nodes, links };
}

function drawPicture(moment) {
  const words = {};
  const nodes = {};
  const links = {};
  for (let i = 0; i < my.points[moment.at].to; i++) {
    const entry = my.entries[i];
    if (entry.step < moment.group.first || entry.step > moment.group.last) continue;
    const is = entry.cycle === moment.cycle ? "now" : "past";
    const { nodes: boxes, links: ways } = marks(moment, entry);
    for (const [box, word] of boxes) {
      nodes[box] = is;
      if (word) words[box] = `${is === "now" ? "▶ " : ""}${word} ${hidden(entry.cycle)}`;
    }
    for (const [link, direction] of ways) links[link] = `${is} ${direction}`;
  }
  for (const [id, { g, word }] of Object.entries(my.nodes)) {
    classes(g, "mem-node " + (nodes[id] || ""));
    put(word, words[id] || "");
  }
  for (const [id, line] of Object.entries(my.links)) classes(line, "mem-link " + (links[id] || ""));
}

/** Writes the decisions and events of this point as sentences. */
function drawHappening({ now, step, cycle }) {
  const { edges, flows } = my.app.tables;
  const steps = my.answer.steps;
  const texts = now.filter((entry) => entry.edge !== undefined).map((entry) => {
    const { flow, from, to, label } = edges[entry.edge];
    return `${flows[flow].section} ${from}: ${label} → ${to}`;
  });
  if (texts.length === 0) {
    const words = now.filter((entry) => entry.word).map((entry) => `${NODES[entry.box][0].join(" ")} ${entry.word}`);
    texts.push(...new Set(words));
  }
  if (texts.length === 0) texts.push(cycle === steps[step].begin ? "the step begins" : "clocks and stalls are counted");
  const about = steps[step].wrong ? " (wrong path: squashed)" : "";
  put(my.el.happening, `Step ${step + 1}, ${steps[step].text}${about}: ${texts.join("; ")}`);
}

// --- Hops -----------------------------------------------------------------------------------------

/** Times between consecutive reports of one step: name, first cycle, last cycle. */
function hopsOf(index) {
  const step = my.answer.steps[index];
  const ends = step.ops.map((op) => Math.max(op.complete, op.written));
  const end = ends.length ? Math.max(...ends) : step.end;
  const names = new Map([[step.begin, step.ops.length ? "fetch, decode" : "request"]]);
  const source = (step.ops.find((op) => SUPPLIERS[op.source]) || { source: "memory" }).source;
  for (const entry of my.entries) {
    if (entry.step !== index || entry.clock || entry.cycle < step.begin) continue;
    if (entry.begins === "bus, mesh, ") names.set(entry.cycle, entry.begins + source);
    else if (entry.begins) names.set(entry.cycle, entry.begins);
    else if (entry.edge !== undefined && entry.word === "hit" && /^l1[di]$/.test(entry.box)) {
      names.set(entry.cycle, entry.box === "l1d" ? "L1D hit, or line in flight" : "L1I hit, or line in flight");
    }
  }
  const cycles = [...names.keys()].filter((cycle) => cycle < end).sort((a, b) => a - b);
  return cycles.map((cycle, i) => ({ name: names.get(cycle), from: cycle, to: cycles[i + 1] ?? end }));
}

function drawHops() {
  const all = my.answer.steps.map((_, i) => hopsOf(i));
  const total = (hops) => (hops.length ? hops.at(-1).to - hops[0].from : 0);
  const longest = Math.max(1, ...all.map(total));
  my.hops = all;
  my.rows = all.map((hops, i) => {
    const bar = h("span", { class: "mem-bar", style: `width:${(100 * total(hops)) / longest}%` }, ...hops.map((hop, k) =>
      h("span", { class: "mem-hop k" + (k % 6), style: `flex:${Math.max(hop.to - hop.from, total(hops) / 40)}`,
        title: `${hop.name}: cycle ${hop.from} to ${hop.to}` }, String(k + 1))));
    const first = my.points.findIndex((point) => point.cycle >= my.answer.steps[i].begin);
    const name = `${i + 1}  ${my.answer.steps[i].after || i === 0 ? "" : "& "}${my.answer.steps[i].text}`;
    return h("button", { type: "button", class: "mem-step", onclick: () => go(first < 0 ? 0 : first) },
      h("code", {}, name), h("span", { class: "mem-track" }, bar), h("span", { class: "mem-total" }, number(total(hops))));
  });
  my.el.hops.replaceChildren(...my.rows);
  my.el.hopsTitle.textContent = "Latency of each step, in cycles";
}

function markHops({ step, cycle, now }) {
  my.el.hops.hidden = my.el.hopList.hidden = my.guessing && !my.open;
  const key = `${step} ${cycle} ${now.length}`;
  if (my.drawn.hops === key) return;
  my.drawn.hops = key;
  my.rows.forEach((row, i) => {
    if (row.getAttribute("aria-current") !== String(i === step)) row.setAttribute("aria-current", String(i === step));
  });
  const row = my.rows[step];
  const list = my.el.hops;
  if (row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }
  my.el.hopList.replaceChildren(...my.hops[step].map((hop, k) => {
    const is = cycle >= hop.from && cycle < hop.to;
    return h("li", { class: is ? "now" : "" }, h("span", { class: "mem-hop k" + (k % 6) }, String(k + 1)),
      ` ${is ? "▶ " : ""}${hop.name}: ${number(hop.from)} → ${number(hop.to)}, `, h("b", {}, number(hop.to - hop.from)));
  }));
}

// --- Events ---------------------------------------------------------------------------------------

/** Makes a row for each event that counts, in the order of first counts. */
function drawEventRows() {
  const about = new Map(my.app.tables.events.map((event) => [event.name, event]));
  my.events = new Map();
  for (const entry of my.entries) {
    if (!entry.event || my.events.has(entry.event)) continue;
    const { about: title, code } = about.get(entry.event) || { about: "", code: 0 };
    const count = h("td", { class: "n" });
    const added = h("td", { class: "mem-added" });
    const row = h("tr", { hidden: true, class: "" }, added, count,
      h("td", {}, h("code", { title: "event " + hex(code) }, entry.event), h("br"), h("small", { class: "dim" }, title)));
    my.events.set(entry.event, { row, count, added, clock: entry.clock, total: 0, plus: 0 });
  }
  my.el.events.replaceChildren(...[...my.events.values()].map((event) => event.row));
  const sums = Object.entries(my.answer.counts).filter(([name]) => !my.events.has(name) && !CLOCKS.test(name));
  my.sums = sums.map(([name, n]) => `${name} ${number(n)}`).join(", ");
}

function drawEvents({ at }) {
  const closed = my.guessing && !my.open;
  my.el.eventTable.hidden = closed;
  put(my.el.sums, closed ? "Counts are hidden until you guess." : my.sums && `Sums, at the end: ${my.sums}`);
  const { from, to } = my.points[at];
  for (const event of my.events.values()) event.total = event.plus = 0;
  for (let i = 0; i < to; i++) {
    const { event: name, n } = my.entries[i];
    if (!name) continue;
    const event = my.events.get(name);
    event.total += n;
    if (i >= from) event.plus += n;
  }
  const clocks = my.el.clocks.checked;
  for (const { row, count, added, clock, total, plus } of my.events.values()) {
    const hide = total === 0 || (clock && !clocks);
    if (row.hidden !== hide) row.hidden = hide;
    if (hide) continue;
    put(count, number(total));
    put(added, plus ? `▶ +${number(plus)}` : "");
    classes(row, plus ? "now" : "");
  }
}

// --- Contents of caches and TLBs ------------------------------------------------------------------

/** Cycle at which a group first needs a line that the cache does not have. */
function missCycle(group, cache) {
  const found = my.entries.find((entry) => entry.step >= group.first && entry.step <= group.last
    && entry.box === cache && entry.edge !== undefined && entry.word === "miss");
  return found ? found.cycle : my.answer.steps[group.first].begin;
}

/** Cycle of the first report of a cache in a group: changes without a refill show from here. */
function useCycle(group, cache) {
  const found = my.entries.find((entry) => entry.step >= group.first && entry.step <= group.last
    && entry.box === cache && entry.event !== undefined);
  return found ? found.cycle : my.answer.steps[group.last].end;
}

/** Ways of a set at a cycle: the contents before, until the line of the refill is ready. */
function waysAt(group, cache, number_, cycle) {
  const old = group.before[cache].get(number_);
  const next = group.after[cache].get(number_) || old;
  const used = cycle >= useCycle(group, cache);
  const missed = cycle >= missCycle(group, cache);
  const ways = next.ways.map((way, i) => {
    const before = old ? old.ways[i] : null;
    const same = way && before && way.addr === before.addr && way.ready === before.ready;
    if (same || !way) return { line: used ? way : before };
    if (way.ready <= cycle) return { line: way, fresh: way.ready === cycle };
    return { line: before, coming: missed ? way : null };
  });
  const arrived = ways.every((way, i) => !next.ways[i] || next.ways[i].ready <= cycle) && used;
  return { ways, victim: arrived || !old ? next.victim : old.victim };
}

function cell({ line, fresh, coming }, victim) {
  const letters = line ? [line.dirty && "D", line.shared && "S", line.prefetched && "P"].filter(Boolean).join(" ") : "";
  const parts = [h("code", {}, line ? hex(line.addr) : "empty")];
  if (letters) parts.push(" ", h("b", {}, letters));
  if (fresh) parts.push(" ", h("b", {}, "▶ new"));
  if (line) parts.push(h("br"), h("small", { class: "dim" }, line.source === "L1" ? "warm" : "from " + line.source));
  if (coming) parts.push(h("br"), h("small", { class: "mem-coming" }, `↓ ${hex(coming.addr)} until ${hidden(coming.ready)}`));
  if (victim) parts.push(h("br"), h("small", {}, "▾ next victim"));
  return h("td", { class: `${fresh ? "fresh" : ""} ${coming ? "coming" : ""} ${line ? "" : "empty"}` }, ...parts);
}

function cacheTable(group, cache, title, cycle) {
  const touched = [...group.after[cache].keys()];
  const changed = touched.filter((set) => group.after[cache].get(set) !== group.before[cache].get(set));
  const filled = touched.filter((set) => !changed.includes(set) && group.after[cache].get(set).ways.some(Boolean));
  const rows = [...changed, ...filled.reverse()].slice(0, 8).sort((a, b) => a - b);
  if (rows.length === 0) return null;
  const count = group.after[cache].get(rows[0]).ways.length;
  const body = rows.map((set) => {
    const { ways, victim } = waysAt(group, cache, set, cycle);
    return h("tr", {}, h("th", { scope: "row", class: "n" }, String(set)), ...ways.map((way, i) => cell(way, i === victim)));
  });
  const more = changed.length + filled.length - rows.length;
  return h("div", { class: "mem-cache" }, h("h3", {}, title), h("div", { class: "scroll", tabindex: "0" },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, "set"),
      ...Array.from({ length: count }, (_, i) => h("th", {}, "way " + i)))), h("tbody", {}, ...body))),
  more > 0 ? h("p", { class: "dim" }, `and ${more} more sets`) : "");
}

/** TLB entries at a cycle: new ones once they are ready. */
function pageList(group, tlb, title, cycle) {
  const old = new Set(group.before[tlb].map((page) => `${page.page} ${page.ready}`));
  const begin = my.answer.steps[group.first].begin;
  const items = group.after[tlb].filter((page) => old.has(`${page.page} ${page.ready}`) || cycle >= begin).map((page) => {
    const waits = page.ready > cycle;
    return h("li", { class: waits ? "coming" : "" }, h("code", {}, hex(page.page)), waits
      ? ` ↓ until ${hidden(page.ready)}` : page.ready === cycle && cycle > 0 ? " ▶ new" : ` age ${page.age}`);
  });
  return items.length ? h("div", {}, h("h3", {}, title), h("ul", {}, ...items.slice(0, 24)),
    items.length > 24 ? h("p", { class: "dim" }, `and ${items.length - 24} more`) : "") : null;
}

function lineList(title, texts) {
  return texts.length ? h("div", {}, h("h3", {}, title), h("ul", {}, ...texts.slice(0, 16).map((text) => h("li", {},
    h("code", {}, text))), ...(texts.length > 16 ? [h("li", {}, `and ${texts.length - 16} more`)] : []))) : null;
}

function drawContents({ group, cycle }) {
  const done = cycle >= missCycle(group, "l2") ? group.after : group.before;
  const parts = [
    cacheTable(group, "l1d", "L1D cache", cycle), cacheTable(group, "l1i", "L1I cache", cycle),
    cacheTable(group, "l2", "L2 cache", cycle),
    h("div", { class: "mem-lists" }, ...[pageList(group, "l1d_tlb", "L1D TLB", cycle),
      pageList(group, "l1i_tlb", "L1I TLB", cycle), pageList(group, "l2_tlb", "L2 TLB", cycle),
      lineList("System level cache", done.slc.map(([line, dirty]) => hex(line) + (dirty ? " D" : ""))),
      lineList("Lines of other cores", done.others.map(hex))].filter(Boolean)),
  ].filter(Boolean);
  my.el.contents.replaceChildren(...parts);
}

// --- Flow charts ----------------------------------------------------------------------------------

/** Boxes and edges of a flow that are drawn: from its first box, and from entries that the case uses. */
function flowGraph(flow) {
  const { flows, edges } = my.app.tables;
  const all = flows[flow].boxes;
  const links = edges.map((edge, i) => ({ ...edge, id: i })).filter((edge) => edge.flow === flow);
  const named = (name) => all.some((box) => box.name === name);
  for (const [from, to] of IMPLIED) {
    if (named(from) && named(to) && !links.some((link) => link.from === from)) links.push({ from, to, label: "", id: -1 });
  }
  const used = new Set(my.entries.filter((entry) => entry.edge !== undefined).map((entry) => entry.edge));
  const entry = (box) => !links.some((link) => link.to === box.name);
  const keep = new Set();
  const reach = (name) => {
    if (keep.has(name)) return;
    keep.add(name);
    for (const link of links) if (link.from === name) reach(link.to);
  };
  all.forEach((box, i) => {
    const taken = links.some((link) => link.from === box.name && used.has(link.id));
    // The L1 allocates at the end of a refill: "allocated" follows from there.
    if (i === 0 || (entry(box) && taken)) reach(box.name);
  });
  return { boxes: all.filter((box) => keep.has(box.name)), links: links.filter((link) => keep.has(link.from)) };
}

/** Layer of each box: the longest way from an entry. Columns: the order of the boxes in a layer. */
function flowPlaces({ boxes, links }) {
  const layer = new Map(boxes.map((box) => [box.name, 0]));
  for (let round = 0; round < boxes.length; round++) {
    for (const { from, to } of links) layer.set(to, Math.max(layer.get(to), layer.get(from) + 1));
  }
  const columns = [];
  const places = new Map();
  for (const box of boxes) {
    const y = layer.get(box.name);
    columns[y] = (columns[y] || 0) + 1;
    places.set(box.name, { x: 6 + (columns[y] - 1) * 190, y: 6 + y * 74, layer: y });
  }
  return { places, width: 6 + Math.max(...columns) * 190, height: 6 + columns.length * 74 - 30 };
}

function flowChart(flow) {
  const graph = flowGraph(flow);
  const { places, width, height } = flowPlaces(graph);
  let lanes = 0;
  // Lanes of edges that pass layers begin right of the labels of the first column.
  const lanesFrom = Math.max(width, 352);
  const drawn = graph.links.map((link) => {
    const [a, b] = [places.get(link.from), places.get(link.to)];
    const long = b.layer - a.layer > 1;
    const lane = lanesFrom + (long ? lanes++ * 16 : 0);
    const path = long ? `M${a.x + 160} ${a.y + 20}H${lane}V${b.y + 20}H${b.x + 163}`
      : `M${a.x + 80} ${a.y + 40}L${b.x + 80} ${b.y - 3}`;
    const at = long ? [a.x + 166, a.y + 14] : [b.x + 86, b.y - (b.x === a.x ? 13 : 9)];
    const line = s("path", { d: path, class: "mem-edge" });
    const label = s("text", { x: at[0], y: at[1], class: "mem-edge-label" }, link.label);
    return { link, line, label };
  });
  const boxes = graph.boxes.map((box) => {
    const { x, y } = places.get(box.name);
    const g = s("g", { class: "mem-node" }, s("rect", { x, y, width: 160, height: 40, rx: 6 }));
    if (box.step) {
      g.append(s("circle", { cx: x + 15, cy: y + 20, r: 10, class: "mem-disc" }),
        s("text", { x: x + 15, y: y + 24.5, class: "mem-disc-text" }, String(box.step)));
    }
    const middle = x + (box.step ? 92 : 80);
    const words = box.name.length > 21 ? [box.name.slice(0, box.name.lastIndexOf(" ", 20)),
      box.name.slice(box.name.lastIndexOf(" ", 20) + 1)] : [box.name];
    words.forEach((text, i) => g.append(s("text", { x: middle, y: y + (words.length === 1 ? 24 : 17 + i * 14),
      class: "mem-name" }, text)));
    g.append(s("title", {}, box.events.length ? "counts " + box.events.join(", ") : "counts nothing"));
    return { box, g };
  });
  const svg = s("svg", { viewBox: `0 0 ${lanesFrom + lanes * 16} ${height}`, class: "mem-flow", role: "img",
    "aria-label": `Flow ${my.app.tables.flows[flow].section}: ${my.app.tables.flows[flow].title}` },
  ...drawn.map((one) => one.line), ...boxes.map((one) => one.g), ...drawn.map((one) => one.label));
  svg.style.maxWidth = `${(lanesFrom + lanes * 16) * 1.1}px`;
  return { svg, drawn, boxes };
}

/** Marks boxes and edges: those taken so far, and those of this point. */
function markFlow(chart, at) {
  const { from, to } = my.points[at];
  const taken = new Map();
  for (let i = 0; i < to; i++) {
    const { edge } = my.entries[i];
    if (edge === undefined) continue;
    const old = taken.get(edge) || { times: 0 };
    taken.set(edge, { times: old.times + 1, now: i >= from });
  }
  const seen = new Map();
  const mark = (name, is) => { if (is === "now" || !seen.has(name)) seen.set(name, is); };
  for (const { link } of chart.drawn) {
    const one = taken.get(link.id);
    if (one) for (const name of [link.from, link.to]) mark(name, one.now ? "now" : "past");
  }
  for (let round = 0; round < 4; round++) {
    for (const { link } of chart.drawn) {
      if (link.id < 0 && seen.has(link.from)) mark(link.to, seen.get(link.from));
    }
  }
  for (const { link, line, label } of chart.drawn) {
    const one = taken.get(link.id);
    const first = link.from === "load" || link.from === "store";
    const implied = link.id < 0 && (seen.has(link.from) || (first && seen.has(link.to)));
    const is = one ? (one.now ? "now" : "past") : implied ? seen.get(first ? link.to : link.from) : "";
    if (first && implied) mark(link.from, is);
    classes(line, "mem-edge " + is);
    classes(label, "mem-edge-label " + is);
    const times = one && one.times > 1 && !(my.guessing && !my.open) ? ` ×${one.times}` : "";
    put(label, (one && one.now ? "▶ " : "") + link.label + times);
  }
  for (const { box, g } of chart.boxes) classes(g, "mem-node " + (seen.get(box.name) || ""));
}

function drawFlow({ at, now }) {
  const current = now.filter((entry) => entry.edge !== undefined).at(-1);
  if (current && my.drawn.at !== at) my.flow = my.app.tables.edges[current.edge].flow;
  my.drawn.at = at;
  if (my.drawn.flow !== my.flow) {
    my.drawn.flow = my.flow;
    const used = new Set(my.entries.filter((entry) => entry.edge !== undefined)
      .map((entry) => my.app.tables.edges[entry.edge].flow));
    [...my.el.flowTabs.children].forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === my.flow));
      tab.tabIndex = i === my.flow ? 0 : -1;
      put(tab, my.app.tables.flows[i].section + (used.has(i) ? " ●" : ""));
    });
    put(my.el.flowTitle, `Flow ${my.app.tables.flows[my.flow].section} of the guide: ${my.app.tables.flows[my.flow].title}`);
    my.chart = flowChart(my.flow);
    my.el.flow.replaceChildren(my.chart.svg);
  }
  markFlow(my.chart, at);
}

function flowPart() {
  const { el } = my;
  const choose = (i) => {
    my.flow = i;
    draw();
    el.flowTabs.children[i].focus();
  };
  const tabs = my.app.tables.flows.map((flow, i) => h("button", { type: "button", role: "tab", title: flow.title,
    onclick: () => choose(i) }, flow.section));
  el.flowTabs = h("div", { role: "tablist", class: "mem-tabs", "aria-label": "Flows of the guide; ● is in use" }, ...tabs);
  el.flowTabs.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    choose((my.flow + by + tabs.length) % tabs.length);
  });
  el.flowTitle = h("h2");
  el.flow = h("div", { class: "scroll" });
  return h("section", { class: "mem-flows" }, el.flowTitle, el.flowTabs, el.flow);
}

// --- Guess first ----------------------------------------------------------------------------------

function guessFields() {
  const { el } = my;
  const names = my.app.tables.events.map((event) => event.name).sort();
  el.guessSwitch = h("input", { type: "checkbox", id: "mem-guess" });
  el.guessSwitch.onchange = () => {
    my.guessing = el.guessSwitch.checked;
    my.open = !my.guessing;
    my.drawn = {};
    drawGuess();
    draw();
  };
  el.guessEvent = h("select", { id: "mem-guess-event" }, ...names.map((name) => h("option", {}, name)));
  el.guessEvent.value = "L1D_CACHE_REFILL";
  el.guessCount = h("input", { id: "mem-guess-count", type: "number", min: "0", step: "1", size: "6" });
  el.guessResult = h("p", { role: "status" });
  const check = h("button", { type: "submit" }, "Check");
  el.guessForm = h("form", {}, h("label", { for: "mem-guess-event" }, "Event"), el.guessEvent,
    h("label", { for: "mem-guess-count" }, "Your count after all steps"), el.guessCount, check);
  el.guessForm.onsubmit = (event) => {
    event.preventDefault();
    judge();
  };
  return h("fieldset", { class: "mem-guess" }, h("legend", {}, el.guessSwitch, h("label", { for: "mem-guess" }, " Guess first")),
    el.guessForm, el.guessResult);
}

function judge() {
  const { el } = my;
  if (el.guessCount.value === "" || !my.answer || my.open) return;
  const [guess, name] = [+el.guessCount.value, el.guessEvent.value];
  const count = my.answer.counts[name] || 0;
  my.score[1]++;
  if (guess === count) my.score[0]++;
  my.open = true;
  my.drawn = {};
  drawGuess();
  put(el.guessResult, `${guess === count ? "✓ Right" : "✗ Not so"}: you guessed ${number(guess)}, the model counts ${number(count)} `
    + `of ${name}. Score: ${my.score[0]} of ${my.score[1]}. Change the steps for the next guess.`);
  draw();
}

function drawGuess() {
  my.el.guessForm.hidden = !my.guessing || my.open;
  if (!my.guessing) put(my.el.guessResult, "");
  else if (!my.open) put(my.el.guessResult, `Counts and cycles are hidden. Score: ${my.score[0]} of ${my.score[1]}.`);
}

// --- The view -------------------------------------------------------------------------------------

function middle() {
  const { el } = my;
  el.picture = h("div", { class: "mem-picture-box" });
  el.happening = h("p", { class: "mem-happening" });
  el.stale = h("p", { class: "error", hidden: true }, "The picture shows the last steps that the model accepted.");
  el.hops = h("div", { class: "mem-hops" });
  el.hopsTitle = h("h2");
  el.hopList = h("ol", { class: "mem-hop-list" });
  const narrow = matchMedia("(max-width: 640px)");
  const turn = () => {
    el.picture.replaceChildren(picture(narrow.matches));
    my.drawn = {};
    draw();
  };
  narrow.onchange = turn;
  turn();
  return h("section", { class: "mem-middle" }, el.stale, timeFields(), el.picture, el.happening, el.hopsTitle, el.hops, el.hopList);
}

function eventPart() {
  const { el } = my;
  el.clocks = h("input", { type: "checkbox", id: "mem-clocks" });
  el.clocks.onchange = () => draw();
  el.events = h("tbody");
  el.eventTable = h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "now"), h("th", { class: "n" }, "count"),
    h("th", {}, "event"))), el.events);
  el.sums = h("p", { class: "dim mem-note" });
  return h("section", { class: "mem-events" }, h("h2", {}, "Events up to here"), el.clocks,
    h("label", { for: "mem-clocks" }, " clocks and stalls too"),
    h("div", { class: "mem-event-scroll", tabindex: "0" }, el.eventTable, el.sums));
}

function mount(root, app) {
  my.app = app;
  my.root = root;
  root.classList.add("mem");
  my.el.contents = h("div");
  const legend = "D dirty, S shared with another core, P prefetched; ↓ line in flight until the cycle; "
    + "▾ the way that the next refill replaces; age: refills and uses since the last use.";
  root.append(h("div", { class: "mem-top" }, fields(), middle(), eventPart()), h("div", { class: "mem-low" },
    h("section", { class: "mem-contents" }, h("h2", {}, "Sets and ways"), h("p", { class: "dim mem-note" }, legend), my.el.contents),
    flowPart()));
}

async function show(app) {
  const { el } = my;
  const { given, do: steps } = app.state;
  if (el.given.value !== given) el.given.value = given;
  if (el.do.value.replace(/\s*\n\s*/g, " ") !== steps) el.do.value = steps;
  my.wanted = JSON.stringify([given, steps, app.choice]);
  if (my.wanted !== my.key) await run();
  else draw();
}

views.push({ id: "memory", title: "Memory", mount, show });
})();
