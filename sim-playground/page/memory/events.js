// The view "Memory": latencies between reports, and events that tick.

// --- Hops -----------------------------------------------------------------------------------------

/** Times between consecutive reports of one step: name, first cycle, last cycle. */
function hopsOf(index) {
  const step = my.answer.steps[index];
  const ends = step.ops.map((op) => Math.max(op.complete, op.written));
  const end = ends.length ? Math.max(...ends) : step.end;
  const names = new Map([[step.begin, step.ops.length ? "fetch, decode" : "request"]]);
  const source = (step.ops.find((op) => SUPPLIERS[op.source]) || { source: "DRAM" }).source;
  for (const entry of my.entries) {
    if (entry.step !== index || entry.clock || entry.cycle < step.begin) continue;
    if (entry.begins === "bus, mesh, ") {
      // After the line has come, a write of the bus sends a victim out: the access does not wait.
      const came = [...names.values()].includes("line to the L1");
      if (!came) names.set(entry.cycle, entry.begins + source);
    } else if (entry.begins) names.set(entry.cycle, entry.begins);
    else if (entry.edge !== undefined && entry.word === "hit" && /^l1[di]$/.test(entry.box)) {
      names.set(
        entry.cycle,
        entry.box === "l1d" ? "L1D hit, or line in flight" : "L1I hit, or line in flight",
      );
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
    const parts = hops.map((hop, k) => {
      const width = Math.max(hop.to - hop.from, total(hops) / 40);
      return h(
        "span",
        {
          class: "mem-hop k" + (k % 6),
          title: `${hop.name}: cycle ${hop.from} to ` + hop.to,
          style: `flex:${width}`,
        },
        // A narrower part has no room for its number.
        width / longest > 0.02 ? String(k + 1) : "",
      );
    });
    const bar = h("span", { class: "mem-bar", style: `width:${(100 * total(hops)) / longest}%` }, ...parts);
    const first = my.points.findIndex((point) => point.cycle >= my.answer.steps[i].begin);
    const name = `${i + 1}  ${my.answer.steps[i].after || i === 0 ? "" : "& "}${my.answer.steps[i].text}`;
    return h(
      "button",
      { type: "button", class: "mem-step", onclick: () => go(first < 0 ? 0 : first) },
      h("code", {}, name),
      h("span", { class: "mem-track" }, bar),
      h("span", { class: "mem-total" }, number(total(hops))),
    );
  });
  my.el.hops.replaceChildren(...my.rows);
  my.el.hopsTitle.textContent = "Latency of each step, in cycles";
}

function markHops({ step, cycle, now }) {
  my.el.hops.hidden = my.el.hopList.hidden = my.el.hopsTitle.hidden = closed();
  const key = `${step} ${cycle} ${now.length}`;
  if (my.drawn.hops === key) return;
  my.drawn.hops = key;
  my.rows.forEach((row, i) => {
    if (row.getAttribute("aria-current") !== String(i === step))
      row.setAttribute("aria-current", String(i === step));
  });
  const row = my.rows[step];
  const list = my.el.hops;
  if (
    row.offsetTop < list.scrollTop ||
    row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight
  ) {
    list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }
  my.el.hopList.replaceChildren(
    ...my.hops[step].map((hop, k) => {
      const is = cycle >= hop.from && cycle < hop.to;
      return h(
        "li",
        { class: is ? "now" : "" },
        h("span", { class: "mem-hop k" + (k % 6) }, String(k + 1)),
        ` ${is ? "▶ " : ""}${hop.name}: ${number(hop.from)} → ${number(hop.to)}, `,
        h("b", {}, number(hop.to - hop.from)),
      );
    }),
  );
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
    const row = h(
      "tr",
      { hidden: true, class: "" },
      added,
      count,
      h(
        "td",
        {},
        h("code", { title: "event " + hex(code) }, entry.event),
        h("br"),
        h("small", { class: "dim" }, title),
      ),
    );
    my.events.set(entry.event, { row, count, added, clock: entry.clock, total: 0, plus: 0 });
  }
  my.el.events.replaceChildren(...[...my.events.values()].map((event) => event.row));
  const sums = Object.entries(my.answer.counts).filter(
    ([name]) => !my.events.has(name) && !CLOCKS.test(name),
  );
  my.sums = sums.map(([name, n]) => `${name} ${number(n)}`).join(", ");
}

function drawEvents({ at }) {
  const isClosed = closed();
  my.el.eventTable.hidden = isClosed;
  const reason = my.app.book.hides
    ? "Counts are hidden until the questions of the lesson are answered."
    : "Counts are hidden until you guess.";
  put(my.el.sums, isClosed ? reason : my.sums && `Sums, at the end: ${my.sums}`);
  const { from, to } = my.points[at];
  for (const event of my.events.values()) event.total = event.plus = 0;
  for (let i = 0; i < to; i++) {
    const { event: name, n } = my.entries[i];
    if (!name) continue;
    // Reads and writes of the bus are parts of BUS_ACCESS; other transfers are reported as BUS_ACCESS.
    const names = /^BUS_ACCESS_(RD|WR)$/.test(name) ? [name, "BUS_ACCESS"] : [name];
    for (const event of names.map((one) => my.events.get(one)).filter(Boolean)) {
      event.total += n;
      if (i >= from) event.plus += n;
    }
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
