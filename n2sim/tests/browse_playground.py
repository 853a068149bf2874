#!/usr/bin/env python3
"""Uses the page of `n2sim playground` as a reader would, in headless Chromium, from disk.

    browse_playground.py PAGE EXPECTED

EXPECTED has requests with their answers, and counts of traces. Prints how many checks held, and
times; the first check that does not hold ends the program with what was seen.
"""

import base64
import json
import pathlib
import sys
import time

from selenium.webdriver.common.by import By

from browser import DONE, browser, expect


def wait(chrome, condition, what):
    """Waits until a condition in the page holds."""
    for _ in range(600):
        if chrome.execute_script(f"return {condition}"):
            return
        time.sleep(0.1)
    status = chrome.execute_script("return document.getElementById('status').textContent")
    sys.exit(f"browse_playground: {what}: the page says '{status}'")


def ask(chrome, request):
    """Asks the model of the page."""
    script = """const done = arguments[1];
        playground.model.ask(arguments[0]).then((ok) => done({ok}), (e) => done({error: e.message}));"""
    return chrome.execute_async_script(script, request)


def check_answers(chrome, expected):
    """Scenarios and traces count what the program counts."""
    for check in expected["checks"]:
        answer = ask(chrome, check["request"])
        expect(answer.get("ok") == check["answer"], f"{check['request']['file']}: {answer.get('error')}")
    for trace in expected["traces"]:
        path = pathlib.Path(trace["path"])
        script = """const [name, text, done] = arguments;
            playground.takeFile(new File([bytesOf(text)], name)).then(() => done(true));"""
        text = base64.b64encode(path.read_bytes()).decode()
        chrome.execute_async_script(script, "my-" + path.name, text)
        counts = ask(chrome, {"ask": "trace", "limit": trace["limit"]})["ok"]["counts"]
        for event, count in trace["counts"].items():
            expect(counts.get(event, 0) == count, f"{path.name}: {event}: {counts.get(event, 0)}, not {count}")


def check_lessons(chrome):
    """Every question of every lesson has an answer that is judged as right."""
    for lesson in ask(chrome, {"ask": "lessons"})["ok"]:
        name = lesson["name"]
        chrome.execute_script("playground.change({view: 'lessons', lesson: arguments[0]})", name)
        title = json.dumps(lesson["title"])
        shown = f"document.querySelector('#lesson-text h2')?.textContent === {title}"
        wait(chrome, shown, f"lesson {name}")
        questions = chrome.find_elements(By.CSS_SELECTOR, "#lesson-questions > li")
        expect(len(questions) >= 3, f"lesson {name} has {len(questions)} questions")
        for number, question in enumerate(questions):
            verdict = f"document.querySelectorAll('#lesson-questions .verdict')[{number}]"
            chrome.execute_script("arguments[0].click()", question.find_element(By.CSS_SELECTOR, ".give-up"))
            wait(chrome, f"{verdict}.querySelector('strong')", f"lesson {name}, question {number + 1}")
            truth = chrome.execute_script(f"return {verdict}.querySelector('strong').textContent")
            judged = ask(chrome, {"ask": "guess", "name": name, "question": number, "typed": truth})
            expect(judged["ok"]["right"], f"lesson {name}, question {number + 1}: {truth}: {judged}")


def check_views(chrome):
    """Each view shows something, at three widths, and no page scrolls sideways."""
    for view in ("memory", "pipeline", "counters", "lessons", "assembly"):
        chrome.execute_script("playground.change({view: arguments[0], trace: ''}, {quiet: true})", view)
        wait(chrome, f"!document.getElementById('view-{view}').hidden", view)
        time.sleep(0.5)
        words = chrome.execute_script(f"return document.getElementById('view-{view}').innerText")
        expect(len(words) > 200, f"{view} shows only '{words}'")
        for width in (390, 1280, 2560):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            wide = chrome.execute_script("return document.documentElement.scrollWidth")
            expect(wide <= width, f"{view} is {wide} pixels wide at {width}")
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check_link_and_undo(chrome, address):
    """A link shows the same again; a change can be taken back."""
    chrome.execute_script("playground.change({view: 'memory', given: 'K1', do: 'ST8 0x8000', set: ['memory.l1d.ways=2']})")
    link = chrome.execute_script("return location.hash")
    expect("ways" in link and "K1" in link, f"the address is {link}")
    chrome.execute_script("playground.undo()")
    expect(chrome.execute_script("return playground.state.given") != "K1", "undo takes the change back")
    chrome.get("about:blank")
    chrome.get(address + link)
    wait(chrome, "window.playground?.tables", "the page of a link")
    state = chrome.execute_script("return playground.state")
    expect((state["given"], state["do"]) == ("K1", "ST8 0x8000"), f"the link shows {state}")
    expect(state["set"] == ["memory.l1d.ways=2"], f"the link has the machine {state['set']}")


def main():
    """Runs all checks."""
    page, expected = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text("utf-8"))
    address = pathlib.Path(page).as_uri()
    chrome = browser()
    try:
        begin = time.monotonic()
        chrome.get(address)
        wait(chrome, "window.playground?.tables", "the model does not start")
        started = chrome.execute_script("return performance.now()")
        check_answers(chrome, expected)
        check_views(chrome)
        check_lessons(chrome)
        check_link_and_undo(chrome, address)
        step = chrome.execute_async_script("""const done = arguments[0];
            const request = {ask: "watch", given: "K0", do: "LD8 0x8000 step 64 x 16"};
            playground.model.ask(request).then(async () => {
                const begin = performance.now();
                await playground.model.ask(request);
                done(performance.now() - begin);
            });""")
        noise = [entry["message"] for entry in chrome.get_log("browser")]
        expect(not noise, f"the console says {noise}")
        outside = [entry["message"] for entry in chrome.get_log("performance") if '"url":"http' in entry["message"]]
        expect(not outside, f"the page asks the network: {outside[:1]}")
    finally:
        chrome.quit()
    print(f"{len(DONE)} checks hold in {time.monotonic() - begin:.0f} s; ready after {started:.0f} ms; "
          f"16 steps in {step:.0f} ms")


main()
