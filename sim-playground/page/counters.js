// Counters: exact counts, counters that take turns, samples beside all operations.

/** Small makers of elements for this view and the view of counters. */
const viewParts = {
  /** Makes an element; `on...` members are handlers, `children` are nodes or texts. */
  make(tag, members = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(members)) {
      if (key in node && key !== "list") node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  },
  /** An input with its label and a place for its error. */
  field(label, input, about = "") {
    const error = viewParts.make("span", { className: "error", role: "alert" });
    const box = viewParts.make("label", { className: "field", title: about }, label, input, error);
    box.input = input;
    box.fail = (text) => {
      error.textContent = text;
      input.setAttribute("aria-invalid", String(text !== ""));
    };
    return box;
  },
  /** An input of a whole number that changes a key of the state if it lies in the range. */
  number(app, label, key, min, max, about = "") {
    const input = viewParts.make("input", { type: "number", min, max, step: 1 });
    const box = viewParts.field(label, input, about);
    input.onchange = () => {
      const value = Number(input.value);
      if (input.value === "" || !Number.isInteger(value) || value < min || value > max) {
        const range = `${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
        box.fail(`Write a whole number from ${range}.`);
      } else {
        box.fail("");
        app.change({ [key]: value });
      }
    };
    box.set = () => {
      if (document.activeElement !== input || input.getAttribute("aria-invalid") !== "true") {
        input.value = app.state[key];
      }
    };
    return box;
  },
  /** Fills the list of traces; `first` is an entry for the empty name. */
  traces(select, app, first) {
    const names = Object.keys(app.data.traces);
    const entries = first ? [["", first]] : [];
    entries.push(
      ...names.map((name) => [name, app.data.traces[name] === undefined ? `${name} (dropped)` : name]),
    );
    const chosen = app.state.trace || (first ? "" : names[0]);
    if (chosen && !names.includes(chosen)) entries.push([chosen, `${chosen} (not on this page)`]);
    select.replaceChildren(...entries.map(([value, text]) => viewParts.make("option", { value }, text)));
    select.value = chosen;
  },
  /** A button that takes a file as the trace. */
  file(app) {
    const input = viewParts.make("input", { type: "file", accept: ".n2t" });
    input.onchange = async () => {
      const [file] = input.files;
      if (!file) return;
      await app.takeFile(file);
      // The same file can be chosen again.
      input.value = "";
    };
    return viewParts.field("Own trace (.n2t; or drop it on the page)", input);
  },
  /** Makes a row of a table. */
  row(cells, tag = "td") {
    const cell = (value) =>
      viewParts.make(
        tag,
        { className: typeof value === "number" || /^-?[\d.,]+( %)?$/.test(value) ? "n" : "" },
        typeof value === "number" ? value.toLocaleString("en") : value,
      );
    return viewParts.make("tr", {}, ...cells.map(cell));
  },
  percent: (share) =>
    (100 * share).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) + "\u00a0%",
  hex: (value) => "0x" + value.toString(16),
  /** Draws a pattern on a canvas: causes and stages differ in more than color. */
  hatch(paint, x, y, width, height, kind) {
    if (kind === 0 || width < 2) return;
    paint.save();
    paint.beginPath();
    paint.rect(x, y, width, height);
    paint.clip();
    paint.beginPath();
    const slope = kind === 2 ? -1 : kind === 3 ? 0 : 1;
    for (let at = x - height; at < x + width + height; at += 6) {
      paint.moveTo(at, y + height);
      paint.lineTo(at + slope * height, y);
    }
    if (kind === 4) for (let at = y; at < y + height; at += 4) paint.rect(x, at, width, 0.5);
    paint.stroke();
    paint.restore();
  },
};

/** The view of counters. Each part asks by its button or when its fields change. */
class CountersView {
  constructor(root, app) {
    const { make, field, number } = viewParts;
    Object.assign(this, { app, asked: {}, number: 0, at: 1e9 });
    this.source = make("select", { onchange: () => app.change({ trace: this.source.value }) });
    this.sourceField = field("Trace", this.source);
    this.warmup = number(app, "Warm up (instructions)", "warmup", 0, 1e12);
    this.limit = number(app, "Count (instructions)", "limit", 1, 1e12);
    this.filter = make("input", { type: "search", oninput: () => this.fillCounts() });
    const list = make(
      "datalist",
      { id: "counter-events" },
      ...app.tables.events.map((event) => make("option", { value: event.name }, event.about)),
    );
    this.add = make("input", { className: "mono" });
    this.add.setAttribute("list", "counter-events");
    this.add.onchange = () => this.addEvent();
    this.addField = field("Add an event", this.add);
    this.counters = number(app, "Counters (2 to 31)", "counters", 2, 31);
    this.turn = number(app, "Turn (cycles)", "turn", 1, 1e9);
    this.interval = number(app, "Interval (operations, a multiple of 256)", "interval", 256, 16776960);
    this.fields = [this.warmup, this.limit, this.counters, this.turn, this.interval];
    this.events = make("p", { className: "fields" });
    // Refusals that belong to no field of this view, such as those of the machine.
    this.general = make("p", { className: "error message mono", role: "alert" });
    this.general.fail = (text) => {
      this.general.textContent = text;
    };
    this.refused = new Map();
    [this.totals, this.counts, this.turns, this.samples] = [0, 0, 0, 0].map(() =>
      make("div", { className: "scroll" }),
    );
    root.append(
      list,
      make("div", { className: "fields" }, this.sourceField, this.warmup, this.limit, viewParts.file(app)),
      this.general,
      make("h2", { textContent: "Rename slots" }),
      this.totals,
      make("h2", { textContent: "Counters that take turns" }),
      make("div", { className: "fields" }, this.counters, this.turn, this.addField),
      this.events,
      this.player(),
      this.turns,
      make("h2", { textContent: "Samples" }),
      make("div", { className: "fields" }, this.interval),
      this.samples,
      make("h2", { textContent: "Exact counts" }),
      make("div", { className: "fields" }, field("Filter by name or meaning", this.filter)),
      this.counts,
    );
  }

  player() {
    const { make, field } = viewParts;
    this.time = make("input", { type: "range", min: 0, max: 120, value: 120 });
    this.time.oninput = () => this.drawTurns(Number(this.time.value));
    this.play = make("button", { type: "button", onclick: () => this.toggle() }, "Play");
    return make("div", { className: "fields" }, this.play, field("Time", this.time));
  }

  toggle() {
    const stop = () => {
      clearInterval(this.timer);
      this.timer = null;
      this.play.textContent = "Play";
    };
    if (this.timer) return stop();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.drawTurns(1e9);
    if (Number(this.time.value) >= Number(this.time.max)) this.time.value = 0;
    this.play.textContent = "Pause";
    this.timer = setInterval(() => {
      this.time.value = Number(this.time.value) + 1;
      this.drawTurns(Number(this.time.value));
      if (Number(this.time.value) >= Number(this.time.max)) stop();
    }, 80);
  }

  addEvent() {
    const { app, add } = this;
    const name = add.value.trim().toUpperCase();
    if (name === "") return this.addField.fail("");
    if (!app.tables.events.some((event) => event.name === name)) {
      return this.addField.fail(`${name} is not an event of the guide; choose one from the list.`);
    }
    if (app.state.events.includes(name)) return this.addField.fail(`${name} is in the list already.`);
    this.addField.fail("");
    add.value = "";
    app.change({ events: [...app.state.events, name] });
  }

  async show() {
    const { app } = this;
    const { trace, warmup, limit, events, counters, turn, interval } = app.state;
    viewParts.traces(this.source, app);
    for (const field of this.fields) field.set();
    this.events.replaceChildren(
      ...events.map((name) =>
        viewParts.make(
          "button",
          {
            type: "button",
            className: "mono",
            title: `Remove ${name}`,
            onclick: () => app.change({ events: events.filter((other) => other !== name) }),
          },
          `${name} ×`,
        ),
      ),
    );
    const part = { warmup, limit, machine: app.choice };
    const number = ++this.number;
    try {
      await app.needTrace();
    } catch (error) {
      this.sourceField.fail(error.message);
      return app.say(error.message, true);
    }
    this.sourceField.fail("");
    const key = [trace, app.traceName, app.dropped];
    const ask = (request, take) => this.ask(number, key, request, take);
    await ask({ ask: "trace", ...part }, (answer) => {
      this.total = answer;
      this.fillTotals();
      this.fillCounts();
    });
    await ask({ ask: "turns", events, counters, turn, ...part }, (answer) => this.takeTurns(answer));
    await ask({ ask: "samples", interval, ...part }, (answer) => this.fillSamples(answer));
  }

  /** Asks unless this was the last question of its kind; drops the answer of an older request. */
  async ask(number, key, request, take) {
    const asked = JSON.stringify([key, request]);
    if (number !== this.number || this.asked[request.ask] === asked) return;
    this.app.say(`The model runs: ${request.ask}`);
    try {
      const answer = await this.app.model.ask(request);
      if (number !== this.number) return;
      this.asked[request.ask] = asked;
      this.refuse(request.ask, "");
      take(answer);
      this.app.say("Counted");
    } catch (error) {
      if (number !== this.number) return;
      this.asked[request.ask] = "";
      this.refuse(request.ask, error.message, error.field);
      this.app.say(error.message.split("\n")[0], true);
    }
  }

  /** Shows the refusal of a request at its field, or clears the last one of this request. */
  refuse(kind, text, name) {
    const { warmup, limit, counters, turn, interval } = this;
    const fields = {
      warmup,
      limit,
      counters,
      turn,
      interval,
      events: this.addField,
      trace: this.sourceField,
    };
    const last = this.refused.get(kind);
    this.refused.delete(kind);
    // Several requests may be refused for one reason, such as a damaged trace.
    if (last && ![...this.refused.values()].includes(last)) last.fail("");
    if (text === "") return;
    const field = fields[name] ?? this.general;
    this.refused.set(kind, field);
    field.fail(text);
  }

  fillTotals() {
    const { make, row, percent } = viewParts;
    const { slots, used, lost, threads, notes, counts } = this.total;
    const causes = new Map();
    for (const { cause, slots: n } of lost) causes.set(cause, (causes.get(cause) || 0) + n);
    const parts = [["used by operations", used], ...[...causes].sort((a, b) => b[1] - a[1])];
    // Neighbors differ in pattern and number, not in color alone; the table has both.
    const look = (place) => `slot-part slot-${place % 6}`;
    const bars = parts.map(([name, n], place) =>
      make(
        "span",
        { className: look(place), style: `flex: ${n}`, title: `${place + 1} ${name}: ${percent(n / slots)}` },
        ...(n > slots / 30 ? [make("b", { textContent: place + 1 })] : []),
      ),
    );
    const picture = make("div", { className: "slot-bar", role: "img" }, ...bars);
    picture.setAttribute("aria-label", "Rename slots by use; the table has the numbers");
    const key = (place) => {
      const box = make("span", {}, make("span", { className: `slot-key ${look(place)}` }), ` ${place + 1}`);
      box.firstChild.setAttribute("aria-hidden", "true");
      return box;
    };
    const cycles = counts.CPU_CYCLES || 0;
    this.totals.replaceChildren(
      picture,
      make("p", {
        textContent:
          `${slots.toLocaleString("en")} slots in ` +
          `${cycles.toLocaleString("en")} cycles, ${threads.length} thread${threads.length === 1 ? "" : "s"}; the bar has the order of the table. ${notes.join(" ")}`,
      }),
      make(
        "table",
        {},
        row(["No.", "Slots", "Count", "Share"], "th"),
        ...parts.map(([name, n], place) => row([key(place), name, n, percent(n / slots)])),
      ),
    );
  }

  fillCounts() {
    if (!this.total) return;
    const { make, row } = viewParts;
    const word = this.filter.value.trim().toLowerCase();
    const { threads, counts } = this.total;
    const shown = this.app.tables.events.filter((event) =>
      `${event.name} ${event.about}`.toLowerCase().includes(word),
    );
    const several = threads.length > 1 ? threads : [];
    this.counts.replaceChildren(
      make("p", {
        className: "dim",
        textContent: `${shown.length} of ${this.app.tables.events.length} events`,
      }),
      make(
        "table",
        {},
        row(["Event", "Count", ...several.map(([n]) => `Thread ${n}`), "Meaning"], "th"),
        ...shown.map((event) =>
          row([
            event.name,
            counts[event.name] || 0,
            ...several.map(([, own]) => own[event.name] || 0),
            event.about,
          ]),
        ),
      ),
    );
  }

  takeTurns(answer) {
    this.answer = answer;
    this.time.max = Math.max(0, answer.points.length - 1);
    this.time.value = this.time.max;
    this.drawTurns(answer.points.length - 1);
  }

  drawTurns(at) {
    if (!this.answer) return;
    const { make, row } = viewParts;
    const { points, events, rotations, cycles } = this.answer;
    const last = Math.min(at, points.length - 1);
    const now = points[last];
    if (!now) return;
    const never = events.filter((_, i) => now.running[i] === 0);
    const rounds = rotations / Math.max(1, events.length);
    const text =
      `${now.cycle.toLocaleString("en")} of ${cycles.toLocaleString("en")} cycles; ${rotations.toLocaleString("en")} rotations in the run. ` +
      (events.length > 0 && rounds < 10 && now.running.some((n) => n < now.cycle)
        ? "Each event had few turns: an estimate of so short a run may be far off. "
        : "") +
      (never.length ? `Never on a counter: ${never.join(", ")}.` : "");
    const error = (i) =>
      now.scaled[i] === null
        ? "no estimate"
        : now.exact[i] === 0
          ? now.scaled[i] === 0
            ? "0 %"
            : "not defined"
          : viewParts.percent(now.scaled[i] / now.exact[i] - 1);
    const lines = events.map((name, i) => {
      const line = row([name, "", "", now.exact[i], now.scaled[i] ?? "none", error(i)]);
      line.children[1].innerHTML = this.gantt(i, last, name);
      line.children[2].innerHTML = this.curve(i, last, name);
      return line;
    });
    this.turns.replaceChildren(
      make("p", { textContent: text }),
      make(
        "table",
        {},
        row(
          [
            "Event",
            "On a counter (filled), over cycles",
            "Exact (solid), estimate (dashed)",
            "Exact",
            "Estimate",
            "Error",
          ],
          "th",
        ),
        ...lines,
      ),
    );
  }

  /** Bars of the intervals in which an event was on a counter. */
  gantt(event, last, name) {
    const { points, cycles } = this.answer;
    let [before, ran] = [0, 0];
    const bars = points.slice(0, last + 1).map(({ cycle, running }) => {
      const part = Math.min(1, (running[event] - ran) / Math.max(1, cycle - before));
      const bar =
        part > 0
          ? `<rect x="${(200 * before) / cycles}" y="${20 - 16 * part}" width="${(200 * (cycle - before)) / cycles}" ` +
            `height="${16 * part}" fill="var(--c1)"/>`
          : "";
      [before, ran] = [cycle, running[event]];
      return bar;
    });
    return `<svg width="200" height="22" role="img" aria-label="${name}: cycles on a counter"><path d="M0 20.5H200" stroke="var(--line)"/>${bars.join("")}</svg>`;
  }

  /** Lines of the exact count and of the estimate. */
  curve(event, last, name) {
    const { points, cycles } = this.answer;
    const most = Math.max(
      1,
      ...points.map((point) => Math.max(point.exact[event], point.scaled[event] ?? 0)),
    );
    const line = (value) =>
      points
        .slice(0, last + 1)
        .filter((point) => value(point) !== null)
        .map(
          (point, i) =>
            `${i ? "L" : "M"}${((200 * point.cycle) / cycles).toFixed(1)} ${(38 - (34 * value(point)) / most).toFixed(1)}`,
        )
        .join("");
    return (
      `<svg width="200" height="40" role="img" aria-label="${name}: exact and estimated count over ${cycles} cycles, to ${most}">` +
      `<path d="M0 38.5H200" stroke="var(--line)"/><path fill="none" stroke="var(--c1)" stroke-width="2" d="${line((p) => p.exact[event])}"/>` +
      `<path fill="none" stroke="var(--c2)" stroke-width="2" stroke-dasharray="5 3" d="${line((p) => p.scaled[event])}"/></svg>`
    );
  }

  fillSamples({ operations, written, collided, squashed, rows }) {
    const { make, row, percent, hex } = viewParts;
    const count = (n) => n.toLocaleString("en");
    const mean = (sum, n) =>
      n === 0 ? "none" : (sum / n).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    const share = (row) => [row.operations / Math.max(1, operations), row.sampled / Math.max(1, written)];
    const biased = rows.filter((row) => {
      const [all, sampled] = share(row);
      // Of random samples, the number varies by its square root: three of them are no chance.
      const due = all * written;
      const isChance = Math.abs(row.sampled - due) <= 3 * Math.sqrt(Math.max(1, due));
      return all > 0.01 && !isChance && (sampled > 2 * all || sampled < all / 2);
    });
    const bias =
      biased.length === 0
        ? ""
        : ` Bias: ${biased.map((row) => hex(row.pc)).join(", ")} ` +
          "differ by more than a factor of two; the interval may resonate with a loop. Try another interval.";
    this.samples.replaceChildren(
      make("p", {
        textContent:
          `${count(operations)} operations; samples: ${count(written)} written, ` +
          `${count(collided)} collided, ${count(squashed)} squashed.${bias}`,
      }),
      make(
        "table",
        {},
        row(
          ["pc", "Operations", "Share", "Samples", "Share", "Mean cycles, all", "Mean cycles, samples", ""],
          "th",
        ),
        ...rows.map((line) =>
          row([
            hex(line.pc),
            line.operations,
            percent(share(line)[0]),
            line.sampled,
            percent(share(line)[1]),
            mean(line.cycles, line.operations),
            mean(line.sampled_cycles, line.sampled),
            biased.includes(line) ? "biased" : "",
          ]),
        ),
      ),
    );
  }
}

views.push({
  id: "counters",
  title: "Counters",
  mount(root, app) {
    this.view = new CountersView(root, app);
  },
  show() {
    return this.view.show();
  },
});
