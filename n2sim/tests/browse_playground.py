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
        size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wide = chrome.execute_script("return document.documentElement.scrollWidth")
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        expect(wide <= 390, f"lesson {name} is {wide} pixels wide at 390")
        for number, question in enumerate(questions):
            verdict = f"document.querySelectorAll('#lesson-questions .verdict')[{number}]"
            chrome.execute_script("arguments[0].click()", question.find_element(By.CSS_SELECTOR, ".give-up"))
            wait(chrome, f"{verdict}.querySelector('strong')", f"lesson {name}, question {number + 1}")
            truth = chrome.execute_script(f"return {verdict}.querySelector('strong').textContent")
            judged = ask(chrome, {"ask": "guess", "name": name, "question": number, "typed": truth})
            expect(judged["ok"]["right"], f"lesson {name}, question {number + 1}: {truth}: {judged}")


def open_lesson(chrome, name):
    """Shows a lesson; returns once its questions are there."""
    chrome.execute_script("playground.change({view: 'lessons', lesson: arguments[0]})", name)
    shown = f"playground.book.lessons.get('{name}')?.title === document.querySelector('#lesson-text h2')?.textContent"
    wait(chrome, shown, f"lesson {name}")


def answer(chrome, number, typed):
    """Answers a question of the lesson that is shown; returns the words of the verdict."""
    chrome.execute_script(
        """const item = document.querySelectorAll('#lesson-questions > li')[arguments[0]];
        item.querySelector('input, select').value = arguments[1];
        item.querySelector('.verdict').textContent = '';
        item.querySelector('form').requestSubmit();""",
        number, typed)
    verdict = f"document.querySelectorAll('#lesson-questions .verdict')[{number}]"
    wait(chrome, f"{verdict}.querySelector('p')", f"a verdict on {typed}")
    return chrome.execute_script(f"return {verdict}.innerText")


def check_back(chrome):
    """Back returns to the lesson from a setup that it opened, and so does the button."""
    open_lesson(chrome, "09-false-sharing")
    chrome.execute_script("document.querySelector('.open-setup').click()")
    wait(chrome, "playground.state.view === 'memory'", "the setup opens")
    steps = chrome.execute_script("return playground.state.do")
    expect(steps.startswith("ST8 0x8000 ; SNP-U 0x8008"), f"names have their addresses: {steps}")
    wait(chrome, "document.querySelector('.mem-step')", "the steps of the setup run")
    expect(chrome.execute_script("return !document.getElementById('from-lesson').hidden"), "the button back is shown")
    chrome.back()
    wait(chrome, "playground.state.view === 'lessons' && playground.state.lesson === '09-false-sharing'", "Back")
    chrome.forward()
    wait(chrome, "playground.state.view === 'memory'", "Forward")
    chrome.find_element(By.CSS_SELECTOR, ".from-lesson-back").click()
    wait(chrome, "!document.getElementById('view-lessons').hidden", "the button back")
    title = chrome.execute_script("return document.querySelector('#lesson-text h2').textContent")
    expect(title == "False sharing", f"the button leads to {title}")


def check_hidden(chrome):
    """Counts and cycles of a lesson's setup are hidden until its questions are answered."""
    seen = "[document.querySelector('.mem-cycle'), document.querySelector('.mem-events'), " \
        "document.querySelector('.mem-hops')].map((one) => one.innerText).join(' ')"
    open_lesson(chrome, "01-first-touch")
    chrome.execute_script("document.querySelector('.open-setup').click()")
    wait(chrome, "document.querySelectorAll('.mem-step').length === 3", "the setup runs")
    chrome.execute_script("playground.change({step: 1000})")
    wait(chrome, "document.querySelector('.mem-cycle').textContent.includes('?')", "the cycle is hidden")
    words = chrome.execute_script(f"return {seen}")
    expect("L1D_CACHE" not in words and "hidden until" in words, f"hidden counts: {words}")
    chrome.execute_script("playground.change({view: 'pipeline'}, {quiet: true})")
    wait(chrome, "document.querySelector('canvas.pipeline').offsetParent === null", "the pipeline is hidden")
    chrome.execute_script("document.querySelector('.from-lesson-back').click()")
    wait(chrome, "!document.getElementById('view-lessons').hidden", "the lesson")
    for number, typed in enumerate(("3", "2", "1", "L1")):
        expect("right" in answer(chrome, number, typed), f"{typed} is right")
    chrome.execute_script("document.querySelector('.open-setup').click()")
    wait(chrome, "document.querySelector('.mem-cycle').textContent.includes('?')", "one question is open")
    chrome.execute_script("document.querySelector('.from-lesson-back').click()")
    chrome.execute_script("document.querySelectorAll('#lesson-questions .give-up')[4].click()")
    wait(chrome, "document.querySelectorAll('#lesson-questions .verdict')[4].querySelector('strong')", "the answer")
    chrome.execute_script("document.querySelector('.open-setup').click()")
    wait(chrome, "/cycle [0-9]/.test(document.querySelector('.mem-cycle').textContent)", "the cycle is shown")
    words = chrome.execute_script(f"return {seen}")
    expect("L1D_CACHE" in words, f"shown counts: {words}")
    # Who cannot wait sees the numbers, and no longer guesses.
    open_lesson(chrome, "04-refill-once")
    chrome.execute_script("document.querySelector('.open-setup').click()")
    wait(chrome, "document.querySelector('.mem-cycle').textContent.includes('?')", "lesson 4 is hidden")
    chrome.find_element(By.CSS_SELECTOR, ".from-lesson-reveal").click()
    wait(chrome, "/cycle [0-9]/.test(document.querySelector('.mem-cycle').textContent)", "the numbers are shown")
    open_lesson(chrome, "04-refill-once")
    expect("right" in answer(chrome, 0, "1"), "1 refill is right")
    score = chrome.execute_script("return document.getElementById('lesson-score').textContent")
    expect(score.startswith("0 of 4"), f"a seen number is not a guess: {score}")


def check_kept(chrome, address):
    """Answers stay over lessons and over a reload, until the lesson is started again."""
    read = """return [document.getElementById('lesson-score').textContent,
        [...document.querySelectorAll('#lesson-questions input, #lesson-questions select')].map((one) => one.value),
        [...document.querySelectorAll('#lesson-questions .verdict')].map((one) => one.innerText.trim().slice(0, 7))]"""
    open_lesson(chrome, "02-line")
    expect("right" in answer(chrome, 0, "8"), "8 refills are right")
    expect("not yet" in answer(chrome, 1, "8"), "8 refills are wrong")
    for typed in ("1/8", "0.125", "12.5%", "12.5 %"):
        expect("right" in answer(chrome, 2, typed), f"{typed} is right")
    expect("decimal point" in answer(chrome, 2, "0,125"), "0,125 is explained")
    expect("right" in answer(chrome, 2, "1/8"), "1/8 is right")
    signs = ["\u2713 right", "\u2717 not y", "\u2713 right", ""]
    wanted = ["2 of 4 right at the first guess", ["8", "8", "1/8", ""], signs]
    chrome.execute_script("document.getElementById('lesson-next').click()")
    title = "document.querySelector('#lesson-text h2').textContent"
    wait(chrome, f"{title} === 'Too many lines for one set'", "the next lesson")
    chrome.back()
    complete = "document.querySelectorAll('#lesson-questions .verdict')[2]?.innerText.includes('right')"
    wait(chrome, f"playground.state.lesson === '02-line' && {complete}", "Back to the lesson before")
    expect(chrome.execute_script(read) == wanted, f"after another lesson: {chrome.execute_script(read)}")
    chrome.refresh()
    wait(chrome, f"window.playground?.tables && {complete}", "the answers after a reload")
    expect(chrome.execute_script(read) == wanted, f"after a reload: {chrome.execute_script(read)}")
    chrome.execute_script("document.getElementById('lesson-again').click()")
    wanted = ["0 of 4 right at the first guess", ["", "", "", ""], ["", "", "", ""]]
    expect(chrome.execute_script(read) == wanted, f"started again: {chrome.execute_script(read)}")
    # What another page has stored there is no answer.
    for other in ("{", "[1]", '{"02-line": {"questions": [null, 5, "x", {}]}, "03-set-conflict": 7}'):
        chrome.execute_script("localStorage.setItem('n2sim-lessons', arguments[0])", other)
        chrome.refresh()
        wait(chrome, "window.playground?.tables && document.querySelector('#lesson-questions li')", f"after {other}")
        expect(chrome.execute_script(read) == wanted, f"with {other} stored: {chrome.execute_script(read)}")
    expect("right" in answer(chrome, 0, "8"), "an answer after foreign records")
    # A browser without storage keeps the answers as long as the page.
    denied = """Object.defineProperty(window, 'localStorage',
        {get() { throw new DOMException('denied', 'SecurityError'); }});"""
    script = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": denied})
    chrome.get("about:blank")
    chrome.get(address + "#view=lessons&lesson=02-line")
    there = "window.playground?.tables && document.querySelector('#lesson-questions li')"
    wait(chrome, there, "a page without storage")
    expect("right" in answer(chrome, 0, "8"), "an answer without storage")
    open_lesson(chrome, "03-set-conflict")
    open_lesson(chrome, "02-line")
    first = "document.querySelector('#lesson-questions .verdict').innerText"
    wait(chrome, f"{first}.includes('right')", "the answer is there")
    kept = chrome.execute_script("return document.getElementById('lesson-kept').textContent")
    expect("keeps no answers" in kept, f"the page says '{kept}'")
    chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    chrome.get("about:blank")
    chrome.get(address)
    wait(chrome, "window.playground?.tables", "the page again")


def check_same_name(chrome):
    """A second file of the same name is drawn; an error is at its field."""
    words = "document.querySelector('#view-counters .slot-bar + p')?.textContent"
    said = set()
    for trace in ("matrix", "interp"):
        chrome.execute_async_script(
            """const [name, done] = arguments;
            document.getElementById('status').textContent = '';
            playground.change({view: 'counters', limit: 50000}, {quiet: true});
            const file = new File([bytesOf(playground.data.traces[name])], 'my-trace.n2t');
            playground.takeFile(file).then(() => done(true));""", trace + ".n2t")
        counted = f"/^Counted/.test(document.getElementById('status').textContent) && {words}"
        wait(chrome, counted, f"{trace} is counted")
        said.add(chrome.execute_script(f"return {words}"))
    expect(len(said) == 2, f"two files of one name are two traces: {said}")
    errors = "[...document.querySelectorAll('#view-counters .field')]" \
        ".filter((box) => box.querySelector('.error').textContent)"
    wrong = (("counters", 99, "Counters"), ("interval", 1000, "Interval"), ("warmup", 10**9, "Warm up"))
    for key, value, label in wrong:
        before = chrome.execute_script(f"return playground.state.{key}")
        chrome.execute_script(f"playground.change({{{key}: {value}}})")
        wait(chrome, f"{errors}.length > 0", f"{key} = {value} is refused")
        at = chrome.execute_script(f"return {errors}.map((box) => box.firstChild.textContent)")
        expect(len(at) == 1 and at[0].startswith(label), f"the error of {key} is at {at}")
        chrome.execute_script(f"playground.change({{{key}: {before}}})")
        wait(chrome, f"{errors}.length === 0", f"the error of {key} goes")


def check_views(chrome):
    """Each view shows something, at three widths, and no page scrolls sideways."""
    for view in ("memory", "pipeline", "counters", "lessons", "assembly"):
        chrome.execute_script("playground.change({view: arguments[0], trace: ''}, {quiet: true})", view)
        wait(chrome, f"!document.getElementById('view-{view}').hidden", view)
        wait(chrome, f"document.getElementById('view-{view}').innerText.length > 200", f"{view} shows too little")
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
        check_same_name(chrome)
        check_back(chrome)
        check_hidden(chrome)
        check_kept(chrome, address)
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
