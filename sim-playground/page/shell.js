// The shell: state, its address, undo, tabs. A view is an object
// { id, title, mount(root, app), show(app) } in `views`: `mount` makes its elements once, `show` is
// called when the view is visible and the state has changed.

const views = [];

/** State of the page: all that a link shows again. */
const DEFAULTS = {
  view: "memory",
  given: "K0",
  do: "ST8 0x8000 ; LD8 0x8000 ; LD8 0x9000",
  profile: "guide",
  machine: "",
  set: [],
  step: 0,
  trace: "",
  warmup: 0,
  limit: 200000,
  from: 1000,
  count: 60,
  events: [
    "L1D_CACHE",
    "L1D_CACHE_REFILL",
    "L2D_CACHE_REFILL",
    "BR_RETIRED",
    "BR_MIS_PRED_RETIRED",
    "LD_SPEC",
    "ST_SPEC",
    "INST_RETIRED",
    "DTLB_WALK",
    "STALL_BACKEND_MEM",
  ],
  counters: 6,
  turn: 11000,
  interval: 1024,
  lesson: "",
  // Lesson and number of the setup that is shown: "03-set-conflict/0".
  setup: "",
};

class App {
  constructor() {
    this.model = new Model();
    this.data = JSON.parse(document.getElementById("page-data").textContent || "{}");
    this.state = { ...DEFAULTS, ...App.read() };
    this.past = [];
    this.future = [];
    this.tables = null;
    this.traceName = null;
    // Number of the dropped file: two files of one name are two traces.
    this.dropped = 0;
    // View and lesson that the last entry of the browser's history shows, and how far each of them
    // was scrolled.
    this.place = this.placeNow;
    this.scrolled = new Map();
    history.scrollRestoration = "manual";
    this.book = new LessonBook(this);
  }

  get placeNow() {
    return `${this.state.view} ${this.state.view === "lessons" ? this.state.lesson : ""}`;
  }

  /** Reads the state from the address. Unknown and wrong values are left out. */
  static read() {
    const state = {};
    for (const [key, text] of new URLSearchParams(location.hash.slice(1))) {
      if (!(key in DEFAULTS)) continue;
      const kind = DEFAULTS[key];
      if (Array.isArray(kind)) state[key] = text === "" ? [] : text.split("|");
      else if (typeof kind === "number") {
        if (Number.isFinite(+text) && text !== "") state[key] = +text;
      } else state[key] = text;
    }
    return state;
  }

  /** Writes the state into the address, what differs from the defaults, and into the history. */
  write(enters) {
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(this.state)) {
      const text = Array.isArray(value) ? value.join("|") : String(value);
      const usual = Array.isArray(DEFAULTS[key]) ? DEFAULTS[key].join("|") : String(DEFAULTS[key]);
      if (text !== usual) words.set(key, text);
    }
    const hash = "#" + words.toString();
    if (hash === (location.hash || "#")) return;
    // Another view or lesson is a new entry, so that Back returns to the one before.
    const way = enters && this.placeNow !== this.place ? "pushState" : "replaceState";
    history[way](null, "", hash === "#" ? location.pathname + location.search : hash);
  }

  /** Scrolls to where the view or lesson was left. */
  scroll() {
    const { placeNow } = this;
    if (placeNow === this.place) return;
    this.place = placeNow;
    scrollTo(0, this.scrolled.get(placeNow) ?? 0);
  }

  /** Changes the state. `{ quiet: true }` leaves out undo (stepping, tabs). */
  change(patch, { quiet = false } = {}) {
    const before = this.state;
    this.state = { ...this.state, ...patch };
    if (JSON.stringify(before) === JSON.stringify(this.state)) return;
    if (!quiet) {
      this.past.push(before);
      this.future = [];
    }
    this.show();
  }

  back(from, to) {
    if (from.length === 0) return;
    to.push(this.state);
    this.state = from.pop();
    this.show();
  }

  undo() {
    this.back(this.past, this.future);
  }
  redo() {
    this.back(this.future, this.past);
  }

  /** The machine of requests. */
  get choice() {
    const { profile, machine, set } = this.state;
    return { profile, machine, set };
  }

  say(text, isError = false) {
    const status = document.getElementById("status");
    status.textContent = text;
    status.classList.toggle("error", isError);
  }

  /** Shows the state. Without `enters` the browser's history stays as long as it is. */
  show(enters = true) {
    this.scrolled.set(this.place, scrollY);
    this.write(enters);
    for (const tab of document.querySelectorAll("#tabs button")) {
      tab.setAttribute("aria-selected", String(tab.dataset.view === this.state.view));
    }
    document.getElementById("undo").disabled = this.past.length === 0;
    document.getElementById("redo").disabled = this.future.length === 0;
    for (const view of views) {
      const is = view.id === this.state.view;
      view.root.hidden = !is;
      if (is) Promise.resolve(view.show(this)).catch((error) => this.say(error.message, true));
    }
    if (this.onShow) this.onShow(this);
    this.scroll();
  }

  /** Shows the state of the address after Back, Forward, or a change by hand. */
  reread() {
    const state = { ...DEFAULTS, ...App.read() };
    if (JSON.stringify(state) === JSON.stringify(this.state)) return;
    this.state = state;
    this.show(false);
  }

  /** Gives the chosen teaching trace to the model, if it has another one. */
  async needTrace() {
    const name = this.state.trace || Object.keys(this.data.traces)[0];
    if (this.traceName === name) return name;
    const text = this.data.traces[name];
    if (text === undefined)
      throw new Error(`the trace ${name} was dropped on another page: drop it here again`);
    await this.model.setTrace(bytesOf(text));
    this.traceName = name;
    return name;
  }

  /** Takes a dropped or chosen file as the trace; a lesson file (*.toml) as a lesson. */
  async takeFile(file) {
    if (/\.toml$/i.test(file.name)) {
      await views.find((view) => view.id === "lessons").take(file);
      return;
    }
    if (file.size > 20 * 1024 * 1024) {
      this.say(
        `${file.name} has ${Math.round(file.size / 1048576)} MiB; the playground takes traces up to 20 MiB (n2sim trace slice cuts one)`,
        true,
      );
      return;
    }
    await this.model.setTrace(new Uint8Array(await file.arrayBuffer()));
    // The lessons of the page keep their trace of that name.
    const name = this.data.traces[file.name] ? `own-${file.name}` : file.name;
    this.traceName = name;
    this.dropped++;
    this.data.traces[name] = undefined;
    // Lessons may name it.
    await this.model.ask({ ask: "keep", name });
    const before = this.state.trace;
    this.change({ trace: name });
    // A file of the same name does not change the state, and is another trace all the same.
    if (before === name) this.show();
    this.say(`${name}: ${file.size.toLocaleString("en")} bytes`);
  }
}

async function main() {
  const app = new App();
  window.playground = app;
  const tabs = document.getElementById("tabs");
  const main = document.getElementById("view");
  for (const view of views) {
    const tab = document.createElement("button");
    Object.assign(tab, { type: "button", textContent: view.title });
    tab.dataset.view = view.id;
    tab.setAttribute("role", "tab");
    tab.onclick = () => app.change({ view: view.id }, { quiet: true });
    tabs.append(tab);
    view.root = document.createElement("section");
    view.root.id = "view-" + view.id;
    view.root.hidden = true;
    main.append(view.root);
  }
  document.getElementById("undo").onclick = () => app.undo();
  document.getElementById("redo").onclick = () => app.redo();
  document.getElementById("link").onclick = async () => {
    app.write();
    try {
      await navigator.clipboard.writeText(location.href);
      app.say("The link is in the clipboard.");
    } catch {
      app.say("The link is in the address bar.");
    }
  };
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "z") {
      event.preventDefault();
      app.undo();
    }
    if (event.key === "y") {
      event.preventDefault();
      app.redo();
    }
  });
  addEventListener("popstate", () => app.reread());
  addEventListener("hashchange", () => app.reread());
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) app.takeFile(file);
  });
  try {
    await app.model.start();
    app.tables = await app.model.ask({ ask: "tables" });
    for (const view of views) view.mount(view.root, app);
    if (window.mountMachine) window.mountMachine(document.getElementById("machine"), app);
    app.say("Ready");
    app.show();
  } catch (error) {
    app.say(`This browser cannot run the model: ${error.message}`, true);
  }
}
