// The view "Memory": flow charts of the guide.

// --- Flow charts ----------------------------------------------------------------------------------

/** Boxes and edges of a flow that are drawn: from its first box, and from entries that the case uses. */
function flowGraph(flow) {
  const { flows, edges } = my.app.tables;
  const all = flows[flow].boxes;
  const links = edges.map((edge, i) => ({ ...edge, id: i })).filter((edge) => edge.flow === flow);
  const named = (name) => all.some((box) => box.name === name);
  for (const [from, to] of IMPLIED) {
    const open = named(from) && named(to) && !links.some((link) => link.from === from);
    if (open) links.push({ from, to, label: "", id: -1 });
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
    if (i === 0 || (entry(box) && taken)) reach(box.name);
  });
  return {
    boxes: all.filter((box) => keep.has(box.name)),
    links: links.filter((link) => keep.has(link.from)),
  };
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
    const path = long
      ? `M${a.x + 160} ${a.y + 20}H${lane}V${b.y + 20}H${b.x + 163}`
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
      g.append(
        s("circle", { cx: x + 15, cy: y + 20, r: 10, class: "mem-disc" }),
        s("text", { x: x + 15, y: y + 24.5, class: "mem-disc-text" }, String(box.step)),
      );
    }
    const middle = x + (box.step ? 92 : 80);
    const words =
      box.name.length > 21
        ? [
            box.name.slice(0, box.name.lastIndexOf(" ", 20)),
            box.name.slice(box.name.lastIndexOf(" ", 20) + 1),
          ]
        : [box.name];
    words.forEach((text, i) =>
      g.append(
        s("text", { x: middle, y: y + (words.length === 1 ? 24 : 17 + i * 14), class: "mem-name" }, text),
      ),
    );
    g.append(s("title", {}, box.events.length ? "counts " + box.events.join(", ") : "counts nothing"));
    return { box, g };
  });
  const svg = s(
    "svg",
    {
      viewBox: `0 0 ${lanesFrom + lanes * 16} ${height}`,
      class: "mem-flow",
      role: "img",
      "aria-label": `Flow ${my.app.tables.flows[flow].section}: ${my.app.tables.flows[flow].title}`,
    },
    ...drawn.map((one) => one.line),
    ...boxes.map((one) => one.g),
    ...drawn.map((one) => one.label),
  );
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
  const mark = (name, is) => {
    if (is === "now" || !seen.has(name)) seen.set(name, is);
  };
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
    const times = one && one.times > 1 && !closed() ? ` ×${one.times}` : "";
    put(label, (one && one.now ? "▶ " : "") + link.label + times);
  }
  for (const { box, g } of chart.boxes) classes(g, "mem-node " + (seen.get(box.name) || ""));
}

function drawFlow({ at }) {
  const current = my.entries.slice(0, my.points[at].to).findLast((entry) => entry.edge !== undefined);
  if (current && my.drawn.at !== at) my.flow = my.app.tables.edges[current.edge].flow;
  my.drawn.at = at;
  if (my.drawn.flow !== my.flow) {
    my.drawn.flow = my.flow;
    const used = new Set(
      my.entries
        .filter((entry) => entry.edge !== undefined)
        .map((entry) => my.app.tables.edges[entry.edge].flow),
    );
    [...my.el.flowTabs.children].forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === my.flow));
      tab.tabIndex = i === my.flow ? 0 : -1;
      put(tab, my.app.tables.flows[i].section + (used.has(i) ? " ●" : ""));
    });
    put(
      my.el.flowTitle,
      `Flow ${my.app.tables.flows[my.flow].section} of the guide: ${my.app.tables.flows[my.flow].title}`,
    );
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
  const tabs = my.app.tables.flows.map((flow, i) =>
    h("button", { type: "button", role: "tab", title: flow.title, onclick: () => choose(i) }, flow.section),
  );
  el.flowTabs = h(
    "div",
    { role: "tablist", class: "mem-tabs", "aria-label": "Flows of the guide; ● is in use" },
    ...tabs,
  );
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
