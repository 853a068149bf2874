// The view "Memory": an access on its way through the picture.

// --- Picture --------------------------------------------------------------------------------------

/** Makes the picture; `tall` for a phone: levels go down instead of right. */
function picture(tall) {
  const size = tall
    ? { level: 80, slot: 92, w: 84, h: 58, gapLevel: 22, gapSlot: 8 }
    : { level: 112, slot: 76, w: 92, h: 62, gapLevel: 20, gapSlot: 14 };
  const box = ([, level, slot, slots]) => {
    const along = tall ? slots * size.slot - size.gapSlot : slots * size.slot - size.gapSlot;
    return tall
      ? { x: 4 + slot * size.slot, y: 4 + level * size.level, w: along, h: size.h }
      : { x: 4 + level * size.level, y: 4 + slot * size.slot, w: size.w, h: along };
  };
  const root = s("svg", {
    viewBox: tall ? "0 0 370 470" : "0 0 658 302",
    role: "img",
    class: "mem-picture",
    "aria-label": "Core, TLBs, caches, bus, mesh and memory; the parts in use are marked",
  });
  root.append(
    s(
      "defs",
      {},
      ...["now", "past"].map((kind) =>
        s(
          "marker",
          {
            id: "mem-arrow-" + kind,
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: kind === "now" ? 3.2 : 4,
            markerHeight: kind === "now" ? 3.2 : 4,
            orient: "auto-start-reverse",
          },
          s("path", { d: "M0 0L8 4L0 8z", class: "mem-arrow " + kind }),
        ),
      ),
    ),
  );
  my.links = {};
  for (const link of LINKS) {
    const [a, b] = link.split("-").map((id) => ({ ...box(NODES[id]), slots: NODES[id][3] }));
    const small = a.slots < b.slots ? a : b;
    const points = tall
      ? [small.x + small.w / 2, a.y + a.h + 1, small.x + small.w / 2, b.y - 1]
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
    const g = s(
      "g",
      { class: "mem-node" },
      s("rect", { x, y, width: w, height, rx: 6 }),
      ...node[0].map((line, i) => text(3 + i * 15, line, "mem-name")),
      word,
    );
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
  const texts = now
    .filter((entry) => entry.edge !== undefined)
    .map((entry) => {
      const { flow, from, to, label } = edges[entry.edge];
      return `${flows[flow].section} ${from}: ${label} → ${to}`;
    });
  if (texts.length === 0) {
    const words = now
      .filter((entry) => entry.word)
      .map((entry) => `${NODES[entry.box][0].join(" ")} ${entry.word}`);
    texts.push(...new Set(words));
  }
  if (texts.length === 0)
    texts.push(cycle === steps[step].begin ? "the step begins" : "clocks and stalls are counted");
  const about = steps[step].wrong ? " (wrong path: squashed)" : "";
  put(my.el.happening, `Step ${step + 1}, ${steps[step].text}${about}: ${texts.join("; ")}`);
}
