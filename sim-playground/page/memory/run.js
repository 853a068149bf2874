// The view "Memory": fields, the run of the model, its log, and the place in time.

const SVG = "http://www.w3.org/2000/svg";

/** State of the view; what a link does not show again. */
const my = {
  app: null,
  el: {},
  key: "",
  wanted: "",
  busy: false,
  answer: null,
  points: [],
  entries: [],
  groups: [],
  flow: 0,
  timer: 0,
  score: [0, 0],
  guessing: false,
  open: true,
  drawn: {},
};

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element[name] = value;
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function classes(element, text) {
  if (element.getAttribute("class") !== text) element.setAttribute("class", text);
}

const number = (n) => n.toLocaleString("en");
const hex = (n) => "0x" + n.toString(16).toUpperCase();
/** Whether counts and cycles are hidden: before a guess, or for the open questions of a lesson. */
const closed = () => (my.guessing && !my.open) || my.app.book.hides;
/** A cycle or count for the reader, hidden until the guess is made. */
const hidden = (n) => (closed() ? "?" : number(n));

// --- Fields ---------------------------------------------------------------------------------------

/** A text field of the state. Typing is one change for undo, until the field is left. */
function bind(element, key) {
  let timer = 0;
  let first = true;
  const take = () => {
    clearTimeout(timer);
    const value = element.value.replace(/\s*\n\s*/g, " ");
    if (value === my.app.state[key]) return;
    my.app.change({ [key]: value }, { quiet: !first });
    first = false;
  };
  element.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(take, 30);
  });
  element.addEventListener("change", take);
  element.addEventListener("blur", () => {
    first = true;
  });
}

function fields() {
  const el = my.el;
  el.given = h("input", {
    id: "mem-given",
    class: "mono",
    spellcheck: "false",
    "aria-describedby": "mem-given-error",
  });
  el.do = h("textarea", { id: "mem-do", rows: "3", spellcheck: "false", "aria-describedby": "mem-do-error" });
  el.givenError = h("p", { id: "mem-given-error", class: "error mem-error" });
  el.doError = h("p", { id: "mem-do-error", class: "error mem-error" });
  bind(el.given, "given");
  bind(el.do, "do");
  const usual = menu(
    "mem-usual",
    "Usual states",
    GIVENS.map(([text, about]) => `${text}: ${about}`),
    (i) => my.app.change({ given: GIVENS[i][0] }),
  );
  const examples = menu(
    "mem-examples",
    "Examples",
    EXAMPLES.map(([title]) => title),
    (i) => my.app.change({ given: EXAMPLES[i][1], do: EXAMPLES[i][2], step: 0, setup: "" }),
  );
  return h(
    "div",
    { class: "mem-fields" },
    examples,
    h("label", { for: "mem-given" }, "State before"),
    el.given,
    el.givenError,
    usual,
    h("label", { for: "mem-do" }, "Steps"),
    el.do,
    el.doError,
    h(
      "p",
      { class: "dim mem-note" },
      "; waits for the step before, & does not, [ ] is a wrong path, step 64 x 8 repeats.",
    ),
    guessFields(),
  );
}

/** A menu that acts and goes back to its title. */
function menu(id, title, texts, act) {
  const select = h(
    "select",
    { id, "aria-label": title },
    h("option", { value: "" }, title + " ..."),
    ...texts.map((text, i) => h("option", { value: i }, text)),
  );
  select.onchange = () => {
    if (select.value !== "") act(+select.value);
    select.value = "";
  };
  return select;
}

function showError(message) {
  const { el } = my;
  const of = /^given:/.test(message) ? el.given : /^do:/.test(message) ? el.do : null;
  for (const [field, place] of [
    [el.given, el.givenError],
    [el.do, el.doError],
  ]) {
    const is = message !== "" && (field === of || (of === null && field === el.do));
    put(place, is ? message.replace(/^(given|do):/, "").replace(/^1:(\d+):/, "At character $1:") : "");
    field.setAttribute("aria-invalid", String(is && field === of));
  }
  el.stale.hidden = message === "" || my.answer === null;
  if (message !== "") my.app.say(message.split("\n")[0], true);
  else if (document.getElementById("status").classList.contains("error")) my.app.say("Ready");
}

// --- Run and read the log -------------------------------------------------------------------------

/** Runs the model until its answer belongs to the present state. */
async function run() {
  if (my.busy) return;
  my.busy = true;
  while (my.wanted !== my.key) {
    const key = my.wanted;
    const [given, steps, machine] = JSON.parse(key);
    try {
      const answer = await my.app.model.ask({ ask: "watch", given, do: steps, machine });
      my.key = key;
      take(answer);
      showError("");
    } catch (error) {
      my.key = key;
      showError(error.message);
    }
  }
  my.busy = false;
}

function take(answer) {
  my.answer = answer;
  my.entries = [];
  answer.steps.forEach((step, i) => {
    for (const [cycle, what, n] of step.log) my.entries.push(read(i, cycle, what, n));
  });
  my.entries.sort((a, b) => a.cycle - b.cycle || a.step - b.step);
  my.points = [];
  my.entries.forEach((entry, i) => {
    const last = my.points.at(-1);
    if (last && last.cycle === entry.cycle) last.to = i + 1;
    else my.points.push({ cycle: entry.cycle, from: i, to: i + 1 });
  });
  if (my.points.length === 0) my.points.push({ cycle: 0, from: 0, to: 0 });
  groupSteps(answer);
  my.drawn = {};
  if (my.guessing) my.open = false;
  drawHops();
  drawEventRows();
  drawGuess();
  draw();
}

/** An entry of the log with its box, word, and links. */
function read(step, cycle, what, n) {
  const entry = { step, cycle, links: [], word: "", box: "", begins: "" };
  if (typeof what === "string") {
    entry.event = what;
    entry.n = n;
    entry.clock = CLOCKS.test(what);
    const found = !entry.clock && READINGS.find(([pattern]) => pattern.test(what));
    if (found) [, entry.box, entry.word, entry.links, entry.begins] = found;
    return entry;
  }
  const { from, to, label, flow } = my.app.tables.edges[what];
  entry.edge = what;
  const found = DECISIONS.find(([pattern]) => pattern.test(`${from} > ${to}`));
  if (!found) return entry;
  const side = my.app.tables.flows[flow].section === "5.3" ? "l1itlb" : "l1dtlb";
  const upper = (text) => text.replace("TLB", side);
  entry.box = found[1] === "TLB" ? side : found[1];
  entry.links = found[2] ? [found[2].startsWith("TLB") ? upper(found[2]) : found[2]] : [];
  entry.word = /^hit/.test(label)
    ? "hit"
    : /^miss/.test(label)
      ? "miss"
      : /no translation/.test(label)
        ? "fault"
        : "";
  return entry;
}

/** Puts a step with the steps without an access before it, with the contents before and after. */
function groupSteps(answer) {
  const merge = (state, change) => {
    const next = { ...state, ...change };
    for (const cache of ["l1d", "l1i", "l2"]) {
      next[cache] = new Map(state ? state[cache] : []);
      for (const set of change[cache]) next[cache].set(set.set, set);
    }
    return next;
  };
  let before = merge(null, answer.before);
  let first = 0;
  my.groups = [];
  answer.steps.forEach((step, i) => {
    const last = i + 1 === answer.steps.length;
    if (step.state === undefined && !last) return;
    const after = step.state ? merge(before, step.state) : before;
    my.groups.push({ first, last: i, before, after });
    before = after;
    first = i + 1;
  });
}

const groupOf = (step) => my.groups.find((group) => step <= group.last) || my.groups.at(-1);

// --- Time -----------------------------------------------------------------------------------------

const place = () => Math.max(0, Math.min(my.points.length - 1, Math.round(my.app.state.step)));

function go(to) {
  const step = Math.max(0, Math.min(my.points.length - 1, to));
  my.app.change({ step }, { quiet: true });
}

function play() {
  if (my.timer) return stop();
  if (place() === my.points.length - 1) go(0);
  put(my.el.play, "Pause");
  my.timer = setInterval(() => {
    if (my.root.hidden || place() === my.points.length - 1) return stop();
    go(place() + 1);
  }, 900);
}

function stop() {
  clearInterval(my.timer);
  my.timer = 0;
  put(my.el.play, "Play");
}

function timeFields() {
  const { el } = my;
  const button = (text, label, act) =>
    h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  el.first = button("|◀", "First point in time (Home)", () => go(0));
  el.back = button("◀", "Point in time before (left arrow)", () => go(place() - 1));
  el.next = button("▶", "Next point in time (right arrow)", () => go(place() + 1));
  el.last = button("▶|", "Last point in time (End)", () => go(my.points.length - 1));
  el.play = button("Play", "Play", play);
  el.slider = h("input", {
    type: "range",
    min: "0",
    max: "0",
    value: "0",
    "aria-label": "Point in time",
    oninput: () => go(+el.slider.value),
  });
  el.now = h("strong", { class: "mem-cycle" });
  addEventListener("keydown", (event) => {
    if (my.root.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.closest("#machine, #tabs"))
      return;
    const to = { ArrowLeft: place() - 1, ArrowRight: place() + 1, Home: 0, End: my.points.length - 1 }[
      event.key
    ];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  return h("div", { class: "mem-time" }, el.first, el.back, el.next, el.last, el.play, el.slider, el.now);
}

/** Draws the point in time. */
function draw() {
  if (!my.answer) return;
  const { el } = my;
  const at = place();
  const point = my.points[at];
  const now = my.entries.slice(point.from, point.to);
  const step = Math.max(0, ...now.filter((entry) => !entry.clock).map((entry) => entry.step));
  const shown = now.some((entry) => !entry.clock) ? step : now.length ? now.at(-1).step : 0;
  const moment = { at, cycle: point.cycle, now, step: shown, group: groupOf(shown) };
  el.slider.max = String(my.points.length - 1);
  if (+el.slider.value !== at) el.slider.value = String(at);
  el.slider.setAttribute("aria-valuetext", `cycle ${hidden(point.cycle)}`);
  put(el.now, `cycle ${hidden(point.cycle)}  (${at + 1} of ${my.points.length})`);
  el.first.disabled = el.back.disabled = at === 0;
  el.last.disabled = el.next.disabled = at === my.points.length - 1;
  drawPicture(moment);
  drawHappening(moment);
  markHops(moment);
  drawEvents(moment);
  drawContents(moment);
  drawFlow(moment);
}
