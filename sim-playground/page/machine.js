// The panel of the Machine button: profile, machine, and every key of the configuration. The model
// judges each value before it comes into force.

(() => {
  const PROFILES = [
    ["guide", "guide: counts as the PMU guide describes them"],
    ["silicon", "silicon: as published counts of an N2 contradict the guide"],
  ];
  const MACHINES = [
    ["", "as the profile has it"],
    ["generic", "generic"],
    ["cobalt-100", "Cobalt 100"],
    ["yitian-710", "Yitian 710"],
  ];

  /** Keys that most readers look for, with a name. */
  const COMMON = [
    ["memory.l1d.size-bytes", "L1D size in bytes"],
    ["memory.l1d.ways", "L1D ways"],
    ["memory.l1d.replacement", "L1D replacement"],
    ["memory.l1i.size-bytes", "L1I size in bytes"],
    ["memory.l1i.ways", "L1I ways"],
    ["memory.l1i.replacement", "L1I replacement"],
    ["memory.l2.size-bytes", "L2 size in bytes"],
    ["memory.l2.ways", "L2 ways"],
    ["memory.l2.replacement", "L2 replacement"],
    ["memory.dtlb.entries", "L1D TLB entries"],
    ["memory.itlb.entries", "L1I TLB entries"],
    ["memory.l2-tlb.entries", "L2 TLB entries"],
    ["memory.dram.access-cycles", "DRAM latency in cycles"],
    ["memory.slc.slices", "SLC slices"],
    ["memory.slc.slice-bytes", "SLC slice size in bytes"],
    ["memory.walker.level-cycles", "walk: cycles of a level"],
    ["memory.walker.read-cycles", "walk: cycles of a read"],
    ["memory.pages.page-bytes", "page size in bytes"],
    ["memory.prefetch.l1d", "L1D prefetcher"],
    ["memory.prefetch.l2-stream", "L2 stream prefetcher"],
    ["memory.prefetch.stores", "prefetch for stores"],
    ["memory.prefetch.l1i-next-line", "L1I next-line prefetcher"],
    ["pipeline.branch.direction", "branch direction"],
    ["pipeline.window.rob", "reorder buffer entries"],
  ];

  const REPLACEMENT = ["tree-plru", "lru", "rrip", "dynamic-rrip", "random", "victim-counter"];

  /** Words that a key takes. Other keys with words are text fields: the model names their words. */
  const WORDS = {
    "memory.l1d.replacement": REPLACEMENT,
    "memory.l1i.replacement": REPLACEMENT,
    "memory.l2.replacement": REPLACEMENT,
    "memory.slc.replacement": REPLACEMENT,
    "pipeline.branch.direction": ["tage", "gshare", "perfect"],
    "memory.far-atomics": ["never", "miss", "always"],
    "threads.order": ["recorded", "causal", "free"],
    "pipeline.dispatch.integer-pipe": ["any", "in-turn"],
    "pipeline.execute.single-cycle-on-m0": ["all", "logic", "none"],
    "pipeline.execute.carry": ["all", "multi"],
    "pipeline.execute.divide": ["worst", "typical", "best"],
    "memory.prefetch.l1d-page-cross": ["stop", "l2-tlb", "walk"],
    "memory.pages.asid-from": ["lower", "upper"],
    "memory.ideal.data": ["nowhere", "beyond-l2", "beyond-l1"],
    "semantics.store-miss-l2": ["write", "read"],
    "semantics.bus-unit": ["transaction", "beats"],
    "core.pmu": ["v8.4", "v3p5"],
    "core.revision": ["r0p0", "r0p1", "r0p2", "r0p3"],
  };

  /** Keys whose slider goes by powers of two. */
  const POWERS = /(bytes|ways|entries|sets|slices|slice-lines|channels|columns|rows)$/;

  /** State of the panel. */
  const panel = { app: null, defaults: new Map(), fields: [], wanted: null, busy: false, key: "" };

  const plain = (value) => value.replace(/^"(.*)"$/, "$1");

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function selectOf(id, choices, act) {
    const select = make("select", { id }, ...choices.map(([value, text]) => make("option", { value }, text)));
    select.onchange = () => act(select.value);
    return select;
  }

  /** Keys with their values on the chosen machine without changes. */
  async function defaultsOf({ profile, machine }) {
    const key = `${profile}|${machine}`;
    if (!panel.defaults.has(key)) {
      const list = await panel.app.model.ask({ ask: "settings", machine: { profile, machine, set: [] } });
      panel.defaults.set(key, new Map(list.map((one) => [one.key, { ...one, value: plain(one.value) }])));
    }
    return panel.defaults.get(key);
  }

  /** The sentences of a message of the model, without its excerpts of files. */
  function sentences(message) {
    const found = [...message.matchAll(/^(?:\S+\.toml:\d+:\d+|--set): (.*)$/gm)].map((match) => match[1]);
    return found.length ? found.join(". ") : message.split("\n")[0];
  }

  const keyOf = (assignment) => assignment.slice(0, assignment.indexOf("=")).trim();
  const valueOf = (assignment) => plain(assignment.slice(assignment.indexOf("=") + 1).trim());

  /** Returns the changes with `key` at `text`: none for it where this is the default. */
  function changed(set, key, text, usual) {
    const others = set.filter((assignment) => keyOf(assignment) !== key);
    const same =
      text === usual || (usual !== "" && text !== "" && !isNaN(usual) && Number(text) === Number(usual));
    return same ? others : [...others, `${key}=${text}`];
  }

  /** Tries a value; of values that come while the model works, the last one counts. */
  async function put(field, text) {
    panel.wanted = { field, text };
    if (panel.busy) return;
    panel.busy = true;
    while (panel.wanted) {
      const { field: of, text: value } = panel.wanted;
      panel.wanted = null;
      await attempt(of, value);
    }
    panel.busy = false;
  }

  async function attempt(field, text) {
    const { app } = panel;
    const { profile, machine } = app.state;
    try {
      const usual = (await defaultsOf(app.state)).get(field.key).value;
      const set = changed(app.state.set, field.key, text, usual);
      if (text === "") throw new Error("a value is missing; the machine keeps the last one");
      await app.model.ask({ ask: "settings", machine: { profile, machine, set } });
      refuse(field, "");
      field.text = text;
      app.change({ set }, { quiet: field.open });
      field.open = true;
    } catch (error) {
      refuse(field, sentences(error.message));
    }
  }

  /** Shows or clears the sentence about a refused value. */
  function refuse(field, sentence) {
    const was = field.error.textContent !== "";
    field.error.textContent = sentence && `${sentence}. In force: ${field.text}`;
    for (const input of field.inputs) input.setAttribute("aria-invalid", String(sentence !== ""));
    if (sentence) panel.app.say(sentence, true);
    else if (was) panel.app.say("Ready");
  }

  // --- Fields ---------------------------------------------------------------------------------------

  /** A field of one key. `id` distinguishes the short list from the full one. */
  function fieldOf(id, { key, value, source }, name) {
    const field = { key, inputs: [], text: value, open: false, name, source };
    const label = make("label", { for: id }, name, make("code", {}, name === key ? "" : " " + key));
    field.error = make("span", { class: "error", id: id + "-error" });
    const control = controlOf(field, id, value);
    for (const input of field.inputs) {
      input.setAttribute("aria-describedby", id + "-error");
      // The steps of one drag or one typing are one change for undo.
      for (const end of ["change", "blur"])
        input.addEventListener(end, () => {
          field.open = false;
        });
    }
    field.back = make("button", {
      type: "button",
      class: "machine-default",
      onclick: () => put(field, field.usual),
    });
    field.row = make(
      "div",
      { class: "machine-row" },
      label,
      control,
      field.back,
      field.error,
      make("small", { class: "dim" }, source.replace(/^\[(.*)\]$/, "$1")),
    );
    panel.fields.push(field);
    return field.row;
  }

  /** Makes the inputs of a field, and `field.set(text)`, which shows a value. */
  function controlOf(field, id, value) {
    if (WORDS[field.key]) return words(field, id);
    if (value === "true" || value === "false") return check(field, id);
    if (/^\d+$/.test(value)) return numbers(field, id, +value);
    const input = make("input", { id, class: "mono", spellcheck: "false" });
    input.onchange = () => put(field, input.value.trim());
    field.inputs = [input];
    field.set = (text) => {
      input.value = text;
    };
    return input;
  }

  function words(field, id) {
    const select = selectOf(
      id,
      WORDS[field.key].map((word) => [word, word]),
      (word) => put(field, word),
    );
    field.inputs = [select];
    field.set = (text) => {
      select.value = text;
    };
    return select;
  }

  function check(field, id) {
    const input = make("input", { id, type: "checkbox" });
    input.onchange = () => put(field, String(input.checked));
    field.inputs = [input];
    field.set = (text) => {
      input.checked = text === "true";
    };
    return input;
  }

  function numbers(field, id, usual) {
    const power = POWERS.test(field.key) && usual > 0;
    const top = power ? Math.ceil(Math.log2(usual)) + 5 : Math.max(20, usual * 4);
    const slider = make("input", {
      type: "range",
      min: power && usual >= 4096 ? 8 : 0,
      max: top,
      step: 1,
      "aria-label": `${field.name}, slider`,
    });
    const input = make("input", { id, type: "number", min: 0, step: 1 });
    const text = () => String(power ? 2 ** +slider.value : +slider.value);
    slider.oninput = () => {
      input.value = text();
      put(field, text());
    };
    input.oninput = () => put(field, input.value);
    field.inputs = [slider, input];
    field.set = (value) => {
      if (document.activeElement !== input || input.getAttribute("aria-invalid") !== "true")
        input.value = value;
      slider.value = power ? Math.round(Math.log2(Math.max(1, +value))) : value;
      slider.setAttribute("aria-valuetext", value);
    };
    return make("span", { class: "machine-number" }, slider, input);
  }

  // --- The panel ------------------------------------------------------------------------------------

  function head(aside) {
    const { app } = panel;
    const choose = (patch) => tryChoice(patch);
    panel.profile = selectOf("machine-profile", PROFILES, (profile) => choose({ profile }));
    panel.machine = selectOf("machine-name", MACHINES, (machine) => choose({ machine }));
    panel.error = make("p", { class: "error" });
    panel.changes = make("ul", { class: "machine-changes" });
    panel.reset = make(
      "button",
      { type: "button", onclick: () => app.change({ set: [] }) },
      "All back to default",
    );
    panel.none = make("p", { class: "dim" }, "No key is changed.");
    aside.append(
      make("h2", {}, "Machine"),
      make(
        "div",
        { class: "machine-row" },
        make("label", { for: "machine-profile" }, "Profile"),
        panel.profile,
      ),
      make("div", { class: "machine-row" }, make("label", { for: "machine-name" }, "Machine"), panel.machine),
      panel.error,
      make("h3", {}, "Changed keys"),
      panel.none,
      panel.changes,
      panel.reset,
    );
  }

  /** Changes profile or machine, if the changed keys fit it. */
  async function tryChoice(patch) {
    const { app } = panel;
    try {
      await app.model.ask({ ask: "settings", machine: { ...app.choice, ...patch } });
      app.change(patch);
      panel.error.textContent = "";
    } catch (error) {
      panel.error.textContent = sentences(error.message);
      app.say(sentences(error.message), true);
    }
    showPanel();
  }

  /** The full list: one part for each table, and a filter. */
  function fullList(defaults) {
    const tables = new Map();
    for (const one of defaults.values()) {
      const table = one.key.slice(0, one.key.lastIndexOf("."));
      if (!tables.has(table)) tables.set(table, []);
      tables.get(table).push(one);
    }
    const parts = [...tables].map(([table, list]) =>
      make(
        "details",
        {},
        make("summary", {}, `${table} (${list.length})`),
        ...list.map((one) => fieldOf("key-" + one.key, one, one.key)),
      ),
    );
    const filter = make("input", {
      id: "machine-filter",
      type: "search",
      placeholder: "tlb, prefetch, cycles ...",
    });
    const count = make("p", { class: "dim", role: "status" });
    filter.oninput = () => {
      const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const part of parts) {
        let any = false;
        for (const row of part.querySelectorAll(".machine-row")) {
          const is = wanted.every((word) => row.textContent.toLowerCase().includes(word));
          row.hidden = !is;
          any ||= is;
          found += is ? 1 : 0;
        }
        part.hidden = !any;
        part.open = any && wanted.length > 0;
      }
      count.textContent = wanted.length ? `${found} of ${defaults.size} keys` : "";
    };
    return [
      make("h3", {}, "All keys"),
      make("label", { for: "machine-filter" }, "Filter "),
      filter,
      count,
      ...parts,
    ];
  }

  /** Makes the fields when the panel is first opened. */
  async function fill(aside) {
    if (panel.fields.length > 0) return;
    const defaults = await defaultsOf({ profile: "guide", machine: "" });
    if (panel.fields.length > 0) return;
    aside.append(
      make("h3", {}, "Most used"),
      make(
        "p",
        { class: "dim" },
        "Steps of the Memory view run with the hardware prefetchers off; traces use them.",
      ),
      ...COMMON.map(([key, name]) => fieldOf("common-" + key, defaults.get(key), name)),
      ...fullList(defaults),
    );
  }

  /** Shows the values in force. */
  async function showPanel() {
    const { app } = panel;
    const { profile, machine, set } = app.state;
    document.getElementById("machine-button").textContent = set.length
      ? `Machine (${set.length} changed)`
      : "Machine";
    if (panel.aside.hidden) return;
    const key = JSON.stringify([profile, machine, set]);
    let defaults;
    try {
      defaults = await defaultsOf(app.state);
    } catch (error) {
      panel.error.textContent = sentences(error.message);
      return;
    }
    await fill(panel.aside);
    if (key !== JSON.stringify([app.state.profile, app.state.machine, app.state.set])) return;
    panel.profile.value = profile;
    panel.machine.value = machine;
    if (panel.key === key) return;
    panel.key = key;
    const now = new Map(set.map((assignment) => [keyOf(assignment), valueOf(assignment)]));
    for (const field of panel.fields) showField(field, defaults.get(field.key), now.get(field.key));
    showChanges(set, defaults);
  }

  function showField(field, usual, value) {
    const text = value ?? usual.value;
    if (field.usual !== usual.value) {
      field.usual = usual.value;
      field.back.textContent = `back to ${usual.value}`;
    }
    field.back.hidden = value === undefined;
    field.row.classList.toggle("changed", value !== undefined);
    if (field.text !== text && field.error.textContent) refuse(field, "");
    field.text = text;
    field.set(text);
  }

  function showChanges(set, defaults) {
    panel.none.hidden = set.length > 0;
    panel.reset.hidden = set.length === 0;
    panel.changes.replaceChildren(
      ...set.map((assignment) => {
        const key = keyOf(assignment);
        const usual = defaults.get(key);
        const back = make(
          "button",
          {
            type: "button",
            "aria-label": `${key} back to default`,
            onclick: () => panel.app.change({ set: panel.app.state.set.filter((one) => keyOf(one) !== key) }),
          },
          "back to default",
        );
        return make(
          "li",
          {},
          make("code", {}, `${key} = ${valueOf(assignment)}`),
          usual ? ` (default ${usual.value}) ` : " (not a key of this machine) ",
          back,
        );
      }),
    );
  }

  window.mountMachine = (aside, app) => {
    panel.app = app;
    panel.aside = aside;
    const button = document.getElementById("machine-button");
    head(aside);
    const open = (is) => {
      aside.hidden = !is;
      button.setAttribute("aria-expanded", String(is));
      if (is) showPanel();
    };
    button.onclick = () => open(aside.hidden);
    aside.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      open(false);
      button.focus();
    });
    const next = app.onShow;
    app.onShow = (of) => {
      if (next) next(of);
      showPanel();
    };
  };
})();
