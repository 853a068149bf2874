// The pipeline: operations over cycles, of the case or of a window of a trace.

/** Stages as `n2sim pipeline` names them: letter, color of the page, height of the bar. */
const PIPELINE_STAGES = {
  F: ["fetch", "--c1", 1], D: ["decode", "--c6", 0.8], q: ["no slot yet", "--line", 0.4],
  R: ["rename", "--c5", 1], i: ["issue queue", "--line", 0.4], X: ["execute", "--c3", 1],
  T: ["translate", "--c4", 1], M: ["memory", "--c2", 1], w: ["waits to retire", "--line", 0.4],
  C: ["retire", "--dim", 1], s: ["store written", "--c1", 0.25],
};

/** Divides the timeline of an operation into stages that do not overlap: [letter, from, to]. */
function pipelineSpans(op) {
  const end = Math.max(op.wrong ? op.retire : op.retire + 1, op.fetch + 1);
  const last = op.wrong ? end : end - 1;
  const spans = [];
  let at = op.fetch;
  const cut = (letter, to, limit = last) => {
    const stop = Math.min(to, limit);
    if (stop > at) {
      spans.push([letter, at, stop]);
      at = stop;
    }
  };
  cut("F", op.fetch + 1);
  cut("D", op.decoded);
  if (op.rename > 0) {
    cut("q", op.rename);
    cut("R", op.rename + 1);
    cut("i", op.issue);
    if (op.translation > 1) cut("T", Math.min(op.issue + op.translation, op.complete));
    // A store computes its address when it executes; it writes later.
    const loads = op.addr !== undefined && op.written === 0 && !/^(st|dc z)/i.test(op.text);
    cut(loads ? "M" : "X", op.complete);
  }
  cut("w", last);
  if (!op.wrong) {
    cut("C", end, end);
    cut("s", op.written, Math.max(end, op.written));
  }
  return spans;
}

/** Operations prepared for the picture. */
class PipelineData {
  constructor(ops) {
    this.ops = ops;
    this.spans = ops.map(pipelineSpans);
    this.begin = ops.length ? Math.min(...ops.map((op) => op.fetch)) : 0;
    this.end = this.spans.reduce((end, spans) => Math.max(end, spans.at(-1)[2]), this.begin + 1);
    this.users = ops.map(() => []);
    ops.forEach((op, user) => op.needs.forEach((need) => this.users[need]?.push(user)));
    this.findLost();
  }

  /** Gives lost slots a place in time: the slots just before the operation that they preceded. */
  findLost() {
    const used = new Map();
    const total = new Map();
    this.lost = [];
    for (const op of this.ops) {
      if (op.rename === 0) continue;
      const taken = used.get(op.rename) || 0;
      used.set(op.rename, taken + 1);
      let from = op.rename * 5 + taken - op.lost.reduce((sum, lost) => sum + lost.slots, 0);
      for (const { cause, slots } of op.lost) {
        this.lost.push({ cause, from: from / 5, to: (from + slots) / 5 });
        from += slots;
        total.set(cause, (total.get(cause) || 0) + slots);
      }
    }
    this.lost.sort((a, b) => a.from - b.from);
    this.causes = [...total].sort((a, b) => b[1] - a[1]).map(([cause]) => cause);
  }

  /** Returns the slots of each cause between two cycles. */
  lostBetween(from, to) {
    const slots = new Map();
    for (const lost of this.lost) {
      const length = 5 * (Math.min(lost.to, to) - Math.max(lost.from, from));
      if (length > 0) slots.set(lost.cause, (slots.get(lost.cause) || 0) + length);
    }
    return slots;
  }
}

/** Color and pattern of a cause, by its place in the list of causes. */
function pipelineCause(place) {
  return { color: `--c${place % 6 + 1}`, pattern: (place % 6 + Math.floor(place / 6)) % 5 };
}

/** The picture: part of the operations and cycles, on a canvas. */
class PipelineChart {
  constructor(canvas, moved, chosen) {
    Object.assign(this, { canvas, moved, chosen, data: new PipelineData([]), row: 18, top: 0, at: 0, scale: 8 });
    this.hover = -1;
    this.selected = -1;
    this.wanted = false;
    this.axis = 24;
    this.strip = 58;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }
  get left() { return this.width < 600 ? 108 : 290; }
  get head() { return this.axis + this.strip; }
  get cycles() { return Math.max(1, this.width - this.left) / this.scale; }
  get rows() { return (this.height - this.head) / this.row; }
  x(cycle) { return this.left + (cycle - this.at) * this.scale; }
  y(index) { return this.head + (index - this.top) * this.row; }

  take(data) {
    this.data = data;
    this.top = 0;
    this.hover = this.selected = -1;
    this.fit(40);
  }

  /** Shows all cycles of the first operations. */
  fit(count) {
    const first = this.data.spans.slice(0, count);
    const end = first.reduce((most, spans) => Math.max(most, spans.at(-1)[2]), this.data.begin + 1);
    this.scale = Math.max(1, this.width - this.left) / (end - this.data.begin + 1);
    this.at = this.data.begin;
    this.draw();
  }

  fitAll() {
    this.row = Math.min(18, (this.height - this.head) / Math.max(1, this.data.ops.length));
    this.top = 0;
    this.fit(this.data.ops.length);
  }

  zoom(factor, x = (this.width + this.left) / 2) {
    const cycle = this.at + (x - this.left) / this.scale;
    const plot = Math.max(1, this.width - this.left);
    const least = plot / Math.max(2000, 1.1 * (this.data.end - this.data.begin));
    this.scale = Math.min(plot, Math.max(least, this.scale * factor));
    this.at = cycle - (x - this.left) / this.scale;
    this.draw();
  }

  pan(cycles, rows) {
    this.at += cycles;
    this.top += rows;
    this.draw();
  }

  /** Moves by rows and keeps the first operation where the one before it was. */
  scroll(rows) {
    const before = this.data.ops[Math.floor(this.top)];
    const last = Math.max(0, this.data.ops.length - Math.floor(this.rows));
    this.top = Math.min(last, Math.max(0, this.top + rows));
    const now = this.data.ops[Math.floor(this.top)];
    if (before && now) this.at += now.fetch - before.fetch;
    this.draw();
  }

  select(index) {
    if (this.data.ops.length === 0) return;
    this.selected = Math.min(this.data.ops.length - 1, Math.max(0, index));
    if (this.selected < this.top) this.scroll(this.selected - this.top);
    const below = this.selected + 1 - this.top - this.rows;
    if (below > 0) this.scroll(Math.ceil(below));
    const op = this.data.ops[this.selected];
    const end = this.data.spans[this.selected].at(-1)[2];
    if (end < this.at || op.fetch > this.at + this.cycles) this.at = op.fetch - this.cycles / 10;
    this.chosen(this.selected);
    this.draw();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey) this.zoom(Math.exp(-event.deltaY / 300), event.offsetX);
      else if (event.shiftKey || event.deltaX !== 0) this.pan((event.deltaX || event.deltaY) / this.scale, 0);
      else this.scroll(event.deltaY / this.row);
    }, { passive: false });
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, y: event.offsetY, at: this.at, top: this.top, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        drag.moved ||= Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 4;
        this.at = drag.at - (event.offsetX - drag.x) / this.scale;
        this.top = drag.top - (event.offsetY - drag.y) / this.row;
        this.draw();
      } else this.point(this.index(event.offsetY));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved && this.index(event.offsetY) >= 0) this.select(this.index(event.offsetY));
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  index(y) {
    const index = Math.floor(this.top + (y - this.head) / this.row);
    return y >= this.head && this.data.ops[index] ? index : -1;
  }

  point(index) {
    if (index === this.hover) return;
    this.hover = index;
    this.chosen(index >= 0 ? index : this.selected);
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.rows) - 1);
    const acts = {
      "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5),
      ArrowLeft: () => this.pan(-this.cycles / 10, 0), ArrowRight: () => this.pan(this.cycles / 10, 0),
      ArrowUp: () => this.select(this.selected - 1), ArrowDown: () => this.select(this.selected + 1),
      PageUp: () => this.select(this.selected - page), PageDown: () => this.select(this.selected + page),
      Home: () => this.select(0), End: () => this.select(this.data.ops.length - 1),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** Draws before the next frame. */
  draw() {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      if (this.width > 0) this.paint();
    });
  }

  limit() {
    const { begin, end, ops } = this.data;
    this.at = Math.min(end - Math.min(1, this.cycles / 2), Math.max(begin - this.cycles / 2, this.at));
    this.top = Math.min(Math.max(0, ops.length - this.rows), Math.max(0, this.top));
  }

  paint() {
    this.limit();
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const paint = this.canvas.getContext("2d");
    paint.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    this.color = (name) => style.getPropertyValue(name).trim();
    paint.fillStyle = this.color("--back");
    paint.fillRect(0, 0, this.width, this.height);
    paint.textBaseline = "middle";
    this.paintRows(paint);
    this.paintArrows(paint);
    this.paintHead(paint);
    this.moved();
  }

  paintRows(paint) {
    const step = Math.max(1, Math.floor(1 / this.row));
    const stop = Math.min(this.data.ops.length, Math.ceil(this.top + this.rows));
    for (let i = Math.max(0, Math.floor(this.top)); i < stop; i += step) this.paintRow(paint, i);
  }

  paintRow(paint, index) {
    const op = this.data.ops[index];
    const y = this.y(index);
    const middle = y + this.row / 2;
    if (index === this.hover || index === this.selected) {
      paint.fillStyle = this.color("--panel");
      paint.fillRect(0, y, this.width, this.row);
    }
    for (const span of this.data.spans[index]) this.paintSpan(paint, span, y, op.wrong);
    if (op.mispredicted) this.paintMark(paint, this.x(op.complete), middle);
    paint.fillStyle = this.color(index === this.selected || index === this.hover ? "--panel" : "--back");
    paint.fillRect(0, y, this.left - 2, this.row + 0.5);
    if (index === this.selected) {
      paint.fillStyle = this.color("--accent");
      paint.fillRect(0, y, 4, this.row);
    }
    if (this.row < 10) return;
    const narrow = this.width < 600;
    paint.font = `${Math.min(12, this.row - 3)}px ${this.color("--mono")}`;
    paint.fillStyle = this.color(op.wrong ? "--bad" : "--text");
    const mark = op.wrong ? (narrow ? "wrong: " : "wrong path: ") : op.mispredicted ? "✗ " : "";
    paint.save();
    paint.beginPath();
    paint.rect(0, y, this.left - 6, this.row);
    paint.clip();
    paint.fillText((narrow ? "" : op.pc.toString(16) + " ") + mark + op.text, 6, middle);
    paint.restore();
  }

  paintSpan(paint, [letter, from, to], y, wrong) {
    const x = Math.max(this.left, this.x(from));
    const right = Math.min(this.width, this.x(to));
    if (right <= x) return;
    const [label, color, part] = PIPELINE_STAGES[letter];
    const high = Math.max(0.5, (this.row - (this.row > 6 ? 3 : 0)) * part);
    const top = letter === "s" ? y + this.row - high - 1 : y + (this.row - high) / 2;
    const width = Math.max(0.5, right - x);
    paint.globalAlpha = this.row < 8 ? 0.8 : 0.35;
    paint.fillStyle = this.color(color);
    paint.fillRect(x, top, width, high);
    paint.globalAlpha = 1;
    if (this.row < 8) return;
    paint.strokeStyle = this.color(wrong ? "--bad" : "--line");
    paint.lineWidth = wrong ? 1 : 0.5;
    if (width > 3) paint.strokeRect(x, top, width, high);
    if (wrong) viewParts.hatch(paint, x, top, width, high, 1);
    if (this.row < 12 || width < 9) return;
    paint.font = `11px ${this.color("--mono")}`;
    paint.fillStyle = this.color("--text");
    const long = `${letter} ${label} ${(to - from).toLocaleString("en")}`;
    const text = width > long.length * 7 + 4 ? long : letter;
    paint.textAlign = "center";
    paint.fillText(text, x + width / 2, y + this.row / 2);
    paint.textAlign = "left";
  }

  /** Marks the resolution of a mispredicted branch. */
  paintMark(paint, x, y) {
    if (x < this.left) return;
    const size = Math.min(6, Math.max(2, this.row / 3));
    paint.fillStyle = this.color("--bad");
    paint.beginPath();
    paint.moveTo(x, y - size);
    paint.lineTo(x + size, y);
    paint.lineTo(x, y + size);
    paint.lineTo(x - size, y);
    paint.fill();
  }

  paintArrows(paint) {
    const index = this.hover >= 0 ? this.hover : this.selected;
    if (index < 0) return;
    paint.save();
    paint.beginPath();
    paint.rect(this.left, this.head, this.width, this.height);
    paint.clip();
    for (const need of this.data.ops[index].needs) this.paintArrow(paint, need, index, "--accent", []);
    for (const user of this.data.users[index]) this.paintArrow(paint, index, user, "--dim", [4, 3]);
    paint.restore();
  }

  paintArrow(paint, from, to, color, dash) {
    const writer = this.data.ops[from];
    const reader = this.data.ops[to];
    if (!writer || !reader) return;
    const [x1, y1, x2, y2] = [this.x(writer.complete), this.y(from) + this.row / 2, this.x(reader.issue),
      this.y(to) + this.row / 2];
    paint.strokeStyle = paint.fillStyle = this.color(color);
    paint.lineWidth = 2;
    paint.setLineDash(dash);
    paint.beginPath();
    paint.moveTo(x1, y1);
    paint.bezierCurveTo(x1 + 18, y1, x2 - 18, y2, x2 - 4, y2);
    paint.stroke();
    paint.setLineDash([]);
    paint.beginPath();
    paint.moveTo(x2, y2);
    paint.lineTo(x2 - 8, y2 - 4);
    paint.lineTo(x2 - 8, y2 + 4);
    paint.fill();
  }

  paintHead(paint) {
    paint.fillStyle = this.color("--back");
    paint.fillRect(0, 0, this.width, this.head);
    paint.font = "11px system-ui, sans-serif";
    paint.fillStyle = paint.strokeStyle = this.color("--text");
    paint.lineWidth = 1;
    paint.fillText("cycle", 6, 12);
    const rough = 90 / this.scale;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough));
    for (let cycle = Math.ceil(this.at / step) * step; this.x(cycle) < this.width; cycle += step) {
      const x = this.x(cycle);
      paint.fillStyle = this.color("--faint");
      paint.fillRect(x, this.axis - 5, 1, this.height);
      paint.fillStyle = this.color("--text");
      paint.fillText(cycle.toLocaleString("en"), x + 3, 12);
    }
    this.paintStrip(paint);
    paint.fillStyle = this.color("--line");
    paint.fillRect(0, this.head - 1, this.width, 1);
    paint.fillRect(this.left - 2, 0, 1, this.height);
  }

  /** Draws the lost slots per cycle, in columns of whole cycles at least one pixel wide. */
  paintStrip(paint) {
    const bottom = this.head - 5;
    const high = this.strip - 12;
    paint.fillStyle = this.color("--text");
    paint.fillText(this.width < 600 ? "lost slots" : "rename slots lost per cycle", 6, bottom - high / 2);
    paint.textAlign = "right";
    paint.fillText("5", this.left - 6, bottom - high + 4);
    paint.fillText("0", this.left - 6, bottom - 3);
    paint.textAlign = "left";
    const bin = Math.max(1, Math.ceil(3 / this.scale));
    const first = Math.floor(this.at / bin);
    const bins = Math.ceil(this.cycles / bin) + 1;
    const sums = this.strips(bin, first, bins);
    for (let i = 0; i < bins; i++) {
      const x = Math.max(this.left, this.x((first + i) * bin));
      const width = this.x((first + i + 1) * bin) - x;
      let y = bottom;
      for (const [place, slots] of sums[i]) {
        const part = Math.min(y - bottom + high, (slots / (5 * bin)) * high);
        this.paintCause(paint, place, x, y - part, width, part);
        y -= part;
      }
    }
  }

  paintCause(paint, place, x, y, width, height) {
    const { color, pattern } = pipelineCause(place);
    paint.fillStyle = this.color(color);
    paint.fillRect(x, y, width, height);
    paint.strokeStyle = this.color("--back");
    paint.lineWidth = 1.5;
    viewParts.hatch(paint, x, y, width, height, pattern);
  }

  strips(bin, first, bins) {
    const sums = Array.from({ length: bins }, () => new Map());
    for (const { cause, from, to } of this.data.lost) {
      if (to < this.at || from > this.at + this.cycles) continue;
      const place = this.data.causes.indexOf(cause);
      const last = Math.min(bins - 1, Math.floor(to / bin) - first);
      for (let i = Math.max(0, Math.floor(from / bin) - first); i <= last; i++) {
        const begin = (first + i) * bin;
        const slots = 5 * (Math.min(to, begin + bin) - Math.max(from, begin));
        if (slots > 0) sums[i].set(place, (sums[i].get(place) || 0) + slots);
      }
    }
    return sums;
  }
}

/** The view around the picture. */
class PipelineView {
  constructor(root, app) {
    const { make } = viewParts;
    Object.assign(this, { app, asked: "", number: 0 });
    this.source = make("select", { onchange: () => app.change({ trace: this.source.value }) });
    this.sourceField = viewParts.field("Operations of", this.source);
    const text = (label, key) => {
      const input = make("input", { className: "mono", spellcheck: false });
      input.onchange = () => app.change({ [key]: input.value });
      return Object.assign(viewParts.field(label, input), { set: () => { input.value = app.state[key]; } });
    };
    this.ofCase = [text("Given", "given"), text("Steps", "do")];
    this.ofTrace = [
      viewParts.number(app, "From instruction", "from", 0, 1e12),
      viewParts.number(app, "Instructions", "count", 1, 4000),
    ];
    this.canvas = make("canvas", { tabIndex: 0, className: "pipeline", role: "img" });
    this.canvas.setAttribute("aria-describedby", "pipeline-help");
    this.details = make("div", { className: "pipeline-op", ariaLive: "polite" });
    this.causes = make("div", { className: "scroll" });
    this.rows = make("tbody");
    this.chart = new PipelineChart(this.canvas, () => this.later(), (index) => this.describe(index));
    root.append(
      make("div", { className: "fields" }, this.sourceField, ...this.ofCase, ...this.ofTrace, viewParts.file(app)),
      this.buttons(), make("p", { id: "pipeline-help", className: "dim", textContent: PIPELINE_HELP }),
      make("div", { className: "pipeline-parts" }, this.canvas, this.details),
      make("p", { className: "pipeline-key" }, ...Object.entries(PIPELINE_STAGES).map(([letter, [label]]) =>
        make("span", {}, make("b", { className: "mono", textContent: letter }), ` ${label}`)),
      make("span", { textContent: "◆ mispredicted branch resolved" }), make("span", { textContent: "hatched: wrong path" })),
      make("h2", { textContent: "Rename slots lost in the visible cycles" }), this.causes, this.table());
  }

  buttons() {
    const button = (text, title, onclick) => viewParts.make("button", { type: "button", title, onclick }, text);
    const { chart } = this;
    this.size = viewParts.make("input", { type: "range", min: 1, max: 22, step: 1, value: 18 });
    this.size.oninput = () => { chart.row = Number(this.size.value); chart.draw(); };
    return viewParts.make("div", { className: "fields" },
      button("+", "Fewer cycles (key +)", () => chart.zoom(1.5)),
      button("−", "More cycles (key -)", () => chart.zoom(1 / 1.5)),
      button("First 40", "Fit the first 40 operations", () => { chart.top = 0; chart.row = 18; chart.fit(40); }),
      button("All", "Fit all operations", () => chart.fitAll()),
      viewParts.field("Row height", this.size));
  }

  table() {
    const head = viewParts.make("thead", {}, viewParts.row(PIPELINE_COLUMNS, "th"));
    this.list = viewParts.make("details", { ontoggle: () => this.later() },
      viewParts.make("summary", { textContent: "Visible operations as a table (up to 200)" }),
      viewParts.make("div", { className: "scroll" }, viewParts.make("table", {}, head, this.rows)));
    return this.list;
  }

  async show() {
    const { app } = this;
    const { state } = app;
    viewParts.traces(this.source, app, "the case (Memory)");
    for (const field of [...this.ofCase, ...this.ofTrace]) field.set();
    for (const field of this.ofCase) field.hidden = state.trace !== "";
    for (const field of this.ofTrace) field.hidden = state.trace === "";
    const request = state.trace === "" ? { ask: "watch", given: state.given, do: state.do, machine: app.choice }
      : { ask: "pipeline", from: state.from, count: state.count, machine: app.choice };
    const asked = JSON.stringify([request, state.trace, app.traceName]);
    if (asked === this.asked) return this.chart.draw();
    const number = ++this.number;
    for (const field of [this.sourceField, ...this.ofCase, ...this.ofTrace]) field.fail("");
    app.say("The model runs");
    this.canvas.setAttribute("aria-busy", "true");
    try {
      if (state.trace !== "") await app.needTrace();
      const answer = await app.model.ask(request);
      // A younger request has made this answer old.
      if (number !== this.number) return;
      this.asked = JSON.stringify([request, state.trace, app.traceName]);
      this.take(answer.ops || answer.steps.flatMap((step) => step.ops), answer);
    } catch (error) {
      if (number === this.number) this.fail(error.message, state.trace !== "");
    } finally {
      if (number === this.number) this.canvas.removeAttribute("aria-busy");
    }
  }

  fail(text, isTrace) {
    this.asked = "";
    this.chart.take(new PipelineData([]));
    const ofTrace = /^a window/.test(text) ? this.ofTrace[1] : /first thread/.test(text) ? this.ofTrace[0] : null;
    const ofCase = /given/.test(text) ? this.ofCase[0] : this.ofCase[1];
    ((isTrace ? ofTrace : ofCase) || this.sourceField).fail(text);
    this.app.say(text, true);
  }

  take(ops, { instructions }) {
    this.chart.take(new PipelineData(ops));
    const wrong = ops.filter((op) => op.wrong).length;
    const text = `${ops.length.toLocaleString("en")} operations, ${wrong.toLocaleString("en")} on the wrong path` +
      (instructions ? `, of a thread of ${instructions.toLocaleString("en")} instructions` : "");
    this.canvas.setAttribute("aria-label", `Pipeline: ${text}`);
    this.describe(-1);
    this.app.say(text);
  }

  /** Fills the tables when the picture has come to rest. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.fillCauses(); this.fillRows(); }, 120);
    this.size.value = Math.round(this.chart.row);
  }

  fillCauses() {
    const { chart } = this;
    const [from, to] = [Math.max(chart.data.begin, Math.floor(chart.at)), Math.min(chart.data.end, Math.ceil(chart.at + chart.cycles))];
    const slots = chart.data.lostBetween(from, to);
    const total = Math.max(1, 5 * (to - from));
    const row = ([cause, lost]) => {
      const line = viewParts.row([cause, Math.round(lost), viewParts.percent(lost / total)]);
      line.firstChild.prepend(this.swatch(chart.data.causes.indexOf(cause)), " ");
      return line;
    };
    const range = `Cycles ${from.toLocaleString("en")} to ${to.toLocaleString("en")}: ${total.toLocaleString("en")} slots (5 a cycle).`;
    const none = slots.size > 0 ? "" : this.app.state.trace === "" ? " A case reports no lost slots; choose a trace." : " None is lost.";
    this.causes.replaceChildren(viewParts.make("p", { textContent: range + none }));
    if (slots.size === 0) return;
    this.causes.append(viewParts.make("table", {}, viewParts.row(["Cause", "Slots lost", "Share of all slots"], "th"),
      ...[...slots].sort((a, b) => b[1] - a[1]).map(row)));
  }

  swatch(place) {
    const canvas = viewParts.make("canvas", { width: 28, height: 14, ariaHidden: "true" });
    this.chart.paintCause(canvas.getContext("2d"), place, 0, 0, 28, 14);
    return canvas;
  }

  fillRows() {
    if (!this.list.open) return;
    const { data, top, rows } = this.chart;
    const from = Math.floor(top);
    const shown = data.ops.slice(from, Math.min(from + 200, Math.ceil(top + rows)));
    this.rows.replaceChildren(...shown.map((op, i) => viewParts.row([from + i, viewParts.hex(op.pc), op.text, op.fetch,
      op.decoded, op.rename, op.issue, op.complete, op.retire, op.written || "", op.source || "",
      op.wrong ? "wrong path" : op.mispredicted ? "mispredicted" : "", op.needs.join(", ")])));
  }

  describe(index) {
    const op = this.chart.data.ops[index];
    const { make } = viewParts;
    if (!op) return this.details.replaceChildren(make("p", { className: "dim", textContent: "Point at an operation, or press the arrow keys in the picture." }));
    const count = (n) => n.toLocaleString("en");
    const facts = [["pc", viewParts.hex(op.pc)], ["fetch", count(op.fetch)], ["decoded", count(op.decoded)],
      ["rename", op.rename ? count(op.rename) : "not reached"], ["issue", count(op.issue)], ["complete", count(op.complete)],
      [op.wrong ? "squashed" : "retire", count(op.retire)]];
    if (op.written) facts.push(["store written", count(op.written)]);
    if (op.addr !== undefined) facts.push(["address", viewParts.hex(op.addr)], ["data source", op.source]);
    for (const [letter, from, to] of this.chart.data.spans[index]) {
      facts.push([`${letter} ${PIPELINE_STAGES[letter][0]}`, `${count(to - from)} cycles`]);
    }
    facts.push(["needs operations", op.needs.join(", ") || "none"]);
    for (const lost of op.lost) facts.push([`lost before: ${lost.cause}`, `${count(lost.slots)} slots (${lost.root})`]);
    const marks = [op.wrong && "wrong path", op.mispredicted && "mispredicted branch"].filter(Boolean).join(", ");
    this.details.replaceChildren(make("h3", { className: "mono", textContent: `${index}: ${op.text}` }),
      make("p", { className: "error", textContent: marks }),
      make("table", {}, ...facts.map((fact) => viewParts.row(fact))));
  }
}

const PIPELINE_HELP = "Scroll or drag to move, Ctrl and wheel or + and - to zoom; left and right arrows move in time, " +
  "up and down choose an operation. Solid arrows: the results it needs; dashed: operations that need its result.";
const PIPELINE_COLUMNS = ["Place", "pc", "Instruction", "Fetch", "Decoded", "Rename", "Issue", "Complete", "Retire",
  "Written", "Source", "Path", "Needs"];

views.push({
  id: "pipeline",
  title: "Pipeline",
  mount(root, app) { this.view = new PipelineView(root, app); },
  show() { return this.view.show(); },
});
