// The view "Pipeline": fields, tables and details around the picture.

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
      return Object.assign(viewParts.field(label, input), {
        set: () => {
          input.value = app.state[key];
        },
      });
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
    this.closed = make("p", {
      textContent: "Cycles are hidden until the questions of the lesson are answered.",
      hidden: true,
    });
    this.chart = new PipelineChart(
      this.canvas,
      () => this.later(),
      (index) => this.describe(index),
    );
    root.append(
      make(
        "div",
        { className: "fields" },
        this.sourceField,
        ...this.ofCase,
        ...this.ofTrace,
        viewParts.file(app),
      ),
      this.closed,
    );
    this.body = make(
      "div",
      {},
      this.buttons(),
      make("p", { id: "pipeline-help", className: "dim", textContent: PIPELINE_HELP }),
      make("div", { className: "pipeline-parts" }, this.canvas, this.details),
      make(
        "p",
        { className: "pipeline-key" },
        ...Object.entries(PIPELINE_STAGES).map(([letter, [label]]) =>
          make("span", {}, make("b", { className: "mono", textContent: letter }), ` ${label}`),
        ),
        make("span", { textContent: "◆ mispredicted branch resolved" }),
        make("span", { textContent: "hatched: wrong path" }),
      ),
      make("h2", { textContent: "Rename slots lost in the visible cycles" }),
      this.causes,
      this.table(),
    );
    root.append(this.body);
  }

  buttons() {
    const button = (text, title, onclick) =>
      viewParts.make("button", { type: "button", title, onclick }, text);
    const { chart } = this;
    this.size = viewParts.make("input", { type: "range", min: 1, max: 22, step: 1, value: 18 });
    this.size.oninput = () => {
      chart.row = Number(this.size.value);
      chart.draw();
    };
    return viewParts.make(
      "div",
      { className: "fields" },
      button("+", "Fewer cycles (key +)", () => chart.zoom(1.5)),
      button("−", "More cycles (key -)", () => chart.zoom(1 / 1.5)),
      button("First 40", "Fit the first 40 operations", () => {
        chart.top = 0;
        chart.row = 18;
        chart.fit(40);
      }),
      button("All", "Fit all operations", () => chart.fitAll()),
      viewParts.field("Row height", this.size),
    );
  }

  table() {
    const head = viewParts.make("thead", {}, viewParts.row(PIPELINE_COLUMNS, "th"));
    this.list = viewParts.make(
      "details",
      { ontoggle: () => this.later() },
      viewParts.make("summary", { textContent: "Visible operations as a table (up to 200)" }),
      viewParts.make("div", { className: "scroll" }, viewParts.make("table", {}, head, this.rows)),
    );
    return this.list;
  }

  async show() {
    const { app } = this;
    const { state } = app;
    viewParts.traces(this.source, app, "the case (Memory)");
    for (const field of [...this.ofCase, ...this.ofTrace]) field.set();
    for (const field of this.ofCase) field.hidden = state.trace !== "";
    for (const field of this.ofTrace) field.hidden = state.trace === "";
    this.closed.hidden = !(state.trace === "" && app.book.hides);
    this.body.hidden = !this.closed.hidden;
    if (this.body.hidden) return;
    const request =
      state.trace === ""
        ? { ask: "watch", given: state.given, do: state.do, machine: app.choice }
        : { ask: "pipeline", from: state.from, count: state.count, machine: app.choice };
    const asked = JSON.stringify([request, state.trace, app.traceName, app.dropped]);
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
      this.asked = JSON.stringify([request, state.trace, app.traceName, app.dropped]);
      this.take(answer.ops || answer.steps.flatMap((step) => step.ops), answer);
    } catch (error) {
      if (number === this.number) this.fail(error, state.trace !== "");
    } finally {
      if (number === this.number) this.canvas.removeAttribute("aria-busy");
    }
  }

  fail({ message: text, field }, isTrace) {
    this.asked = "";
    this.chart.take(new PipelineData([]));
    const ofTrace = { from: this.ofTrace[0], count: this.ofTrace[1] }[field];
    const ofCase = /given/.test(text) ? this.ofCase[0] : this.ofCase[1];
    ((isTrace ? ofTrace : ofCase) || this.sourceField).fail(text);
    this.app.say(text, true);
  }

  take(ops, { instructions }) {
    this.chart.take(new PipelineData(ops));
    const wrong = ops.filter((op) => op.wrong).length;
    const text =
      `${ops.length.toLocaleString("en")} operations, ${wrong.toLocaleString("en")} on the wrong path` +
      (instructions ? `, of a thread of ${instructions.toLocaleString("en")} instructions` : "");
    this.canvas.setAttribute("aria-label", `Pipeline: ${text}`);
    this.describe(-1);
    this.app.say(text);
  }

  /** Fills the tables when the picture has come to rest. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.fillCauses();
      this.fillRows();
    }, 120);
    this.size.value = Math.round(this.chart.row);
  }

  fillCauses() {
    const { chart } = this;
    const [from, to] = [
      Math.max(chart.data.begin, Math.floor(chart.at)),
      Math.min(chart.data.end, Math.ceil(chart.at + chart.cycles)),
    ];
    const slots = chart.data.lostBetween(from, to);
    const total = Math.max(1, 5 * (to - from));
    const row = ([cause, lost]) => {
      const line = viewParts.row([cause, Math.round(lost), viewParts.percent(lost / total)]);
      line.firstChild.prepend(this.swatch(chart.data.causes.indexOf(cause)), " ");
      return line;
    };
    const range = `Cycles ${from.toLocaleString("en")} to ${to.toLocaleString("en")}: ${total.toLocaleString("en")} slots (5 a cycle).`;
    const none =
      slots.size > 0
        ? ""
        : this.app.state.trace === ""
          ? " A case reports no lost slots; choose a trace."
          : " None is lost.";
    this.causes.replaceChildren(viewParts.make("p", { textContent: range + none }));
    if (slots.size === 0) return;
    this.causes.append(
      viewParts.make(
        "table",
        {},
        viewParts.row(["Cause", "Slots lost", "Share of all slots"], "th"),
        ...[...slots].sort((a, b) => b[1] - a[1]).map(row),
      ),
    );
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
    this.rows.replaceChildren(
      ...shown.map((op, i) =>
        viewParts.row([
          from + i,
          viewParts.hex(op.pc),
          op.text,
          op.fetch,
          op.decoded,
          op.rename,
          op.issue,
          op.complete,
          op.retire,
          op.written || "",
          op.source || "",
          op.wrong ? "wrong path" : op.mispredicted ? "mispredicted" : "",
          op.needs.join(", "),
        ]),
      ),
    );
  }

  describe(index) {
    const op = this.chart.data.ops[index];
    const { make } = viewParts;
    if (!op)
      return this.details.replaceChildren(
        make("p", {
          className: "dim",
          textContent: "Point at an operation, or press the arrow keys in the picture.",
        }),
      );
    const count = (n) => n.toLocaleString("en");
    const facts = [
      ["pc", viewParts.hex(op.pc)],
      ["fetch", count(op.fetch)],
      ["decoded", count(op.decoded)],
      ["rename", op.rename ? count(op.rename) : "not reached"],
      ["issue", count(op.issue)],
      ["complete", count(op.complete)],
      [op.wrong ? "squashed" : "retire", count(op.retire)],
    ];
    if (op.written) facts.push(["store written", count(op.written)]);
    if (op.addr !== undefined) facts.push(["address", viewParts.hex(op.addr)], ["data source", op.source]);
    for (const [letter, from, to] of this.chart.data.spans[index]) {
      facts.push([`${letter} ${PIPELINE_STAGES[letter][0]}`, `${count(to - from)} cycles`]);
    }
    facts.push(["needs operations", op.needs.join(", ") || "none"]);
    for (const lost of op.lost)
      facts.push([`lost before: ${lost.cause}`, `${count(lost.slots)} slots (${lost.root})`]);
    const marks = [op.wrong && "wrong path", op.mispredicted && "mispredicted branch"]
      .filter(Boolean)
      .join(", ");
    this.details.replaceChildren(
      make("h3", { className: "mono", textContent: `${index}: ${op.text}` }),
      make("p", { className: "error", textContent: marks }),
      make("table", {}, ...facts.map((fact) => viewParts.row(fact))),
    );
  }
}

const PIPELINE_HELP =
  "Scroll or drag to move, Ctrl and wheel or + and - to zoom; left and right arrows move in time, " +
  "up and down choose an operation. Solid arrows: the results it needs; dashed: operations that need its result.";
const PIPELINE_COLUMNS = [
  "Place",
  "pc",
  "Instruction",
  "Fetch",
  "Decoded",
  "Rename",
  "Issue",
  "Complete",
  "Retire",
  "Written",
  "Source",
  "Path",
  "Needs",
];

views.push({
  id: "pipeline",
  title: "Pipeline",
  mount(root, app) {
    this.view = new PipelineView(root, app);
  },
  show() {
    return this.view.show();
  },
});
