// The picture of the view "Pipeline": operations over cycles, of the case or of a window of a trace.

/** Stages as `n2sim pipeline` names them: letter, color of the page, height of the bar. */
const PIPELINE_STAGES = {
  F: ["fetch", "--c1", 1],
  D: ["decode", "--c6", 0.8],
  q: ["no slot yet", "--line", 0.4],
  R: ["rename", "--c5", 1],
  i: ["issue queue", "--line", 0.4],
  X: ["execute", "--c3", 1],
  T: ["translate", "--c4", 1],
  M: ["memory", "--c2", 1],
  w: ["waits to retire", "--line", 0.4],
  C: ["retire", "--dim", 1],
  s: ["store written", "--c1", 0.25],
};

/** Operations prepared for the picture. */
class PipelineData {
  constructor(ops) {
    this.ops = ops;
    /** Stages that do not overlap: [letter, from, to]. */
    this.spans = ops.map((op) => op.stages);
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
  return { color: `--c${(place % 6) + 1}`, pattern: ((place % 6) + Math.floor(place / 6)) % 5 };
}

/** The picture: part of the operations and cycles, on a canvas. */
class PipelineChart {
  constructor(canvas, moved, chosen) {
    Object.assign(this, {
      canvas,
      moved,
      chosen,
      data: new PipelineData([]),
      row: 18,
      top: 0,
      at: 0,
      scale: 8,
    });
    this.hover = -1;
    this.selected = -1;
    this.wanted = false;
    this.axis = 24;
    this.strip = 58;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  get width() {
    return this.canvas.clientWidth;
  }
  get height() {
    return this.canvas.clientHeight;
  }
  get left() {
    return this.width < 600 ? 108 : 290;
  }
  get head() {
    return this.axis + this.strip;
  }
  get cycles() {
    return Math.max(1, this.width - this.left) / this.scale;
  }
  get rows() {
    return (this.height - this.head) / this.row;
  }
  x(cycle) {
    return this.left + (cycle - this.at) * this.scale;
  }
  y(index) {
    return this.head + (index - this.top) * this.row;
  }

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
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.ctrlKey) this.zoom(Math.exp(-event.deltaY / 300), event.offsetX);
        else if (event.shiftKey || event.deltaX !== 0)
          this.pan((event.deltaX || event.deltaY) / this.scale, 0);
        else this.scroll(event.deltaY / this.row);
      },
      { passive: false },
    );
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
    canvas.addEventListener("pointercancel", () => {
      drag = null;
    });
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
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      ArrowLeft: () => this.pan(-this.cycles / 10, 0),
      ArrowRight: () => this.pan(this.cycles / 10, 0),
      ArrowUp: () => this.select(this.selected - 1),
      ArrowDown: () => this.select(this.selected + 1),
      PageUp: () => this.select(this.selected - page),
      PageDown: () => this.select(this.selected + page),
      Home: () => this.select(0),
      End: () => this.select(this.data.ops.length - 1),
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
    const [x1, y1, x2, y2] = [
      this.x(writer.complete),
      this.y(from) + this.row / 2,
      this.x(reader.issue),
      this.y(to) + this.row / 2,
    ];
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
    const step = Math.max(
      1,
      [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough),
    );
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
