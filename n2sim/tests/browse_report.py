#!/usr/bin/env python3
"""Uses the page of `n2sim report` as a reader would, in headless Chromium, from disk.

    browse_report.py PAGE

prints how many checks held; the first that does not ends the program with what was seen.
"""

import json
import pathlib
import sys

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import DONE, browser, expect, resize


def drill(chrome):
    """Opens the largest branch of the tree, level by level, down to instructions."""
    branch = chrome.find_element(By.ID, "slots")
    depth = 0
    while True:
        below = branch.find_elements(By.CSS_SELECTOR, ":scope > ul > li > details")
        if not below:
            break
        branch = max(below, key=lambda one: int(one.get_attribute("data-slots")))
        # The way to the cause that cost most is open already: a click has to open it again.
        chrome.execute_script("arguments[0].open = false", branch)
        branch.find_element(By.CSS_SELECTOR, ":scope > summary").click()
        expect_open = branch.get_attribute("open")
        if expect_open is None:
            sys.exit("browse_report: a branch does not open")
        depth += 1
    rows = branch.find_elements(By.CSS_SELECTOR, "table tbody tr")
    expect(depth >= 2 and rows and rows[0].is_displayed(), f"drilled {depth} deep, {len(rows)} rows")


def keys(chrome):
    """Walks the tree with the keyboard."""
    first = chrome.find_element(By.CSS_SELECTOR, ".tree summary")
    branch = first.find_element(By.XPATH, "..")
    chrome.execute_script("arguments[0].open = false; arguments[1].focus()", branch, first)
    first.send_keys(Keys.ARROW_RIGHT)
    is_open = branch.get_attribute("open") is not None
    first.send_keys(Keys.ARROW_RIGHT)
    inner = chrome.switch_to.active_element
    is_inside = inner != first and inner.tag_name == "summary"
    inner.send_keys(Keys.ARROW_LEFT)
    inner.send_keys(Keys.ARROW_LEFT)
    first.send_keys(Keys.ARROW_LEFT)
    is_closed = branch.get_attribute("open") is None
    expect(is_open and is_inside and is_closed, f"arrows: {is_open} {is_inside} {is_closed}")


def shown(chrome, table):
    """Texts of the first cells of the rows that are not filtered away."""
    script = """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
        .filter((row) => !row.hidden).map((row) => row.cells[0].textContent)"""
    return chrome.execute_script(script, table)


def filter_and_sort(chrome):
    """Filters the events by a name, then sorts them by their count."""
    box = chrome.find_element(By.CSS_SELECTOR, "input[aria-controls=events]")
    before = shown(chrome, "events")
    box.send_keys("l1d_cache_refill")
    after = shown(chrome, "events")
    is_right = 0 < len(after) < len(before) and all("L1D_CACHE_REFILL" in name for name in after)
    expect(is_right, f"filtered to {after}")
    box.send_keys(Keys.ESCAPE)
    expect(shown(chrome, "events") == before, "escape shows all rows again")
    chrome.find_element(By.CSS_SELECTOR, "#events thead th:nth-child(2) button").click()
    script = """return [...document.querySelectorAll("#events tbody tr")]
        .map((row) => Number(row.cells[1].dataset.value))"""
    values = chrome.execute_script(script)
    expect(values == sorted(values, reverse=True) and values[0] > 0, f"sorted: {values[:5]}")


def card(chrome):
    """Opens the card of an event by click and by key, and closes it."""
    link = chrome.find_element(By.CSS_SELECTOR, "#cache-table a.event")
    own = chrome.find_element(By.ID, f"event-{link.text}")
    before = own.is_displayed()
    chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    top = chrome.execute_script("return arguments[0].getBoundingClientRect().top", own)
    is_open = own.is_displayed() and "Counts" in own.text and 0 <= top < 900
    expect(not before and is_open, f"{link.text}: {top}, {own.text[:40]}")
    chrome.switch_to.active_element.send_keys(Keys.ESCAPE)
    is_closed = not own.is_displayed()
    link.send_keys(Keys.ENTER)
    opened = own.is_displayed()
    own.find_element(By.CSS_SELECTOR, "button").send_keys(Keys.ENTER)
    expect(is_closed and opened and not own.is_displayed(), f"keys of the card: {is_closed} {opened}")


def finding(chrome):
    """Follows the first finding to its instruction, inside a listing that was closed."""
    link = chrome.find_element(By.CSS_SELECTOR, ".findings li a[href^='#at-']")
    chrome.execute_script("document.querySelectorAll('.listing').forEach((one) => { one.open = false })")
    target = chrome.find_element(By.ID, link.get_attribute("href").split("#")[1])
    visible = "return arguments[0].checkVisibility()"
    before = chrome.execute_script(visible, target)
    text = chrome.find_element(By.CSS_SELECTOR, ".findings li").text
    link.click()
    top = chrome.execute_script("return arguments[0].getBoundingClientRect().top", target)
    is_there = not before and chrome.execute_script(visible, target) and 0 <= top < 900
    expect(is_there and "Threshold: " in text and "%" in text, f"finding: {before}, {top}, {text}")
    chrome.execute_script("window.scrollTo(0, 0)")


def fits(chrome):
    """The page is short, and tables of code need no scrolling sideways."""
    height = chrome.execute_script("return document.documentElement.scrollHeight")
    script = """return [...document.querySelectorAll("#functions, #instructions, [id^=listing-] table")]
        .filter((table) => table.checkVisibility() && table.offsetWidth > table.closest(".wide").clientWidth)
        .map((table) => `${table.id}: ${table.offsetWidth}`)"""
    cut = chrome.execute_script(script)
    expect(height < 20000 and not cut, f"{height} px high; too wide: {cut}")


def counts(chrome):
    """Numbers that an interval changes: all slots, the slots of the tree, the events, the hot instructions."""
    script = """const number = (text) => Number(text.replaceAll(",", "").replace(/ slots$/, ""));
        const cells = (table, at) => [...document.querySelectorAll(`#${table} tbody tr`)]
            .map((row) => Number(row.cells[at].dataset.value));
        return {
            all: number(document.querySelector(".pipe-total").textContent),
            tree: [...document.querySelectorAll(".tree > li > * .share")].length,
            retiring: number(document.querySelector("#slots-retiring .slots").textContent),
            events: cells("events", 1), code: cells("instructions", 2),
            picture: document.querySelector("svg.pipe g.branch:nth-child(2) rect").getAttribute("height"),
        }"""
    return chrome.execute_script(script)


def set_range(chrome, ends):
    """Sets the ends of the interval by the keys of its sliders."""
    for name, keys in ends:
        slider = chrome.find_element(By.ID, f"interval-{name}")
        slider.send_keys(*keys)


def brush(chrome):
    """Selects an interval with the pointer and with keys; two halves add up to the whole."""
    whole = counts(chrome)
    last = int(chrome.find_element(By.ID, "interval-to").get_attribute("max"))
    half = last // 2
    set_range(chrome, [("to", [Keys.HOME, *[Keys.ARROW_RIGHT] * (half - 1)])])
    left = counts(chrome)
    set_range(chrome, [("to", [Keys.END]), ("from", [Keys.HOME, *[Keys.ARROW_RIGHT] * half])])
    right = counts(chrome)
    is_sum = left["all"] + right["all"] == whole["all"] > left["all"] > 0
    is_sum = is_sum and left["retiring"] + right["retiring"] == whole["retiring"]
    expect(is_sum, f"slots: {left['all']} + {right['all']}, {whole['all']}")
    events = [(a or 0) + (b or 0) for a, b in zip(left["events"], right["events"])]
    expect(events == whole["events"], "events of two halves add up")
    code = [(a or 0) + (b or 0) for a, b in zip(left["code"][:50], right["code"][:50])]
    expect(code == whole["code"][:50], f"slots of instructions: {code[:3]}, {whole['code'][:3]}")
    text = chrome.find_element(By.ID, "interval-said").text
    is_marked = chrome.find_elements(By.CSS_SELECTOR, ".panel-plot .chosen")
    expect("interval alone" in text and is_marked, f"says: {text}")
    button = chrome.find_element(By.CSS_SELECTOR, "#interval-tools button")
    button.click()
    expect(counts(chrome) == whole, "the whole run is shown again")
    plot = chrome.find_element(By.CSS_SELECTOR, ".panel-plot")
    chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    actions = ActionChains(chrome)
    actions.move_to_element_with_offset(plot, -100, 0).click_and_hold().move_by_offset(120, 0).perform()
    values = [value.text for value in chrome.find_elements(By.CSS_SELECTOR, "[data-series] output")]
    actions.release().perform()
    expect(any(values), f"values under the pointer: {values[:3]}")
    dragged = counts(chrome)
    expect(0 < dragged["all"] < whole["all"] and dragged["picture"] != whole["picture"], f"dragged: {dragged['all']}")
    button.click()


def themes(chrome):
    """Switches the theme by hand."""
    seen = []
    for theme in ("light", "dark"):
        chrome.execute_script("arguments[0].click()", chrome.find_element(By.ID, f"theme-{theme}"))
        script = "return getComputedStyle(document.body).backgroundColor"
        seen.append(chrome.execute_script(script))
    expect(seen[0] == "rgb(255, 255, 255)" and seen[1] != seen[0], f"themes: {seen}")


def structure(chrome):
    """What a screen reader goes by: one h1, no level left out, captions, names of pictures."""
    script = "return [...document.querySelectorAll('h1,h2,h3,h4')].map((h) => Number(h.tagName[1]))"
    levels = chrome.execute_script(script)
    jumps = [pair for pair in zip(levels, levels[1:]) if pair[1] > pair[0] + 1]
    expect(levels.count(1) == 1 and levels[0] == 1 and not jumps, f"headings: {jumps}")
    script = """return [...document.querySelectorAll("table")].filter((t) => !t.caption?.textContent).length
        + [...document.querySelectorAll("svg:not([aria-hidden])")].filter((s) => !s.getAttribute("aria-label")).length
        + ["header", "nav", "main", "footer"].filter((n) => !document.querySelector(n)).length"""
    expect(chrome.execute_script(script) == 0, "something has no name")


def narrow(chrome):
    """On a phone with everything open, only boxes scroll sideways, not the page."""
    chrome.execute_script("document.querySelectorAll('details').forEach((d) => d.open = true)")
    resize(chrome, 390)
    width = chrome.execute_script("return document.documentElement.scrollWidth")
    expect(width <= 390, f"the page is {width} wide on a screen of 390")


def quiet(chrome):
    """Nothing was complained of, nothing asked of a network."""
    said = chrome.get_log("browser")
    expect(not said, f"the console says {said}")
    asked = []
    for entry in chrome.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    out = [url for url in asked if not url.startswith(("file:", "data:"))]
    expect(asked and not out, f"asked for {out or 'nothing at all'}")


def without_script(chrome, address):
    """The page reads without its script."""
    chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    chrome.get(address)
    buttons = chrome.find_elements(By.CSS_SELECTOR, "th button")
    rows = chrome.find_elements(By.CSS_SELECTOR, "#events tbody tr")
    expect(not buttons and len(rows) == 147, f"{len(buttons)} buttons, {len(rows)} events")


def main():
    """Every check, in the order of a reader."""
    address = pathlib.Path(sys.argv[1]).resolve().as_uri()
    chrome = browser()
    try:
        resize(chrome, 1280)
        chrome.get(address)
        for check in (fits, drill, keys, filter_and_sort, finding, card, brush, themes, structure, narrow, quiet):
            check(chrome)
        without_script(chrome, address)
    finally:
        chrome.quit()
    print(f"{len(DONE)} checks")


main()
