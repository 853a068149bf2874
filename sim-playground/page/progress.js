// Progress through the lessons: answers that stay in this browser, and views opened from a lesson.

/** A short digest of a text: whether kept answers belong to the lesson as it is now. */
function digest(text) {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return sum.toString(16);
}

/**
 * Answers of all lessons. The browser's storage keeps them where it may; elsewhere, as for some
 * browsers on pages from disk, they last as long as the page.
 *
 * A question has `first` ("", "right" or "wrong": the first guess), `typed` (the last answer that
 * was read, or null), and `done` ("", "right" or "given up").
 */
class Progress {
  static KEY = "n2sim-lessons";

  constructor() {
    this.isKept = true;
    this.lessons = this.read();
  }

  /** Records in the storage of the browser. What has another shape is left out. */
  read() {
    try {
      const kept = JSON.parse(localStorage.getItem(Progress.KEY) || "{}");
      const isGood = ([, record]) => Array.isArray(record?.questions);
      return Object.fromEntries(Object.entries(kept ?? {}).filter(isGood));
    } catch (error) {
      // A text that another page wrote is replaced; a browser without storage keeps nothing.
      if (!(error instanceof SyntaxError)) this.isKept = false;
      return {};
    }
  }

  /** The record of a lesson. Kept answers to other questions than those of now are dropped. */
  of(lesson) {
    const mark = digest(JSON.stringify([lesson.questions, lesson.setups]));
    const record = this.lessons[lesson.name];
    const states = ["", "right", "wrong", "given up"];
    const isGood = (one) =>
      one && states.includes(one.first) && states.includes(one.done) && typeof (one.typed ?? "") === "string";
    const isSame =
      record?.mark === mark &&
      Array.isArray(record.questions) &&
      record.questions.length === lesson.questions.length &&
      record.questions.every(isGood);
    if (!isSame) {
      const questions = lesson.questions.map(() => ({ first: "", typed: null, done: "" }));
      this.lessons[lesson.name] = { mark, seen: false, questions };
    }
    return this.lessons[lesson.name];
  }

  /** Forgets the answers of a lesson. */
  forget(lesson) {
    delete this.lessons[lesson.name];
    this.save(lesson);
  }

  /** Numbers of a lesson were shown: open questions can no longer be guessed. */
  reveal(lesson) {
    const record = this.of(lesson);
    record.seen = true;
    for (const question of record.questions) question.first ||= "wrong";
    this.save(lesson);
  }

  /** Returns whether a lesson has questions that are neither answered nor given up. */
  isOpen(lesson) {
    const { seen, questions } = this.of(lesson);
    return !seen && questions.some((question) => question.done === "");
  }

  /** Keeps the record of a lesson, beside those that other windows have kept. */
  save({ name }) {
    const kept = this.read();
    delete kept[name];
    const record = this.lessons[name];
    if (record) kept[name] = record;
    try {
      localStorage.setItem(Progress.KEY, JSON.stringify(kept));
    } catch {
      this.isKept = false;
    }
  }
}

/** Lessons by name, and the setup of a lesson that the other views show. */
class LessonBook {
  constructor(app) {
    this.app = app;
    this.progress = new Progress();
    /** Texts of dropped lesson files by their names. */
    this.own = {};
    /** Lessons, or the requests for them, by name. */
    this.lessons = new Map();
    this.bar = document.getElementById("from-lesson");
    const next = app.onShow;
    app.onShow = (of) => {
      if (next) next(of);
      this.draw();
    };
  }

  /** Asks for a lesson once. */
  async lesson(name) {
    if (!this.lessons.has(name)) {
      const request = { ask: "lesson", name, text: this.own[name] ?? null };
      // A lesson of a file is known by the name of the file, with its ending.
      const asked = this.app.model.ask(request).then((lesson) => ({ ...lesson, name }));
      this.lessons.set(name, asked);
      try {
        this.lessons.set(name, await asked);
      } catch (error) {
        this.lessons.delete(name);
        throw error;
      }
    }
    return this.lessons.get(name);
  }

  /** Takes the text of a lesson file. */
  take(name, text) {
    this.own[name] = text;
    this.lessons.delete(name);
  }

  /** The change of the state that shows a setup in the other views. */
  static patch(lesson, number) {
    const { given, do: steps, set, names } = lesson.setups[number];
    // The views know no names: each gets its address.
    const plain = (text) =>
      names.reduce(
        (all, [name, at]) =>
          all.replace(new RegExp(`\\b${name}\\b`, "g"), "0x" + at.toString(16).toUpperCase()),
        text,
      );
    return {
      given: plain(given),
      do: plain(steps)
        .trim()
        .replace(/\s*\n\s*/g, " "),
      set: set.map(([key, value]) => `${key}=${String(value).replace(/^"|"$/g, "")}`),
      profile: "guide",
      machine: "",
      setup: `${lesson.name}/${number}`,
    };
  }

  /** The lesson and the number of the setup that the views show; null without one. */
  get shown() {
    const { setup } = this.app.state;
    const at = setup.lastIndexOf("/");
    if (at < 1) return null;
    const name = setup.slice(0, at);
    const lesson = this.lessons.get(name);
    const number = +setup.slice(at + 1);
    if (!lesson || lesson instanceof Promise) return { name, number };
    return lesson.setups[number]?.do === undefined ? null : { name, number, lesson };
  }

  /** Whether the views still show a setup as the lesson has it. */
  isSame({ lesson, number }) {
    const wanted = Object.entries(LessonBook.patch(lesson, number));
    return wanted.every(([key, value]) => JSON.stringify(value) === JSON.stringify(this.app.state[key]));
  }

  /** Whether counts and cycles are hidden: the setup of a lesson whose questions are open. */
  get hides() {
    const { shown } = this;
    if (!shown) return false;
    return !shown.lesson || (this.isSame(shown) && this.progress.isOpen(shown.lesson));
  }

  /** Draws the bar above a view that was opened from a lesson. */
  draw() {
    const { app, bar, shown } = this;
    const { view } = app.state;
    bar.hidden = !shown || (view !== "memory" && view !== "pipeline");
    if (bar.hidden) return;
    const { lesson, name, number } = shown;
    if (!lesson) {
      const fail = () => app.change({ setup: "" }, { quiet: true });
      this.lesson(name).then(() => app.show(), fail);
      return;
    }
    const several = lesson.setups.length > 1 ? `, setup ${lesson.setups[number].name}` : "";
    const changed = this.isSame(shown) ? "" : ", changed";
    bar.querySelector(".from-lesson-title").textContent = `Lesson “${lesson.title}”${several}${changed}`;
    const { questions } = this.progress.of(lesson);
    const left = questions.filter((one) => one.done === "").length;
    bar.querySelector(".from-lesson-note").textContent = this.hides
      ? `Counts and cycles are hidden: ${left} of ${questions.length} questions are open.`
      : "";
    const back = bar.querySelector(".from-lesson-back");
    back.onclick = () => {
      app.change({ view: "lessons", lesson: name }, { quiet: true });
      document.getElementById("view").focus({ preventScroll: true });
    };
    const reveal = bar.querySelector(".from-lesson-reveal");
    reveal.hidden = !this.hides;
    reveal.onclick = () => {
      this.progress.reveal(lesson);
      app.show();
      back.focus();
    };
  }
}
