// Assembly: a program as text, run here, and opened as steps in the other views.

views.push({
  id: "assembly",
  title: "Assembly",

  mount(root, app) {
    root.innerHTML = `
      <div class="asm-top">
        <label>Example <select id="asm-example"></select></label>
        <button type="button" id="asm-memory" class="main">Open in the memory view</button>
        <button type="button" id="asm-pipeline" class="main">Open in the pipeline view</button>
      </div>
      <div class="asm-parts">
        <label>Program (A64)
          <textarea id="asm-text" rows="24" spellcheck="false" autocapitalize="off" aria-describedby="asm-error"></textarea></label>
        <div><p id="asm-error" role="status"></p><div id="asm-result"></div></div>
      </div>`;
    const choice = root.querySelector("#asm-example");
    for (const { name, text } of app.tables.programs) {
      const option = document.createElement("option");
      Object.assign(option, { value: text, textContent: name });
      choice.append(option);
    }
    this.field = root.querySelector("#asm-text");
    choice.onchange = () => {
      this.field.value = choice.value;
      this.run(app);
    };
    this.field.oninput = () => this.run(app);
    const is = /^\s*\.text\s*$/m.test(app.state.do);
    this.field.value = is ? app.state.do : app.tables.programs[0].text;
    for (const view of ["memory", "pipeline"]) {
      root.querySelector("#asm-" + view).onclick = () => {
        app.change({
          view,
          do: this.field.value,
          given: app.state.given || "K0",
          step: 0,
          trace: "",
          setup: "",
        });
      };
    }
  },

  show(app) {
    return this.run(app);
  },

  /** Assembles and runs the text after a pause in typing. */
  run(app) {
    clearTimeout(this.timer);
    return new Promise((resolve) => {
      this.timer = setTimeout(() => this.assemble(app).then(resolve), 60);
    });
  },

  async assemble(app) {
    const text = this.field.value;
    const error = document.getElementById("asm-error");
    const place = document.getElementById("asm-result");
    try {
      const result = await app.model.ask({ ask: "assemble", text });
      if (text !== this.field.value) return;
      error.textContent = "";
      this.field.removeAttribute("aria-invalid");
      const rows = Object.entries(result.registers).map(
        ([name, value]) =>
          `<tr><td><code>${name}</code></td><td class="n"><code>0x${BigInt(value).toString(16)}</code></td></tr>`,
      );
      const lines = text
        .split("\n")
        .map((line, i) => [line, result.lines[i + 1] ?? 0])
        .filter(([, n]) => n > 0)
        .map(
          ([line, n]) =>
            `<tr><td class="n">${n.toLocaleString("en")}</td><td><code>${escaped(line.trim())}</code></td></tr>`,
        );
      place.innerHTML = `
        <p>${result.executed.toLocaleString("en")} instructions; stopped ${escaped(result.stopped)}.</p>
        <div class="scroll asm-tables">
        <table><caption>Executions</caption><thead><tr><th class="n">times</th><th>instruction</th></tr></thead><tbody>${lines.join("")}</tbody></table>
        <table><caption>Registers that are not 0</caption><thead><tr><th>name</th><th class="n">value</th></tr></thead><tbody>${rows.join("")}</tbody></table>
        </div>`;
    } catch (problem) {
      error.textContent = problem.message;
      error.className = "error";
      this.field.setAttribute("aria-invalid", "true");
    }
  },
});
