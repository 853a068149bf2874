// Lessons: a text, questions that are guessed first, and the model's answers.

/** Escapes text for HTML. */
function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

/** The parts of a line as HTML, as the model has split it: code, bold, italic. */
function spansHtml(spans) {
  const tags = { code: "code", bold: "strong", italic: "em" };
  return spans
    .map(({ kind, text }) => (tags[kind] ? `<${tags[kind]}>${escaped(text)}</${tags[kind]}>` : escaped(text)))
    .join("");
}

/** The blocks of a text as HTML: paragraphs, lists, lines of code. */
function blocksHtml(blocks) {
  const items = (list) => list.map((item) => `<li>${spansHtml(item)}</li>`).join("");
  const html = {
    paragraph: (spans) => `<p>${spansHtml(spans)}</p>`,
    list: (list) => `<ul>${items(list)}</ul>`,
    numbered: (list) => `<ol>${items(list)}</ol>`,
    code: (text) => `<pre><code>${escaped(text)}</code></pre>`,
  };
  return blocks.map(({ kind, content }) => html[kind](content)).join("");
}

views.push({
  id: "lessons",
  title: "Lessons",
  name: null,

  async mount(root, app) {
    this.app = app;
    root.innerHTML = `
      <div class="lesson-top">
        <label>Lesson <select id="lesson-choice"></select></label>
        <label>Your own lesson <input type="file" id="lesson-file" accept=".toml"></label>
        <span id="lesson-score" role="status"></span>
      </div>
      <article id="lesson-text"></article>
      <ol id="lesson-questions"></ol>
      <p class="lesson-end">
        <button type="button" id="lesson-next" class="main"></button>
        <button type="button" id="lesson-again">Start this lesson again</button>
        <span id="lesson-kept" class="dim"></span>
      </p>`;
    this.choice = root.querySelector("#lesson-choice");
    this.choice.onchange = () => app.change({ lesson: this.choice.value });
    root.querySelector("#lesson-file").onchange = async (event) => {
      await this.take(event.target.files[0]);
      event.target.value = "";
    };
    root.querySelector("#lesson-again").onclick = () => {
      app.book.progress.forget(this.lesson);
      this.draw(this.lesson);
      root.querySelector("#lesson-questions input, #lesson-questions select")?.focus();
    };
    this.heads = await app.model.ask({ ask: "lessons" });
    this.fill();
    if (app.state.view === "lessons") await this.show(app);
  },

  /** Names and titles of all lessons in their order. */
  get all() {
    const heads = this.heads.map((head, i) => [
      head.name,
      `${i + 1}. ${head.title}`,
      ` (${head.minutes} min, ${head.level})`,
    ]);
    const own = Object.keys(this.app.book.own).map((name) => [name, name, ""]);
    return [...heads, ...own];
  },

  /** Fills the list of lessons. */
  fill() {
    const { lessons } = this.app.book.progress;
    const option = ([value, title, about]) => {
      const questions = lessons[value]?.questions ?? [];
      const done = questions.filter((one) => one?.done).length;
      const progress = done === 0 ? "" : `, ${done} of ${questions.length} done`;
      const element = document.createElement("option");
      return Object.assign(element, { value, textContent: title + about + progress });
    };
    const { value } = this.choice;
    this.choice.replaceChildren(...this.all.map(option));
    this.choice.value = value;
  },

  /** Takes a lesson file of a teacher. */
  async take(file) {
    if (!file) return;
    const { app } = this;
    app.book.take(file.name, await file.text());
    this.fill();
    this.name = null;
    app.change({ view: "lessons", lesson: file.name });
    await this.show(app).catch((error) => app.say(error.message, true));
  },

  async show(app) {
    if (!this.heads) return;
    const name = app.state.lesson || this.heads[0].name;
    this.choice.value = name;
    if (this.name === name) return;
    this.name = name;
    let lesson;
    try {
      lesson = await app.book.lesson(name);
      if (this.name !== name) return;
      await this.giveTraces(lesson);
      const text = app.book.own[name];
      // The file of a teacher is solved at once, so that its faults are read before its questions.
      if (text !== undefined) {
        app.say(`${name}: the model solves its questions`);
        await app.model.ask({ ask: "solve", name, text });
      }
    } catch (error) {
      if (this.name === name) this.name = null;
      document.getElementById("lesson-text").innerHTML = `<p class="error">${escaped(error.message)}</p>`;
      document.getElementById("lesson-questions").replaceChildren();
      document.querySelector(".lesson-end").hidden = true;
      throw error;
    }
    if (this.name !== name) return;
    this.lesson = lesson;
    // The line of the status may still have the fault of another file.
    app.say(`${lesson.title}: ${lesson.questions.length} questions`);
    this.draw(lesson);
  },

  /** Gives the traces that a lesson names to the model, each once. */
  async giveTraces(lesson) {
    this.given ??= new Set();
    for (const { trace } of lesson.setups) {
      const text = trace && this.app.data.traces[trace];
      if (!text || this.given.has(trace)) continue;
      await this.app.model.setTrace(bytesOf(text));
      this.app.traceName = trace;
      await this.app.model.ask({ ask: "keep", name: trace });
      this.given.add(trace);
    }
  },

  draw(lesson) {
    const article = document.getElementById("lesson-text");
    const setups = lesson.setups.map((setup, i) => this.setup(lesson, setup, i));
    const terms = lesson.notation.map(
      ({ sign, meaning }) => `<dt>${escaped(sign)}</dt><dd>${escaped(meaning)}</dd>`,
    );
    const notation = terms.length ? `<h4>Notation</h4><dl class="notation">${terms.join("")}</dl>` : "";
    article.innerHTML =
      `<h2>${escaped(lesson.title)}</h2>${blocksHtml(lesson.texts.text)}` +
      `<h3>What runs</h3><ul>${setups.join("")}</ul>${notation}`;
    for (const button of article.querySelectorAll(".open-setup")) {
      button.onclick = () => this.open(lesson, +button.dataset.setup);
    }
    const list = document.getElementById("lesson-questions");
    list.replaceChildren(...lesson.questions.map((question, i) => this.question(lesson, question, i)));
    this.drawEnd();
    this.score();
    this.recall(lesson);
  },

  /** A setup as an item of the list "What runs". */
  setup(lesson, setup, number) {
    const name = lesson.setups.length > 1 ? `<strong>${escaped(setup.name)}</strong>: ` : "";
    const codes = (pairs) => pairs.map((pair) => `<code>${escaped(pair.join(" = "))}</code>`).join(", ");
    const set = setup.set?.length ? `; machine: ${codes(setup.set)}` : "";
    if (setup.do === undefined) {
      const count = setup.instructions.toLocaleString("en");
      const { counters, interval } = setup.sharing ?? {};
      const turns = counters ? `; ${counters} counters that take turns of ${interval} microseconds` : "";
      return `<li>${name}trace <code>${escaped(setup.trace)}</code>, its first ${count} instructions${turns}${set}</li>`;
    }
    const addresses = setup.names.map(([word, at]) => [word, "0x" + at.toString(16).toUpperCase()]);
    const names = addresses.length ? `; addresses: ${codes(addresses)}` : "";
    return (
      `<li>${name}state before: <code>${escaped(setup.given)}</code>; steps: <code>${escaped(setup.do)}</code>` +
      `${names}${set} <button type="button" class="open-setup" data-setup="${number}">Open in the memory view</button></li>`
    );
  },

  /** Shows a setup in the memory view, on its machine. */
  open(lesson, number) {
    this.app.change({ ...LessonBook.patch(lesson, number), view: "memory", step: 0, trace: "" });
    document.querySelector("#from-lesson .from-lesson-back").focus({ preventScroll: true });
  },

  /** The button of the next lesson, and a word about where answers are kept. */
  drawEnd() {
    const { all, app } = this;
    document.querySelector(".lesson-end").hidden = false;
    const [name, title] = all[all.findIndex(([own]) => own === this.name) + 1] ?? [];
    const next = document.getElementById("lesson-next");
    next.hidden = name === undefined;
    next.textContent = `Next lesson: ${title}`;
    next.onclick = () => {
      app.change({ lesson: name });
      document.getElementById("view").focus({ preventScroll: true });
    };
    document.getElementById("lesson-kept").textContent = app.book.progress.isKept
      ? "Answers stay in this browser."
      : "This browser keeps no answers of this page: they last until it is closed.";
  },

  question(lesson, question, number) {
    const item = document.createElement("li");
    const id = `answer-${number}`;
    const setup =
      lesson.setups.length > 1 &&
      question.names_setup &&
      !question.ask.includes(lesson.setups[question.setup].name)
        ? ` <span class="dim">(setup <code>${escaped(lesson.setups[question.setup].name)}</code>)</span>`
        : "";
    // Choices and sources of data have options; numbers have none.
    const { options } = question.answer;
    const texts = lesson.texts.questions[number];
    const field = options
      ? `<select id="${id}"><option value="">choose</option>${options
          .map((option, i) => {
            const text = escaped(texts.options[i] ?? option);
            return `<option value="${escaped(option)}">${text}</option>`;
          })
          .join("")}</select>`
      : `<input id="${id}" autocomplete="off" size="14">`;
    item.innerHTML = `
      <form><label for="${id}">${spansHtml(texts.ask)}${setup}</label>
      <span class="answer">${field} ${escaped(options ? "" : (question.unit ?? ""))}
      <button type="submit" class="main">Check</button>
      ${question.hint ? `<button type="button" class="hint">Hint</button>` : ""}
      <button type="button" class="give-up">Show the answer</button></span></form>
      <div class="hint-text dim" hidden></div><div class="verdict" role="status"></div>`;
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
        text.innerHTML = blocksHtml(texts.hint);
        text.hidden = !text.hidden;
      };
    }
    return item;
  },

  /** Shows the kept answers of a lesson, each judged by the model as it is now. */
  async recall(lesson) {
    const items = [...document.querySelectorAll("#lesson-questions > li")];
    for (const [number, { typed, done }] of this.app.book.progress.of(lesson).questions.entries()) {
      const item = items[number];
      if (typed !== null) item.querySelector("input, select").value = typed;
      if (typed === null && done === "") continue;
      await this.judge(lesson, item, number, done === "given up" ? null : typed);
      if (this.lesson !== lesson) return;
    }
  },

  /** Judges a guess; `null` gives up. */
  async guess(item, number, typed) {
    const { lesson } = this;
    const { progress } = this.app.book;
    const judged = await this.judge(lesson, item, number, typed);
    if (!judged || judged.unread) return;
    const question = progress.of(lesson).questions[number];
    // Only the first guess counts, and who has seen the answer cannot guess any more.
    question.first ||= judged.right ? "right" : "wrong";
    if (typed !== null) question.typed = typed;
    if (typed === null) question.done = "given up";
    else if (judged.right) question.done = "right";
    progress.save(lesson);
    this.score();
    this.fill();
    this.drawEnd();
  },

  /** Asks the model about an answer and shows its verdict. */
  async judge(lesson, item, question, typed) {
    const { name } = lesson;
    const place = item.querySelector(".verdict");
    place.textContent = "The model runs";
    try {
      const request = { ask: "guess", name, text: this.app.book.own[name] ?? null, question, typed };
      const judged = await this.app.model.ask(request);
      const wrong = judged.unread ? "? not read" : "\u2717 not yet";
      const sign = judged.right ? "\u2713 right" : typed === null ? "The answer" : wrong;
      const more =
        judged.truth === undefined
          ? ""
          : ` <strong>${escaped(judged.truth)}</strong>${blocksHtml(judged.blocks ?? [])}`;
      const message = judged.right || typed === null ? "" : `: ${escaped(judged.message)}`;
      place.innerHTML = `<p class="${judged.right ? "good" : "bad"}">${sign}${message}</p>${more ? `<div>${more}</div>` : ""}`;
      return judged;
    } catch (error) {
      place.innerHTML = `<p class="error">${escaped(error.message)}</p>`;
      return null;
    }
  },

  score() {
    const { questions } = this.app.book.progress.of(this.lesson);
    const right = questions.filter((one) => one.first === "right").length;
    document.getElementById("lesson-score").textContent =
      `${right} of ${questions.length} right at the first guess`;
  },
});
