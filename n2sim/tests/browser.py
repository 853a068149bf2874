"""Headless Chromium for the programs beside this file, which use pages as readers do."""

import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

# Checks that held.
DONE = []


def expect(holds, what):
    """Counts a check, or ends the program."""
    if not holds:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {what}")
    DONE.append(what)


def browser():
    """Chromium that notes what it says and asks of the network. Scroll bars take no room."""
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service("chromedriver"))
    chrome.set_script_timeout(300)
    return chrome


def resize(chrome, width):
    """Gives the page a width; windows have a least one, pages do not."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
