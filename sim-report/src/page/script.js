// Sorts and filters tables, chooses items, moves through trees by arrow keys, and makes boxes
// keyboard stops only if they scroll. The page is readable without this script. The script stores
// nothing.
"use strict";

const value = (row, at) => {
  const cell = row.cells[at];
  return cell.dataset.value ?? cell.textContent.trim();
};

// Compares numbers by value, with missing values last, and words alphabetically.
function compare(a, b, isNumber) {
  if (!isNumber) return a.localeCompare(b);
  const [x, y] = [parseFloat(a), parseFloat(b)];
  if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
  return x - y;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const isNumber = head.classList.contains("number");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      // The first click sorts numbers from the largest, words from the first.
      const first = isNumber ? "descending" : "ascending";
      const other = isNumber ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const rows = [...table.tBodies[0].rows];
      const sign = order === "ascending" ? 1 : -1;
      rows.sort((a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        const isLast = isNumber && (isNaN(parseFloat(x)) || isNaN(parseFloat(y)));
        return (isLast ? 1 : sign) * compare(x, y, isNumber);
      });
      table.tBodies[0].append(...rows);
    });
  });
}

function filterable(table) {
  const tools = document.createElement("div");
  tools.className = "tools";
  const label = document.createElement("label");
  label.append("Filter rows: ");
  const input = document.createElement("input");
  input.type = "search";
  input.setAttribute("aria-controls", table.id);
  label.append(input);
  const shown = document.createElement("output");
  tools.append(label, shown);
  const box = table.closest(".wide") ?? table;
  box.before(tools);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    });
    const left = rows.filter((row) => !row.hidden).length;
    shown.textContent = words.length ? `${left} of ${rows.length} rows` : "";
  });
  input.addEventListener("keydown", (key) => {
    if (key.key !== "Escape") return;
    input.value = "";
    input.dispatchEvent(new Event("input"));
  });
}

// Adds a choice for each property that the box names, such as data-section of its items, and a box
// for words. Shows the items that have them all, and of the groups those that have such an item.
// Values are separated by a bar.
function choosable(box) {
  const items = [...box.querySelectorAll("[data-item]")];
  const tools = document.createElement("div");
  tools.className = "tools facets";
  const field = (name, kind) => {
    const label = document.createElement("label");
    const control = document.createElement(kind);
    label.append(`${name[0].toUpperCase()}${name.slice(1)}: `, control);
    tools.append(label);
    return control;
  };
  const choices = box.dataset.facets.split(" ").map((name) => {
    const values = [...new Set(items.flatMap((item) => item.dataset[name].split("|")))].filter(Boolean);
    values.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const select = field(name, "select");
    select.append(new Option("all", ""), ...values.map((value) => new Option(value)));
    return [name, select];
  });
  const words = field("words", "input");
  words.type = "search";
  const shown = document.createElement("output");
  tools.append(shown);
  box.prepend(tools);
  const cases = items.filter((item) => item.tagName === "DETAILS");
  const update = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    items.forEach((item) => {
      const has = ([name, select]) => !select.value || item.dataset[name].split("|").includes(select.value);
      const text = wanted.length ? item.textContent.toLowerCase() : "";
      item.hidden = !choices.every(has) || !wanted.every((word) => text.includes(word));
    });
    box.querySelectorAll("[data-group]").forEach((group) => {
      group.hidden = !group.querySelector("[data-item]:not([hidden])");
    });
    shown.textContent = `${cases.filter((item) => !item.hidden).length} of ${cases.length} cases`;
  };
  for (const event of ["input", "change"]) tools.addEventListener(event, update);
  update();
}

// Keys in a tree of details: right opens, left closes or moves to the parent, up and down move
// along.
function arrows(tree) {
  const isShown = (summary) => {
    for (let at = summary.parentElement.parentElement; at !== tree; at = at.parentElement) {
      if (at.tagName === "DETAILS" && !at.open) return false;
    }
    return true;
  };
  tree.addEventListener("keydown", (key) => {
    const summary = key.target.closest("summary");
    if (!summary || key.ctrlKey || key.altKey || key.metaKey) return;
    const branch = summary.parentElement;
    const above = branch.parentElement.closest("details");
    const all = [...tree.querySelectorAll("summary")].filter(isShown);
    const at = all.indexOf(summary);
    if (key.key === "ArrowRight") branch.open ? all[at + 1]?.focus() : (branch.open = true);
    else if (key.key === "ArrowLeft" && branch.open) branch.open = false;
    else if (key.key === "ArrowLeft" && above && tree.contains(above)) above.querySelector("summary").focus();
    else if (key.key === "ArrowDown") all[at + 1]?.focus();
    else if (key.key === "ArrowUp") all[at - 1]?.focus();
    else return;
    key.preventDefault();
  });
}

const stops = new ResizeObserver((boxes) => {
  for (const { target } of boxes) {
    const scrolls = target.scrollWidth > target.clientWidth + 1 || target.scrollHeight > target.clientHeight + 1;
    target.tabIndex = scrolls ? 0 : -1;
    target.classList.toggle("has-more", target.scrollWidth > target.clientWidth + 1);
  }
});

document.querySelectorAll("table[id]").forEach((table) => {
  if (table.tBodies[0].rows.length > 1) sortable(table);
  if (table.hasAttribute("data-filter")) filterable(table);
});
document.querySelectorAll("[data-facets]").forEach(choosable);
document.querySelectorAll(".tree").forEach(arrows);
document.querySelectorAll(".wide").forEach((box) => stops.observe(box));
