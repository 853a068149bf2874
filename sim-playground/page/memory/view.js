// The view "Memory": guesses, and the view itself.

// --- Guess first ----------------------------------------------------------------------------------

function guessFields() {
  const { el } = my;
  const names = my.app.tables.events.map((event) => event.name).sort();
  el.guessSwitch = h("input", { type: "checkbox", id: "mem-guess" });
  el.guessSwitch.onchange = () => {
    my.guessing = el.guessSwitch.checked;
    my.open = !my.guessing;
    my.drawn = {};
    drawGuess();
    draw();
  };
  el.guessEvent = h("select", { id: "mem-guess-event" }, ...names.map((name) => h("option", {}, name)));
  el.guessEvent.value = "L1D_CACHE_REFILL";
  el.guessCount = h("input", { id: "mem-guess-count", type: "number", min: "0", step: "1", size: "6" });
  el.guessResult = h("p", { role: "status" });
  const check = h("button", { type: "submit" }, "Check");
  el.guessForm = h(
    "form",
    {},
    h("label", { for: "mem-guess-event" }, "Event"),
    el.guessEvent,
    h("label", { for: "mem-guess-count" }, "Your count after all steps"),
    el.guessCount,
    check,
  );
  el.guessForm.onsubmit = (event) => {
    event.preventDefault();
    judge();
  };
  el.guessBox = h(
    "fieldset",
    { class: "mem-guess" },
    h("legend", {}, el.guessSwitch, h("label", { for: "mem-guess" }, " Guess first")),
    el.guessForm,
    el.guessResult,
  );
  return el.guessBox;
}

function judge() {
  const { el } = my;
  if (el.guessCount.value === "" || !my.answer || my.open) return;
  const [guess, name] = [+el.guessCount.value, el.guessEvent.value];
  const count = my.answer.counts[name] || 0;
  my.score[1]++;
  if (guess === count) my.score[0]++;
  my.open = true;
  my.drawn = {};
  drawGuess();
  put(
    el.guessResult,
    `${guess === count ? "✓ Right" : "✗ Not so"}: you guessed ${number(guess)}, the model counts ${number(count)} ` +
      `of ${name}. Score: ${my.score[0]} of ${my.score[1]}. Change the steps for the next guess.`,
  );
  draw();
}

function drawGuess() {
  // The lesson asks its own questions.
  my.el.guessBox.hidden = my.app.book.hides;
  my.el.guessForm.hidden = !my.guessing || my.open;
  if (!my.guessing) put(my.el.guessResult, "");
  else if (!my.open)
    put(my.el.guessResult, `Counts and cycles are hidden. Score: ${my.score[0]} of ${my.score[1]}.`);
}

// --- The view -------------------------------------------------------------------------------------

function middle() {
  const { el } = my;
  el.picture = h("div", { class: "mem-picture-box" });
  el.happening = h("p", { class: "mem-happening" });
  el.stale = h(
    "p",
    { class: "error", hidden: true },
    "The picture shows the last steps that the model accepted.",
  );
  el.hops = h("div", { class: "mem-hops" });
  el.hopsTitle = h("h2");
  el.hopList = h("ol", { class: "mem-hop-list" });
  const narrow = matchMedia("(max-width: 640px)");
  const turn = () => {
    el.picture.replaceChildren(picture(narrow.matches));
    my.drawn = {};
    draw();
  };
  narrow.onchange = turn;
  turn();
  return h(
    "section",
    { class: "mem-middle" },
    el.stale,
    timeFields(),
    el.picture,
    el.happening,
    el.hopsTitle,
    el.hops,
    el.hopList,
  );
}

function eventPart() {
  const { el } = my;
  el.clocks = h("input", { type: "checkbox", id: "mem-clocks" });
  el.clocks.onchange = () => draw();
  el.events = h("tbody");
  el.eventTable = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("th", {}, "now"), h("th", { class: "n" }, "count"), h("th", {}, "event"))),
    el.events,
  );
  el.sums = h("p", { class: "dim mem-note" });
  return h(
    "section",
    { class: "mem-events" },
    h("h2", {}, "Events up to here"),
    el.clocks,
    h("label", { for: "mem-clocks" }, " clocks and stalls too"),
    h("div", { class: "mem-event-scroll", tabindex: "0" }, el.eventTable, el.sums),
  );
}

function mount(root, app) {
  my.app = app;
  my.root = root;
  root.classList.add("mem");
  my.el.contents = h("div");
  const legend =
    "D dirty, S shared with another core, P prefetched; ↓ line in flight until the cycle; " +
    "▾ the way that the next refill replaces; age: refills and uses since the last use.";
  root.append(
    h("div", { class: "mem-top" }, fields(), middle(), eventPart()),
    h(
      "div",
      { class: "mem-low" },
      h(
        "section",
        { class: "mem-contents" },
        h("h2", {}, "Sets and ways"),
        h("p", { class: "dim mem-note" }, legend),
        my.el.contents,
      ),
      flowPart(),
    ),
  );
}

async function show(app) {
  const { el } = my;
  const { given, do: steps } = app.state;
  if (el.given.value !== given) el.given.value = given;
  if (el.do.value.replace(/\s*\n\s*/g, " ") !== steps) el.do.value = steps;
  my.wanted = JSON.stringify([given, steps, app.choice]);
  if (my.hides !== app.book.hides) {
    // Texts of the point in time are made anew with their numbers, or without.
    my.hides = app.book.hides;
    my.drawn = {};
    drawGuess();
  }
  if (my.wanted !== my.key) await run();
  else draw();
}

views.push({ id: "memory", title: "Memory", mount, show });
