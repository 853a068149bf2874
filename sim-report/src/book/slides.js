// Shows one slide at a time. Without this script the slides follow one another on one page.
"use strict";
const slides = [...document.querySelectorAll(".slide")];
const count = document.getElementById("count");
const read = () => Math.min(Math.max(parseInt(location.hash.slice(1), 10) || 1, 1), slides.length) - 1;
let now = read();

function show(at) {
  now = Math.min(Math.max(at, 0), slides.length - 1);
  slides.forEach((slide, i) => slide.classList.toggle("now", i === now));
  count.textContent = `${now + 1} of ${slides.length}`;
  history.replaceState(null, "", `#${now + 1}`);
  window.scrollTo(0, 0);
}

document.body.classList.add("js");
show(now);
document.getElementById("back").addEventListener("click", () => show(now - 1));
document.getElementById("next").addEventListener("click", () => show(now + 1));
window.addEventListener("hashchange", () => show(read()));
document.addEventListener("keydown", (key) => {
  if (key.ctrlKey || key.altKey || key.metaKey) return;
  const isButton = key.target.closest("a, button");
  if (["ArrowRight", "PageDown"].includes(key.key) || (key.key === " " && !isButton)) show(now + 1);
  else if (["ArrowLeft", "PageUp"].includes(key.key)) show(now - 1);
  else if (key.key === "Home") show(0);
  else if (key.key === "End") show(slides.length - 1);
  else return;
  key.preventDefault();
});
