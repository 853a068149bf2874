#!/usr/bin/env python3
"""Checks that pages and drawings of n2sim can be read, in headless Chromium.

    check_page.py PAGE...                        these pages (*.html) and drawings (*.svg)
    check_page.py --program target/release/n2sim every kind of page and drawing that the program writes

Each page is looked at in all its states (views and lessons of the playground, all slides of a deck, all folded
parts opened), light and dark, at three widths. Faults are: texts with too little contrast, texts that overlap or are
cut, labels of a drawing outside of it, labels that are too small to read, and a page that scrolls sideways.

`--table` prints a row for each page, width and theme. `--screens DIR` saves what was seen; `--vision protanopia` shows it
as a reader with that color vision sees it. Faults are printed one a line and end the program with 1.
"""

import argparse
import base64
import collections
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

from browser import browser

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WIDTHS = (390, 1280, 2560)
THEMES = ("light", "dark")
# Highest screen that is saved, in pixels.
HIGHEST = 6000

# Pages that the program writes: name of the file, arguments.
PAGES = {
    "report-hash.html": "report traces/hash.n2t --limit 60k",
    "report-threads.html": "report traces/atomics.n2t --limit 60k",
    "report-eight.html": "report traces/parallel/queue.n2t --limit 20k",
    "report-system.html": "report traces/system.n2t --limit 60k",
    "report-a53.html": "report --core cortex-a53 traces/btree.n2t --limit 60k",
    "flow-access.html": "flow --access 'LD8 0x8000 ; LD8 0x8008' --state cold --html",
    "flow-cases.html": "flow docs/book/scenarios/12-sharing.toml --html",
    "flow-trace.html": "flow traces/hash.n2t --limit 60k --html",
    "flow-a53.html": "flow --core cortex-a53 traces/hash.n2t --limit 60k --html",
    "diff-runs.html": "diff --runs traces/hash.n2t traces/btree.n2t --limit 60k --html",
    "diff-configs.html": "diff --runs traces/hash.n2t --to silicon --limit 60k --html",
    "playground.html": "playground",
    "flow.svg": "flow traces/sort.n2t --limit 60k --flow 5.4 --svg",
    "flow-a53.svg": "flow --core cortex-a53 traces/hash.n2t --limit 60k --flow load --svg",
    "explain.svg": "explain L1D_CACHE_REFILL --svg",
    "pipeline.svg": "pipeline traces/btree.n2t --window 20000..20040 --svg",
    "pipeline-a53.svg": "pipeline --core cortex-a53 traces/btree.n2t --window 20000..20040 --svg",
    "latency.svg": "membench --quick",
    "tlb.svg": "membench tlb",
    "bandwidth.svg": "membench bandwidth",
    "core-to-core.svg": "membench core-to-core",
    "errors.svg": "validate traces/hash.n2t --limit 60k --plot",
}
# Directories of pages or drawings.
DIRECTORIES = {
    "book": "book -o",
    "course": "course",
    "spe": "spe --compare-with traces/hash.n2t --intervals 256,1024 --figures",
}
# A grid with two keys, for the drawings of a sweep.
GRID = """traces = ["{0}/traces/hash.n2t", "{0}/traces/btree.n2t"]
limit = "60k"
metrics = ["ipc"]
[[vary]]
key = "memory.l2.size-bytes"
values = ["256K", "512K", "1M"]
[[vary]]
key = "pipeline.window.rob"
values = [80, 160]
"""

# Returns the numbers of texts and of labels of the page as it is shown, and its faults.
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
const common = (a, b) => ({ left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
  top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom) });
const isEmpty = (box) => box.right - box.left < 1 || box.bottom - box.top < 1;
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const everywhere = { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9 };
const known = new Map();
// What surrounds an element: the color below it, its opacity, the part of the page in which it is shown, the part
// outside of which it is lost (not only scrolled away), and whether it floats over others.
const around = (element) => {
  if (!element) {
    const paper = isDark ? [18, 18, 18] : [255, 255, 255];
    return { color: paper, opacity: 1, shown: everywhere, kept: everywhere, floats: false };
  }
  if (!known.has(element)) {
    const outer = around(element.parentElement);
    const style = getComputedStyle(element);
    // A bar of a share is a tint below the text.
    const tint = style.backgroundImage.match(/rgba?\([^)]*\)/);
    const own = { ...outer, opacity: outer.opacity * style.opacity };
    own.color = over(parsed(tint ? tint[0] : style.backgroundColor), outer.color);
    own.floats ||= ["sticky", "fixed"].includes(style.position);
    if (style.overflowX !== "visible" && element !== document.body && element.clientWidth > 2) {
      const box = element.getBoundingClientRect();
      own.shown = common(outer.shown, box);
      own.kept = ["auto", "scroll"].includes(style.overflowX) ? everywhere : common(outer.kept, box);
    } else if (style.overflowX !== "visible" && element.clientWidth <= 2) own.isForReaders = true;
    known.set(element, own);
  }
  return known.get(element);
};
// The color below a label: that of the topmost shape drawn before it that contains its middle, or of the page.
const shapes = new Map();
const belowLabel = (text, style) => {
  const page = around(text.ownerSVGElement).color;
  if (style.paintOrder.startsWith("stroke") && parseFloat(style.strokeWidth) >= 2 && style.stroke.startsWith("rgb"))
    return over(parsed(style.stroke), page);
  let svg = text.ownerSVGElement;
  while (svg.ownerSVGElement) svg = svg.ownerSVGElement;
  if (!shapes.has(svg)) shapes.set(svg, [...svg.querySelectorAll("circle,rect,ellipse,polygon,path")].reverse());
  const box = text.getBoundingClientRect();
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  for (const shape of shapes.get(svg)) {
    if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
    const own = shape.getBoundingClientRect();
    if (x < own.left || x > own.right || y < own.top || y > own.bottom || shape.closest("defs")) continue;
    const { fill, fillOpacity } = getComputedStyle(shape);
    const at = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
    if (!fill.startsWith("rgb") || !shape.isPointInFill(at)) continue;
    const color = parsed(fill);
    return over({ rgb: color.rgb, alpha: color.alpha * fillOpacity }, page);
  }
  return page;
};
const faults = [];
const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);
const expectContrast = (text, color, opacity, below, style) => {
  const is = contrast(over({ rgb: color.rgb, alpha: color.alpha * opacity }, below), below);
  const size = parseFloat(style.fontSize);
  const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
  if (is < least) faults.push(`contrast ${is.toFixed(2)}: "${short(text)}"`);
};
const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
const boxes = [];
let texts = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const range = document.createRange();
while (walker.nextNode()) {
  const text = walker.currentNode.textContent;
  const element = walker.currentNode.parentElement;
  if (!text.trim() || element.closest("script,style,title,option,textarea") || !isShown(element)) continue;
  const style = getComputedStyle(element);
  const { color, opacity, shown, kept, floats, isForReaders } = around(element);
  if (isForReaders) continue;
  texts++;
  if (element.ownerSVGElement) {
    expectContrast(text, parsed(style.fill), opacity * style.fillOpacity, belowLabel(element, style), style);
    continue;
  }
  expectContrast(text, parsed(style.color), opacity, color, style);
  range.selectNodeContents(walker.currentNode);
  for (const box of range.getClientRects()) {
    if (box.right <= 0 || isEmpty(box)) continue;
    const inside = common(box, kept);
    if (box.right - inside.right > 1.5 && !isEmpty(inside) || box.bottom - inside.bottom > 0.3 * box.height)
      faults.push(`cut: "${short(text)}"`);
    const seen = common(box, shown);
    if (!floats && !isEmpty(seen)) boxes.push({ text, element, box: seen });
  }
}
boxes.sort((a, b) => a.box.top - b.box.top);
boxes.forEach(({ text, element, box }, at) => {
  for (let next = at + 1; next < boxes.length && boxes[next].box.top < box.bottom; next++) {
    const other = boxes[next];
    const { left, right, top, bottom } = common(box, other.box);
    // The boxes of letters are higher than their ink.
    const least = Math.min(box.bottom - box.top, other.box.bottom - other.box.top);
    if (right - left > 1.5 && bottom - top > 0.35 * least && element !== other.element)
      faults.push(`overlap: "${short(text)}" and "${short(other.text)}"`);
  }
});
const measure = document.createElement("canvas").getContext("2d");
for (const field of document.querySelectorAll("input,select,textarea")) {
  if (!isShown(field) || ["checkbox", "radio", "range"].includes(field.type)) continue;
  const style = getComputedStyle(field);
  const text = field.tagName === "SELECT" ? field.selectedOptions[0]?.text : field.value;
  if (!text) continue;
  texts++;
  expectContrast(text, parsed(style.color), style.opacity, around(field).color, style);
  measure.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  // The rest is seen when the field is used: a fault is a text of which less than two thirds are shown.
  const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const wants = measure.measureText(text).width + (field.tagName === "SELECT" ? 14 : 0);
  if (field.tagName !== "TEXTAREA" && wants * 0.67 > room) faults.push(`cut: "${short(text)}" in a field`);
}
// The box of a label in a frame that is turned as the label is.
const turned = (text) => {
  const matrix = text.getScreenCTM();
  const angle = Math.atan2(matrix.b, matrix.a);
  const { x, y, width, height } = text.getBBox();
  const corners = [[x, y], [x + width, y], [x, y + height], [x + width, y + height]].map(([x, y]) =>
    new DOMPoint(x, y).matrixTransform(matrix).matrixTransform(new DOMMatrix().rotate((-angle * 180) / Math.PI)));
  const [left, right] = [Math.min, Math.max].map((end) => end(...corners.map((corner) => corner.x)));
  const [top, bottom] = [Math.min, Math.max].map((end) => end(...corners.map((corner) => corner.y)));
  return { angle, left, right, top, bottom, height: bottom - top };
};
let labels = 0;
for (const svg of document.querySelectorAll("svg")) {
  if (!svg.checkVisibility()) continue;
  const shown = [...svg.querySelectorAll("text")].filter((text) => isShown(text) && text.textContent.trim());
  const boxes = shown.map((text) => [short(text.textContent), text.getBoundingClientRect(), text])
    .filter(([, box]) => box.width);
  const frame = svg.getBoundingClientRect();
  const isCut = getComputedStyle(svg).overflow !== "visible";
  labels += boxes.length;
  boxes.forEach(([name, a, text], at) => {
    const outside = Math.max(frame.left - a.left, a.right - frame.right, frame.top - a.top, a.bottom - frame.bottom);
    if (isCut && outside > 1) faults.push(`cut: "${name}" by ${outside.toFixed(0)} px`);
    const scale = Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b);
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (arguments[0] && size < arguments[0]) faults.push(`small, ${size.toFixed(1)} px: "${name}"`);
    const own = turned(text);
    for (const [other, b, second] of boxes.slice(at + 1)) {
      if (isEmpty(common(a, b))) continue;
      const box = turned(second);
      const [from, to] = Math.abs(own.angle - box.angle) < 0.01 ? [own, box] : [a, b];
      const { left, right, top, bottom } = common(from, to);
      if (right - left > 1 && bottom - top > 0.35 * Math.min(from.height, to.height))
        faults.push(`overlap: "${name}" and "${other}"`);
    }
  });
}
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
if (wide > 0) faults.push(`the page scrolls sideways by ${wide} px`);
if (texts < 10 && arguments[0]) faults.push(`the page shows only ${texts} texts`);
return [texts, labels, faults];
"""

# Opens what is folded or hidden until it is asked for.
OPEN = """
for (const part of [document.documentElement, document.body]) part.classList.remove("js");
document.querySelectorAll("details").forEach((part) => part.open = true);
document.querySelectorAll("[popover]").forEach((card) => { card.popover = null; card.style.position = "static"; });
"""


def wait(chrome, condition):
    """Waits until a condition holds in the page."""
    for _ in range(600):
        if chrome.execute_script(f"return Boolean({condition})"):
            return
        time.sleep(0.1)
    sys.exit(f"check_page: never: {condition}")


def settle(chrome):
    """Waits until the playground has drawn: its model answers in the order of the questions."""
    for _ in range(2):
        chrome.execute_async_script("playground.model.ask({ask: 'lessons'}).then(() => setTimeout(arguments[0], 250))")


def playground_states(chrome):
    """Each view, the machine beside it, and each lesson with the answers of all its questions."""
    wait(chrome, "window.playground?.tables")
    for view in ("memory", "pipeline", "counters", "assembly"):
        chrome.execute_script("playground.change({view: arguments[0], step: 3}, {quiet: true})", view)
        settle(chrome)
        yield view
    chrome.execute_script("playground.change({view: 'memory'}); document.getElementById('machine-button').click()")
    settle(chrome)
    yield "machine"
    chrome.execute_script("document.getElementById('machine-button').click()")
    asked = "playground.model.ask({ask: 'lessons'}).then((all) => arguments[0](all.map((lesson) => lesson.name)))"
    for lesson in chrome.execute_async_script(asked):
        chrome.execute_script("playground.change({view: 'lessons', lesson: arguments[0]})", lesson)
        settle(chrome)
        for at in range(len(chrome.find_elements("css selector", "#lesson-questions > li"))):
            question = f"document.querySelectorAll('#lesson-questions > li')[{at}]"
            chrome.execute_script(f"{question}.querySelector('.give-up').click()")
            wait(chrome, f"{question}.querySelector('.verdict strong')")
        settle(chrome)
        yield lesson


def states(chrome, page):
    """Opens a page and shows its states one after the other."""
    if page.suffix == ".svg":
        # The drawing scales as it does in a document.
        text = page.read_text("utf-8")
        head = "<!doctype html><meta charset=utf-8><style>:root{color-scheme:light dark}svg{max-width:100%;height:auto}</style>"
        file = pathlib.Path(tempfile.gettempdir()) / f"check-page-{page.name}.html"
        file.write_text(head + text[text.index("<svg"):], "utf-8")
        chrome.get(file.as_uri())
        file.unlink()
    else:
        chrome.get(page.as_uri())
    if page.name.startswith("playground"):
        yield from playground_states(chrome)
    else:
        chrome.execute_script(OPEN)
        yield ""


def save_screen(chrome, file, width):
    """Saves the page from its top, as high as it is."""
    height = chrome.execute_script("return Math.max(900, document.documentElement.scrollHeight)")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, HIGHEST), "scale": 1}
    shot = chrome.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(base64.b64decode(shot["data"]))


def check(chrome, page, args):
    """Looks at one page in every form; gives rows of: state, theme, width, texts, labels, faults."""
    rows = []
    for state in states(chrome, page):
        for theme in args.themes:
            features = [{"name": "prefers-color-scheme", "value": theme}]
            chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            for width in args.widths:
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                if state:
                    settle(chrome)
                # A drawing by itself can be enlarged.
                smallest = None if page.suffix == ".svg" else 8
                rows.append((state, theme, width, *chrome.execute_script(LOOK, smallest)))
                if args.screens:
                    name = "-".join(filter(None, [page.stem, state, args.vision, theme, str(width)]))
                    save_screen(chrome, args.screens / page.parent.name / f"{name}.png", width)
    return rows


def make_pages(program, folder):
    """Lets the program write its pages and drawings into a directory; gives their files."""
    def run(text, *rest):
        subprocess.run([program, *shlex.split(text), *rest], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)

    for name, text in PAGES.items():
        run(text if text.endswith("--plot") else text + " -o", folder / name)
    (folder / "spe").mkdir()
    for name, text in DIRECTORIES.items():
        run(text, folder / name)
    grid = folder / "grid.toml"
    grid.write_text(GRID.format(REPOSITORY))
    run("sweep", grid, "-o", folder / "sweep.csv", "--plots", folder / "sweep")
    return sorted([*folder.rglob("*.html"), *folder.rglob("*.svg")])


def print_table(found):
    """One row for each page or directory of pages, theme and width."""
    base = pathlib.Path(os.path.commonpath([page.parent for page, _ in found]))
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for page, rows in found:
        folder = page.parent.relative_to(base)
        for state, theme, width, texts, labels, faults in rows:
            kind = page.name if folder == pathlib.Path() else f"{folder}/*{page.suffix}"
            key = f"{kind} {state}".strip(), theme, width
            sums[key] = [a + b for a, b in zip(sums[key], (1, texts, labels, len(faults)))]
    print("| page | theme | width | files | texts | labels | faults |\n|---|---|---|---|---|---|---|")
    for key, numbers in sums.items():
        print("| " + " | ".join(map(str, [*key, *numbers])) + " |")


def main():
    """Every page that is named, or that the program writes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, help="write all pages with this program and check them")
    parser.add_argument("--keep", type=pathlib.Path, help="directory for the pages of --program")
    parser.add_argument("--table", action="store_true", help="print a row for each page, theme and width")
    parser.add_argument("--screens", type=pathlib.Path, help="directory for the screens")
    parser.add_argument("--vision", help="protanopia, deuteranopia, tritanopia or achromatopsia")
    parser.add_argument("--widths", type=lambda text: [int(n) for n in text.split(",")], default=WIDTHS)
    parser.add_argument("--themes", type=lambda text: text.split(","), default=THEMES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        pages = [page.resolve() for page in args.pages]
        if args.program:
            folder = (args.keep or pathlib.Path(temporary)).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            pages += make_pages(args.program.resolve(), folder)
        chrome = browser()
        chrome.set_script_timeout(300)
        try:
            if args.vision:
                chrome.execute_cdp_cmd("Emulation.setEmulatedVisionDeficiency", {"type": args.vision})
            found = [(page, check(chrome, page, args)) for page in pages]
        finally:
            chrome.quit()
    if args.table:
        print_table(found)
    lines = [f"{page}{state and f' {state}'}, {theme}, {width} px: {fault}"
             for page, rows in found for state, theme, width, _, _, faults in rows for fault in faults]
    texts, labels = (sum(row[at] for _, rows in found for row in rows) for at in (3, 4))
    print("\n".join(lines + [f"{texts} texts, {labels} labels, {len(lines)} faults"]))
    sys.exit(1 if lines else 0)


main()
