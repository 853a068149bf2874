
// Cards of events, targets inside closed parts, and the numbers of an interval of time.

// Opens the card of an event at its links; without this the link shows it as the target of the page.
document.addEventListener("click", (click) => {
  const link = click.target.closest?.('a[href^="#event-"]');
  const card = link && document.getElementById(link.getAttribute("href").slice(1));
  if (!card?.showPopover || !card.popover || click.ctrlKey || click.metaKey) return;
  click.preventDefault();
  if (card.matches(":popover-open")) return;
  card.showPopover({ source: link });
});

// Opens the parts of the page that contain the target of a link, and shows it in its box.
function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target.tagName === "TR") target.hidden = false;
  target.scrollIntoView({ block: target.tagName === "TR" ? "center" : "start" });
}
window.addEventListener("hashchange", reveal);
document.addEventListener("click", (click) => {
  const link = click.target.closest?.('a[href^="#"]');
  if (link && link.getAttribute("href") === location.hash) reveal();
});
reveal();

const grouped = (number) => Math.round(number).toLocaleString("en-US");
const percentOf = (part, whole) => (whole > 0 ? (part * 100) / whole : 0);

// The same positions as in the drawing that the page comes with, for other numbers.
function drawPipe(svg, slotsOf) {
  const [height, gap, bar, line, top, least] = [300, 6, 16, 17, 12, 1];
  const columns = svg.dataset.columns.split(" ").map(Number);
  const labels = svg.dataset.labels.split(" ").map((has) => has === "1");
  const [branches, texts] = ["branch", "label"].map((name) => [...svg.querySelectorAll(`g.${name}`)]);
  const slots = branches.map((branch) => slotsOf(branch.dataset.causes.split(" ")));
  const all = Math.max(slots[0], 1);
  const next = columns.map(() => top);
  const lastLabel = columns.map(() => -Infinity);
  const used = [];
  let lowest = 0;
  branches.forEach((branch, at) => {
    const [title, band, rect] = branch.children;
    const [lead, text] = texts[at].children;
    const column = Number(branch.dataset.column);
    const [y, own] = [next[column], (slots[at] / all) * height];
    const [name, share] = [branch.dataset.name, percentOf(slots[at], all)];
    const isShown = slots[at] > 0;
    const hasLabel = isShown && labels[column] && name && share >= least;
    used.push(y);
    title.textContent = `${name}: ${grouped(slots[at])} slots, ${share.toFixed(2)}%`;
    for (const part of [band, rect]) part.toggleAttribute("display", false);
    if (!isShown) for (const part of [band, rect]) part.setAttribute("display", "none");
    texts[at].setAttribute("display", hasLabel ? "inline" : "none");
    if (!isShown) return;
    next[column] += own + gap;
    rect.setAttribute("y", y);
    rect.setAttribute("height", Math.max(own, 0.5));
    if (at > 0) {
      const start = used[branch.dataset.from];
      used[branch.dataset.from] += own;
      const [from, to] = [columns[Math.max(column - 1, 0)] + bar, columns[column]];
      const middle = (from + to) / 2;
      band.setAttribute("d", `M${from} ${start}C${middle} ${start} ${middle} ${y} ${to} ${y}V${y + own}` +
        `C${middle} ${y + own} ${middle} ${start + own} ${from} ${start + own}Z`);
    }
    lowest = Math.max(lowest, y + own);
    if (!hasLabel) return;
    const place = Math.max(y + own / 2, lastLabel[column] + line);
    lastLabel[column] = place;
    lowest = Math.max(lowest, place + 4);
    const left = columns[column] + bar;
    lead.setAttribute("d", `M${left} ${y + own / 2}L${left + 7} ${place}`);
    text.setAttribute("y", place + 4);
    text.textContent = `${name} ${share.toFixed(1)}%`;
  });
  const box = svg.viewBox.baseVal;
  svg.setAttribute("viewBox", `0 0 ${box.width} ${Math.ceil(lowest) + 6}`);
}

// Replaces texts and exact values, and remembers those of the whole run.
const whole = new Map();
function put(cell, text, exact) {
  if (!whole.has(cell)) whole.set(cell, [cell.innerHTML, cell.dataset.value]);
  cell.textContent = text;
  if (exact === undefined) delete cell.dataset.value;
  else cell.dataset.value = exact;
}
function restore() {
  for (const [cell, [html, exact]] of whole) {
    cell.innerHTML = html;
    if (exact === undefined) delete cell.dataset.value;
    else cell.dataset.value = exact;
    cell.classList.remove("now");
  }
  whole.clear();
}

// Reads the quantities of a row for an interval.
function liveTable(table, sums) {
  const heads = [...table.tHead.rows[0].cells];
  if (!heads.some((head) => head.dataset.live)) return;
  const isFunctions = table.id === "functions";
  const code = isFunctions ? sums.functions : sums.code;
  const isCode = heads.some((head) => head.dataset.live === "slots");
  if (isCode && sums.code.size === 0) return;
  for (const row of table.tBodies[0].rows) {
    const key = row.cells[0].dataset.value;
    const pair = isCode ? [] : (row.cells[row.cells.length - 1].dataset.value ?? "").split(" of ");
    const [misses, accesses] = pair.map((name) => sums.events.get(name) ?? 0);
    const instructions = sums.events.get(sums.instructions) ?? 0;
    const number = (value, shown) => (value === undefined ? ["–"] : [shown(value), value]);
    const ratio = (value, isDefined, shown) => (isDefined ? [shown(value), value] : ["–"]);
    const quantities = {
      event: () => number(sums.events.get(key) ?? (row.cells[1].dataset.value === "0" ? 0 : undefined), grouped),
      slots: () => number(code.get(key), grouped),
      share: () => number(code.has(key) ? code.get(key) / sums.all : undefined, (n) => `${(n * 100).toFixed(2)}%`),
      accesses: () => number(accesses, grouped),
      misses: () => number(misses, grouped),
      "miss-ratio": () => ratio(misses / accesses, accesses > 0, (n) => `${(n * 100).toFixed(2)}%`),
      mpki: () => ratio((misses * 1000) / instructions, instructions > 0, (n) => n.toFixed(3)),
    };
    heads.forEach((head, at) => {
      const cell = row.cells[at];
      const known = quantities[head.dataset.live];
      // A ratio without a meaning in the whole run has none here.
      const isEmpty = !cell.dataset.value && !whole.has(cell);
      if (!known || (head.dataset.live === "miss-ratio" && isEmpty)) return;
      put(cell, ...known());
      cell.classList.add("now");
    });
  }
}

function interval(data) {
  const count = data.ends.length;
  const lists = Object.fromEntries(["slots", "events", "code", "functions"].map((name) => [name, data[name]]));
  const summed = (list, from, to) => new Map(list.map(([name, values]) => {
    let sum = 0;
    for (let at = from; at <= to && at < values.length; at++) sum += values[at];
    return [name, sum];
  }));
  const tools = document.getElementById("interval-tools");
  const figures = [...document.querySelectorAll("figure.time")];
  const start = (at) => (at === 0 ? 0 : data.ends[at - 1]);
  let range = null;
  // Source lines have no numbers of intervals; on some cores no code has.
  const wholeCode = data.code.length ? "#lines th" : "th:is([data-live=slots], [data-live=share])";
  document.querySelectorAll(wholeCode).forEach((head) => head.removeAttribute("data-live"));

  const slider = (text) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "range", min: 1, max: count, step: 1 });
    label.append(text, input);
    tools.append(label);
    return input;
  };
  const [first, last] = [slider("From interval "), slider("To interval ")];
  [first.id, last.id] = ["interval-from", "interval-to"];
  const clear = document.createElement("button");
  clear.type = "button";
  clear.textContent = "Whole run";
  const said = document.createElement("output");
  said.id = "interval-said";
  tools.append(clear, said);

  function show(from, to) {
    range = from === 0 && to === count - 1 ? null : [from, to];
    first.value = from + 1;
    last.value = to + 1;
    const text = (at) => `interval ${at + 1} of ${count}`;
    first.setAttribute("aria-valuetext", text(from));
    last.setAttribute("aria-valuetext", text(to));
    document.body.classList.toggle("of-interval", range !== null);
    for (const figure of figures) {
      const end = Number(figure.dataset.end);
      figure.querySelectorAll(".panel-plot").forEach((plot) => {
        plot.querySelector(".chosen")?.remove();
        if (!range || plot.parentElement.classList.contains("axis")) return;
        const mark = document.createElement("div");
        mark.className = "chosen";
        const left = Math.min(start(from) / end, 1);
        mark.style.left = `${left * 100}%`;
        mark.style.width = `${(Math.min(data.ends[to] / end, 1) - left) * 100}%`;
        plot.append(mark);
      });
    }
    said.textContent = range
      ? `Cycles ${grouped(start(from))} to ${grouped(data.ends[to])}: slots, events, caches and TLBs` +
        `${data.code.length ? ", hot functions and instructions" : ""} show this interval alone.`
      : "The whole run is shown.";
    numbers(from, to);
  }

  function numbers(from, to) {
    restore();
    const sums = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, summed(list, from, to)]));
    sums.instructions = data.instructions;
    sums.all = [...sums.slots.values()].reduce((sum, n) => sum + n, 0);
    const slotsOf = (causes) => causes.reduce((sum, cause) => sum + (sums.slots.get(cause) ?? 0), 0);
    document.querySelectorAll("svg.pipe").forEach((svg) => drawPipe(svg, slotsOf));
    if (!range) return;
    const within = (id) => {
      let [sum, isKnown] = [0, false];
      for (const [cause, slots] of sums.slots) {
        if (cause !== id && !cause.startsWith(`${id}.`)) continue;
        [sum, isKnown] = [sum + slots, true];
      }
      return isKnown ? sum : undefined;
    };
    put(document.querySelector(".pipe-total"), grouped(sums.all));
    document.querySelectorAll(".pipe-share").forEach((share) => {
      put(share, `${percentOf(within(share.dataset.node) ?? 0, sums.all).toFixed(1)}%`);
    });
    document.querySelectorAll(".tree [data-slots]").forEach((node) => {
      const line = node.tagName === "DETAILS" ? node.firstElementChild : node;
      const slots = within(node.id.replaceAll("-", "."));
      const share = percentOf(slots ?? 0, sums.all);
      put(line.querySelector(".share"), slots === undefined ? "–" : `${share.toFixed(2)}%`);
      put(line.querySelector(".slots"), slots === undefined ? "–" : grouped(slots));
      const bar = line.querySelector(".bar");
      const color = bar.firstElementChild.style.background;
      put(bar, "");
      const filled = document.createElement("span");
      Object.assign(filled.style, { width: `${share}%`, background: color });
      bar.append(filled);
    });
    document.querySelectorAll("table[id]").forEach((table) => liveTable(table, sums));
  }

  // Returns the interval under the pointer.
  const under = (plot, x) => {
    const box = plot.getBoundingClientRect();
    const end = Number(plot.closest("figure").dataset.end);
    const cycle = Math.min(Math.max((x - box.left) / box.width, 0), 1) * end;
    const at = data.ends.findIndex((each) => cycle < each);
    return at < 0 ? count - 1 : at;
  };
  const ordered = (a, b) => show(Math.min(a, b), Math.max(a, b));
  for (const input of [first, last]) {
    input.addEventListener("input", () => {
      const [from, to] = [Number(first.value) - 1, Number(last.value) - 1];
      if (from <= to) show(from, to);
      else if (input === first) show(from, from);
      else show(to, to);
    });
  }
  clear.addEventListener("click", () => show(0, count - 1));
  for (const figure of figures) {
    const rows = figure.querySelector("table").tBodies[0].rows;
    const outputs = [...figure.querySelectorAll("[data-series] output")];
    const columns = outputs.map((output) => Number(output.closest("[data-series]").dataset.series));
    let from = null;
    figure.querySelectorAll(".panel:not(.axis) .panel-plot").forEach((plot) => {
      plot.addEventListener("pointerdown", (down) => {
        if (down.button !== 0) return;
        from = under(plot, down.clientX);
        plot.setPointerCapture(down.pointerId);
        down.preventDefault();
      });
      plot.addEventListener("pointermove", (move) => {
        const at = under(plot, move.clientX);
        if (from !== null && at !== from) ordered(from, at);
        figure.style.setProperty("--at", `${percentOf(start(at) + data.ends[at], 2 * Number(figure.dataset.end))}%`);
        figure.classList.add("is-under");
        outputs.forEach((output, number) => {
          output.textContent = rows[at]?.cells[columns[number]]?.textContent ?? "";
        });
      });
      plot.addEventListener("pointerup", (up) => {
        if (from !== null) ordered(from, under(plot, up.clientX));
        from = null;
      });
      plot.addEventListener("pointerleave", () => {
        figure.classList.remove("is-under");
        outputs.forEach((output) => (output.textContent = ""));
      });
    });
  }
  show(0, count - 1);
}

const intervalData = document.getElementById("interval-data");
if (intervalData) {
  const data = JSON.parse(intervalData.textContent);
  if (data.ends.length > 1) interval(data);
}
