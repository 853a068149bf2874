#!/usr/bin/env python3
"""Checks that a page of n2sim can be read: contrast of its texts, and labels of its drawings.

    check_page.py PAGE...

opens every part of each page in headless Chromium, light and dark, at three widths. It prints the number of texts and labels
that it looked at; faults are printed one a line and end the program with 1.
"""

import pathlib
import sys

from browser import browser, resize

WIDTHS = (390, 1280, 2560)
THEMES = ("light", "dark")

# Returns the faults of the page as it is shown: texts with a contrast below 4.5 (3 if large), labels of a
# drawing that overlap, and labels that the edge of their drawing cuts.
LOOK = r"""
const parsed = (text) => {
  const numbers = (text.match(/[\d.]+/g) ?? []).map(Number);
  return { rgb: numbers.slice(0, 3), alpha: numbers[3] ?? 1 };
};
const over = (top, below) => top.rgb.map((n, i) => n * top.alpha + below[i] * (1 - top.alpha));
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((n) => (n / 255 <= 0.04045 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
const canvas = parsed(getComputedStyle(document.body).backgroundColor).rgb;
const backgrounds = new Map();
const background = (element) => {
  if (!element) return canvas;
  if (!backgrounds.has(element)) {
    const style = getComputedStyle(element);
    // A bar of a share is a tint below the text.
    const tint = style.backgroundImage.match(/rgba?\([^)]*\)/);
    const own = parsed(tint ? tint[0] : style.backgroundColor);
    backgrounds.set(element, over(own, background(element.parentElement)));
  }
  return backgrounds.get(element);
};
// Returns the color below a label: that of the shape before it in its group that contains its middle, or of the page.
const belowLabel = (text) => {
  const page = background(text.ownerSVGElement);
  const box = text.getBoundingClientRect();
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  for (let at = text.previousElementSibling; at; at = at.previousElementSibling) {
    if (!["circle", "rect", "ellipse", "polygon"].includes(at.tagName)) continue;
    const own = at.getBoundingClientRect();
    const fill = getComputedStyle(at).fill;
    const isBelow = own.left <= x && x <= own.right && own.top <= y && y <= own.bottom;
    if (isBelow && fill.startsWith("rgb")) return over(parsed(fill), page);
  }
  return page;
};
const faults = [];
let texts = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.textContent.trim();
  const element = walker.currentNode.parentElement;
  if (!text || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
  if (element.closest("script,style,title")) continue;
  const style = getComputedStyle(element);
  const inSvg = element.ownerSVGElement !== null && element.ownerSVGElement !== undefined;
  const own = parsed(inSvg ? style.fill : style.color);
  // Labels of drawings have the paper around their letters.
  const below = inSvg ? belowLabel(element) : background(element);
  const is = contrast(over(own, below), below);
  const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
  texts++;
  if (is < (isLarge ? 3 : 4.5)) faults.push(`contrast ${is.toFixed(2)}: ${element.tagName} "${text.slice(0, 40)}"`);
}
let labels = 0;
for (const svg of document.querySelectorAll("svg")) {
  if (!svg.checkVisibility()) continue;
  const shown = [...svg.querySelectorAll("text")].filter((text) => text.checkVisibility() && text.textContent.trim());
  const boxes = shown.map((text) => [text.textContent.trim(), text.getBoundingClientRect()]).filter(([, box]) => box.width);
  const frame = svg.getBoundingClientRect();
  const isCut = getComputedStyle(svg).overflow !== "visible";
  labels += boxes.length;
  boxes.forEach(([name, a], at) => {
    const outside = Math.max(frame.left - a.left, a.right - frame.right, frame.top - a.top, a.bottom - frame.bottom);
    if (isCut && outside > 1) faults.push(`cut: "${name}" by ${outside.toFixed(0)} px`);
    for (const [other, b] of boxes.slice(at + 1)) {
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // The boxes of letters are higher than their ink.
      if (width > 1 && height > 0.35 * Math.min(a.height, b.height)) faults.push(`overlap: "${name}" and "${other}"`);
    }
  });
}
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
if (wide > 0) faults.push(`the page scrolls sideways by ${wide} px`);
return [texts, labels, faults];
"""


def check(chrome, page):
    """Looks at one page in every form; gives the numbers of texts and labels, and the faults."""
    chrome.get(pathlib.Path(page).resolve().as_uri())
    seen = [0, 0]
    faults = []
    for theme in THEMES:
        features = [{"name": "prefers-color-scheme", "value": theme}]
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        for width in WIDTHS:
            resize(chrome, width)
            chrome.execute_script("document.querySelectorAll('details').forEach((d) => d.open = true)")
            texts, labels, found = chrome.execute_script(LOOK)
            seen = [seen[0] + texts, seen[1] + labels]
            faults += [f"{page}, {theme}, {width} px: {fault}" for fault in found]
    return seen, faults


def main():
    """Every page that is named."""
    chrome = browser()
    seen = [0, 0]
    faults = []
    try:
        for page in sys.argv[1:]:
            own, found = check(chrome, page)
            seen = [a + b for a, b in zip(seen, own)]
            faults += found
    finally:
        chrome.quit()
    print("\n".join(faults + [f"{seen[0]} texts, {seen[1]} labels, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


main()
