// The view "Memory": content of caches and TLBs at a point in time.

// --- Contents of caches and TLBs ------------------------------------------------------------------

/** Cycle at which a group first needs a line that the cache does not have. */
function missCycle(group, cache) {
  const found = my.entries.find(
    (entry) =>
      entry.step >= group.first &&
      entry.step <= group.last &&
      entry.box === cache &&
      entry.edge !== undefined &&
      entry.word === "miss",
  );
  return found ? found.cycle : my.answer.steps[group.first].begin;
}

/** Cycle of the first report of a cache in a group: changes without a refill show from here. */
function useCycle(group, cache) {
  const found = my.entries.find(
    (entry) =>
      entry.step >= group.first &&
      entry.step <= group.last &&
      entry.box === cache &&
      entry.event !== undefined,
  );
  return found ? found.cycle : my.answer.steps[group.last].end;
}

/** Line of a way at a cycle: the last one before the group that has arrived. */
function heldAt(group, cache, number_, way, cycle) {
  for (let at = my.groups.indexOf(group); at >= 0; at--) {
    const set = my.groups[at].before[cache].get(number_);
    const line = set ? set.ways[way] : null;
    if (!line || line.ready <= cycle) return line;
  }
  return null;
}

/** Ways of a set at a cycle: the contents before, until the line of the refill is ready. */
function waysAt(group, cache, number_, cycle) {
  const old = group.before[cache].get(number_);
  const next = group.after[cache].get(number_) || old;
  const used = cycle >= useCycle(group, cache);
  const missed = cycle >= missCycle(group, cache);
  const ways = next.ways.map((way, i) => {
    const last = old ? old.ways[i] : null;
    const before = heldAt(group, cache, number_, i, cycle);
    const same = way && last && way.addr === last.addr && way.ready === last.ready;
    // A line of a step before may still be on its way.
    if (same && way.ready > cycle) return { line: before, coming: way };
    if (same || !way) return { line: used ? way : before };
    if (way.ready <= cycle) return { line: way, fresh: way.ready === cycle };
    return { line: before, coming: missed ? way : null };
  });
  const arrived = ways.every((way, i) => !next.ways[i] || next.ways[i].ready <= cycle) && used;
  return { ways, victim: arrived || !old ? next.victim : old.victim };
}

function cell({ line, fresh, coming }, victim) {
  const letters = line
    ? [line.dirty && "D", line.shared && "S", line.prefetched && "P"].filter(Boolean).join(" ")
    : "";
  const parts = [h("code", {}, line ? hex(line.addr) : "empty")];
  if (letters) parts.push(" ", h("b", {}, letters));
  if (fresh) parts.push(" ", h("b", {}, "▶ new"));
  if (line)
    parts.push(h("br"), h("small", { class: "dim" }, line.source === "L1" ? "warm" : "from " + line.source));
  if (coming) parts.push(h("br"), h("small", {}, `↓ ${hex(coming.addr)} until ${hidden(coming.ready)}`));
  if (victim) parts.push(h("br"), h("small", {}, "▾ next victim"));
  return h(
    "td",
    { class: `${fresh ? "fresh" : ""} ${coming ? "coming" : ""} ${line ? "" : "empty"}` },
    ...parts,
  );
}

function cacheTable(group, cache, title, cycle) {
  const touched = [...group.after[cache].keys()];
  const changed = touched.filter((set) => group.after[cache].get(set) !== group.before[cache].get(set));
  const filled = touched.filter(
    (set) => !changed.includes(set) && group.after[cache].get(set).ways.some(Boolean),
  );
  const rows = [...changed, ...filled.reverse()].slice(0, 8).sort((a, b) => a - b);
  if (rows.length === 0) return null;
  const count = group.after[cache].get(rows[0]).ways.length;
  const body = rows.map((set) => {
    const { ways, victim } = waysAt(group, cache, set, cycle);
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "n" }, String(set)),
      ...ways.map((way, i) => cell(way, i === victim)),
    );
  });
  const more = changed.length + filled.length - rows.length;
  return h(
    "div",
    { class: "mem-cache" },
    h("h3", {}, title),
    h(
      "div",
      { class: "scroll", tabindex: "0" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { class: "n" }, "set"),
            ...Array.from({ length: count }, (_, i) => h("th", {}, "way " + i)),
          ),
        ),
        h("tbody", {}, ...body),
      ),
    ),
    more > 0 ? h("p", { class: "dim" }, `and ${more} more sets`) : "",
  );
}

/** TLB entries at a cycle: new ones once they are ready. */
function pageList(group, tlb, title, cycle) {
  const old = new Set(group.before[tlb].map((page) => `${page.page} ${page.ready}`));
  const begin = my.answer.steps[group.first].begin;
  const pages = group.after[tlb].filter((page) => old.has(`${page.page} ${page.ready}`) || cycle >= begin);
  const items = pages.map((page) => {
    const waits = page.ready > cycle;
    return h(
      "li",
      { class: waits ? "coming" : "" },
      h("code", {}, hex(page.page)),
      waits
        ? ` ↓ until ${hidden(page.ready)}`
        : page.ready === cycle && cycle > 0
          ? " ▶ new"
          : ` age ${page.age}`,
    );
  });
  return items.length
    ? h(
        "div",
        {},
        h("h3", {}, title),
        h("ul", {}, ...items.slice(0, 24)),
        items.length > 24 ? h("p", { class: "dim" }, `and ${items.length - 24} more`) : "",
      )
    : null;
}

function lineList(title, texts) {
  return texts.length
    ? h(
        "div",
        {},
        h("h3", {}, title),
        h(
          "ul",
          {},
          ...texts.slice(0, 16).map((text) => h("li", {}, h("code", {}, text))),
          ...(texts.length > 16 ? [h("li", {}, `and ${texts.length - 16} more`)] : []),
        ),
      )
    : null;
}

/** Latest group that has begun: a step joined by & begins before the accesses of others are complete. */
function begunGroup(at) {
  const begun = my.entries.slice(0, my.points[at].to).filter((entry) => !entry.clock);
  return groupOf(begun.reduce((step, entry) => Math.max(step, entry.step), 0));
}

function drawContents({ at, cycle }) {
  const group = begunGroup(at);
  const done = cycle >= missCycle(group, "l2") ? group.after : group.before;
  const parts = [
    cacheTable(group, "l1d", "L1D cache", cycle),
    cacheTable(group, "l1i", "L1I cache", cycle),
    cacheTable(group, "l2", "L2 cache", cycle),
    h(
      "div",
      { class: "mem-lists" },
      ...[
        pageList(group, "l1d_tlb", "L1D TLB", cycle),
        pageList(group, "l1i_tlb", "L1I TLB", cycle),
        pageList(group, "l2_tlb", "L2 TLB", cycle),
        lineList(
          "System level cache",
          done.slc.map(([line, dirty]) => hex(line) + (dirty ? " D" : "")),
        ),
        lineList("Lines of other cores", done.others.map(hex)),
      ].filter(Boolean),
    ),
  ].filter(Boolean);
  my.el.contents.replaceChildren(...parts);
}
