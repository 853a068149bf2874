// Lessons: a text, questions that are guessed first, and the model's answers.

/** Escapes text for HTML. */
function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

/** Marks `code` and **bold** of an escaped line. */
function marked(line) {
  return escaped(line)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}

/** The small Markdown of lessons: paragraphs, lists, code, bold. */
function markdown(text) {
  const blocks = text.trim().split(/\n\s*\n/);
  return blocks
    .map((block) => {
      const lines = block.split("\n").map((line) => line.trim());
      if (lines.every((line, i) => i > 0 || /^[-*] /.test(line)) && /^[-*] /.test(lines[0])) {
        // A line without a mark continues the item above.
        const items = [];
        for (const line of lines) {
          if (/^[-*] /.test(line)) items.push(line.slice(2));
          else items[items.length - 1] += " " + line;
        }
        return "<ul>" + items.map((item) => `<li>${marked(item)}</li>`).join("") + "</ul>";
      }
      return `<p>${marked(lines.join(" "))}</p>`;
    })
    .join("");
}

views.push({
  id: "lessons",
  title: "Lessons",
  name: null,
  /** Texts of dropped lesson files by their names. */
  own: {},
  /** Answers by lesson: "right", "open" or "given up" for each question. */
  done: {},

  async mount(root, app) {
    this.app = app;
    root.innerHTML = `
      <div class="lesson-top">
        <label>Lesson <select id="lesson-choice"></select></label>
        <label>Your own lesson <input type="file" id="lesson-file" accept=".toml"></label>
        <span id="lesson-score" role="status"></span>
      </div>
      <article id="lesson-text"></article>
      <ol id="lesson-questions"></ol>`;
    this.choice = root.querySelector("#lesson-choice");
    this.choice.onchange = () => app.change({ lesson: this.choice.value });
    root.querySelector("#lesson-file").onchange = (event) => this.take(event.target.files[0]);
    this.heads = await app.model.ask({ ask: "lessons" });
    this.fill();
    if (app.state.view === "lessons") await this.show(app);
  },

  /** Fills the list of lessons. */
  fill() {
    const option = (value, text) => {
      const element = document.createElement("option");
      Object.assign(element, { value, textContent: text });
      return element;
    };
    const heads = this.heads.map((head, i) =>
      option(head.name, `${i + 1}. ${head.title} (${head.minutes} min, ${head.level})`),
    );
    const own = Object.keys(this.own).map((name) => option(name, name));
    this.choice.replaceChildren(...heads, ...own);
  },

  /** Takes a lesson file of a teacher. */
  async take(file) {
    if (!file) return;
    this.own[file.name] = await file.text();
    this.fill();
    this.name = null;
    this.app.change({ lesson: file.name });
    this.show(this.app).catch((error) => this.app.say(error.message, true));
  },

  async show(app) {
    if (!this.heads) return;
    const name = app.state.lesson || this.heads[0].name;
    this.choice.value = name;
    if (this.name === name) return;
    this.name = name;
    const text = this.own[name] ?? null;
    const root = app.model;
    let lesson;
    try {
      lesson = await root.ask({ ask: "lesson", name, text });
    } catch (error) {
      document.getElementById("lesson-text").innerHTML = `<p class="error">${escaped(error.message)}</p>`;
      document.getElementById("lesson-questions").replaceChildren();
      throw error;
    }
    if (this.name !== name) return;
    this.lesson = lesson;
    await this.giveTraces(lesson);
    this.done[name] ??= lesson.questions.map(() => "open");
    this.draw(lesson);
  },

  /** Gives the traces that a lesson names to the model. */
  async giveTraces(lesson) {
    for (const setup of lesson.setups) {
      if (!setup.trace) continue;
      const text = this.app.data.traces[setup.trace];
      if (text === undefined) continue;
      await this.app.model.setTrace(bytesOf(text));
      this.app.traceName = setup.trace;
      await this.app.model.ask({ ask: "keep", name: setup.trace });
    }
  },

  draw(lesson) {
    const several = lesson.setups.length > 1;
    const setups = lesson.setups.map((setup, i) => {
      const what =
        setup.do !== undefined
          ? `state before: <code>${escaped(setup.given)}</code>; steps: <code>${escaped(setup.do)}</code>`
          : `trace <code>${escaped(setup.trace)}</code>, its first ${setup.instructions.toLocaleString("en")} instructions`;
      const set = (setup.set ?? [])
        .map(([key, value]) => `<code>${escaped(`${key} = ${value}`)}</code>`)
        .join(", ");
      const open =
        setup.do !== undefined
          ? ` <button type="button" class="open-setup" data-setup="${i}">Open in the memory view</button>`
          : "";
      return `<li>${several ? `<strong>${escaped(setup.name)}</strong>: ` : ""}${what}${set ? `; machine: ${set}` : ""}${open}</li>`;
    });
    const article = document.getElementById("lesson-text");
    article.innerHTML = `<h2>${escaped(lesson.title)}</h2>${markdown(lesson.text)}<h3>What runs</h3><ul>${setups.join("")}</ul>`;
    for (const button of article.querySelectorAll(".open-setup")) {
      button.onclick = () => this.open(lesson.setups[+button.dataset.setup]);
    }
    const list = document.getElementById("lesson-questions");
    list.replaceChildren(...lesson.questions.map((question, i) => this.question(lesson, question, i)));
    this.score();
  },

  /** Shows a setup in the memory view, on its machine. */
  open(setup) {
    const set = (setup.set ?? []).map(([key, value]) => `${key}=${String(value).replace(/^"|"$/g, "")}`);
    const steps = setup.do.trim().replace(/\s*\n\s*/g, " ");
    this.app.change({
      view: "memory",
      given: setup.given,
      do: steps,
      set,
      profile: "guide",
      machine: "",
      step: 0,
    });
  },

  question(lesson, question, number) {
    const item = document.createElement("li");
    const id = `answer-${number}`;
    const setup =
      lesson.setups.length > 1 && !question.ask.includes(lesson.setups[question.setup].name)
        ? ` <span class="dim">(setup <code>${escaped(lesson.setups[question.setup].name)}</code>)</span>`
        : "";
    const choice = question.answer.kind === "choice";
    const field = choice
      ? `<select id="${id}"><option value="">choose</option>${question.answer.options
          .map((option) => `<option>${escaped(option)}</option>`)
          .join("")}</select>`
      : `<input id="${id}" autocomplete="off" size="14">`;
    item.innerHTML = `
      <form><label for="${id}">${marked(question.ask.trim())}${setup}</label>
      <span class="answer">${field} ${escaped(choice ? "" : (question.unit ?? ""))}
      <button type="submit" class="main">Check</button>
      ${question.hint ? `<button type="button" class="hint">Hint</button>` : ""}
      <button type="button" class="give-up">Show the answer</button></span></form>
      <p class="hint-text dim" hidden></p><div class="verdict" role="status"></div>`;
    const typed = item.querySelector(`#${id}`);
    item.querySelector("form").onsubmit = (event) => {
      event.preventDefault();
      this.guess(item, number, typed.value);
    };
    item.querySelector(".give-up").onclick = () => this.guess(item, number, null);
    const hint = item.querySelector(".hint");
    if (hint) {
      hint.onclick = () => {
        const text = item.querySelector(".hint-text");
        text.innerHTML = marked(question.hint.trim());
        text.hidden = !text.hidden;
      };
    }
    return item;
  },

  /** Asks the model about a guess; `null` gives up. */
  async guess(item, question, typed) {
    const name = this.name;
    const place = item.querySelector(".verdict");
    place.textContent = "The model runs";
    try {
      const request = { ask: "guess", name, text: this.own[name] ?? null, question, typed };
      const judged = await this.app.model.ask(request);
      const wrong = judged.unread ? "? not read" : "\u2717 not yet";
      const sign = judged.right ? "\u2713 right" : typed === null ? "The answer" : wrong;
      const more =
        judged.truth === undefined
          ? ""
          : ` <strong>${escaped(judged.truth)}</strong>${judged.why ? markdown(judged.why) : ""}`;
      const message = judged.right || typed === null ? "" : `: ${marked(judged.message)}`;
      place.innerHTML = `<p class="${judged.right ? "good" : "bad"}">${sign}${message}</p>${more ? `<div>${more}</div>` : ""}`;
      const done = this.done[name];
      // Only the first guess counts, and who has seen the answer cannot guess any more.
      if (done[question] === "open" && !judged.unread) done[question] = judged.right ? "right" : "tried";
      this.score();
    } catch (error) {
      place.innerHTML = `<p class="error">${escaped(error.message)}</p>`;
    }
  },

  score() {
    const done = this.done[this.name] ?? [];
    const right = done.filter((state) => state === "right").length;
    document.getElementById("lesson-score").textContent = `${right} of ${done.length} right at the first guess`;
  },
});
