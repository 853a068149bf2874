// Shows one slide at a time, moved by keys and buttons. Without this script all slides follow one another.
"use strict";

const slides = [...document.querySelectorAll(".slide")];
const [back, next] = document.querySelectorAll(".bar button");
const counter = document.querySelector(".bar output");
let now = 0;

function show(wanted) {
  now = Math.max(0, Math.min(slides.length - 1, wanted));
  slides.forEach((slide, at) => slide.classList.toggle("now", at === now));
  back.disabled = now === 0;
  next.disabled = now === slides.length - 1;
  counter.value = `${now + 1} of ${slides.length}`;
  history.replaceState(null, "", `#${now + 1}`);
  scrollTo(0, 0);
}

const steps = {
  ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, Enter: 1,
  ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Backspace: -1, Home: -Infinity, End: Infinity,
};
document.addEventListener("keydown", (event) => {
  const step = steps[event.key];
  const isOfTarget = event.target.closest("a, button") && (event.key === " " || event.key === "Enter");
  if (step === undefined || isOfTarget || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  show(now + (event.key === " " && event.shiftKey ? -1 : step));
});
back.addEventListener("click", () => show(now - 1));
next.addEventListener("click", () => show(now + 1));
addEventListener("hashchange", () => show((parseInt(location.hash.slice(1), 10) || 1) - 1));
document.documentElement.classList.add("js");
show((parseInt(location.hash.slice(1), 10) || 1) - 1);
