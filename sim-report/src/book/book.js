// Theme, search and keys of the book's pages. They are readable without this script.
"use strict";

const themes = ["system", "light", "dark"];
// A browser may refuse to store anything for pages from disk: the theme then lasts for one page.
const stored = () => { try { return localStorage.getItem("n2sim-theme"); } catch { return null; } };
let theme = themes.includes(stored()) ? stored() : "system";

function setTheme(name) {
  theme = name;
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  try { localStorage.setItem("n2sim-theme", name); } catch { /* see above */ }
}
setTheme(theme);

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// Returns entries that have all words, headings before titles before texts.
function find(words) {
  const found = [];
  for (const entry of window.bookIndex ?? []) {
    const [heading, title, text] = [entry.h, entry.p, entry.t].map((part) => part.toLowerCase());
    let score = 0;
    const hasAll = words.every((word) => {
      const points = (heading.includes(word) && 9) || (title.includes(word) && 3) || (text.includes(word) && 1);
      score += points || 0;
      return points;
    });
    if (hasAll) found.push([score, entry]);
  }
  return found.sort((a, b) => b[0] - a[0]).map(([, entry]) => entry);
}

// Returns a part of the text around the first word, with every word marked.
function excerpt(text, words) {
  const small = text.toLowerCase();
  const at = Math.min(...words.map((word) => small.indexOf(word)).filter((i) => i >= 0), text.length);
  const start = at === text.length || at < 50 ? 0 : text.indexOf(" ", at - 50) + 1;
  const part = escaped((start > 0 ? "... " : "") + text.slice(start, start + 150));
  const pattern = words.map((word) => escaped(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return part.replace(new RegExp(`(?!#?\\d+;)(${pattern})`, "gi"), "<mark>$1</mark>");
}

function searchBox() {
  const [input, list, count] = ["words", "found", "found-count"].map((id) => document.getElementById(id));
  const close = () => { list.hidden = true; count.textContent = ""; };
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const found = find(words);
    count.textContent = found.length === 1 ? "1 place" : `${found.length} places`;
    list.hidden = found.length === 0;
    list.innerHTML = found.slice(0, 30).map((entry) =>
      `<li><a href="${escaped(entry.a)}"><b>${escaped(entry.h)}</b>${entry.h === entry.p ? "" : ` in ${escaped(entry.p)}`}` +
      `<small>${excerpt(entry.t, words)}</small></a></li>`).join("");
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) close(); });
  list.addEventListener("click", close);
  input.closest(".search").addEventListener("keydown", (key) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (key.key === "ArrowDown") links[at + 1]?.focus();
    else if (key.key === "ArrowUp") (links[at - 1] ?? input).focus();
    else if (key.key === "Enter" && at < 0) links[0]?.click();
    else if (key.key === "Escape") { close(); input.blur(); }
    else return;
    key.preventDefault();
  });
}

function keys() {
  document.addEventListener("keydown", (key) => {
    if (key.ctrlKey || key.altKey || key.metaKey || key.defaultPrevented) return;
    if (key.target.closest("input, .search, pre, .wide, .drawing")) return;
    const turn = { ArrowLeft: "prev", ArrowRight: "next" }[key.key];
    if (turn) document.querySelector(`.neighbors [rel="${turn}"]`)?.click();
    else if (key.key === "/") document.getElementById("words").focus();
    else return;
    key.preventDefault();
  });
}

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  const label = () => { button.textContent = `Theme: ${theme}`; };
  label();
  button.addEventListener("click", () => {
    setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
    label();
  });
  const contents = document.querySelector(".contents");
  if (matchMedia("(max-width: 63.99rem)").matches) contents.open = false;
  document.querySelector(".contents [aria-current]")?.scrollIntoView({ block: "nearest" });
  window.scrollTo(0, location.hash ? window.scrollY : 0);
  searchBox();
  keys();
  // Boxes that scroll are stops of the keyboard.
  const stops = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll("pre, .wide, .drawing").forEach((box) => stops.observe(box));
});
