"""The page in a real browser: Debian's chromium, driven by selenium over loopback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement  # noqa: TC002 - stands with the others
from selenium.webdriver.support.select import Select

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
# The browser of a test has nothing to protect, and may look for nothing outside.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)
WIDTHS = (390, 1024, 1680)


# `-ra` shows it at the end of every run.
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="no chromium with chromedriver here: NOTHING OF THE REPORT IS TRIED IN A BROWSER",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: webdriver.Chrome, report_file: Path) -> Iterator[webdriver.Chrome]:
    """The report, loaded anew; whatever a test does, nothing may be said on the console."""
    browser.get("about:blank")
    browser.get(report_file.as_uri())
    yield browser
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]


def visible(page: webdriver.Chrome, selector: str) -> list[WebElement]:
    return [one for one in page.find_elements(By.CSS_SELECTOR, selector) if one.is_displayed()]


def go_to(page: webdriver.Chrome, view: str) -> None:
    page.find_element(By.CSS_SELECTOR, f"nav a[href='#{view}']").click()


def test_it_loads_and_nothing_hostile_ran(page: webdriver.Chrome) -> None:
    assert page.title == "repo: environment report"
    assert [one.get_attribute("id") for one in visible(page, ".view")] == ["overview"]
    assert page.find_elements(By.CSS_SELECTOR, "img") == []


def test_each_view_opens(page: webdriver.Chrome) -> None:
    names = [one.get_attribute("href") or "" for one in visible(page, "nav a")]
    views = [name.rpartition("#")[2] for name in names]
    assert views == ["overview", "timeline", "compare", "searches", "policy", "doctor", "machines"]
    for view in views:
        go_to(page, view)
        assert [one.get_attribute("id") for one in visible(page, ".view")] == [view]
        (current,) = page.find_elements(By.CSS_SELECTOR, "nav a[aria-current=page]")
        assert (current.get_attribute("href") or "").endswith(f"#{view}")


def test_a_filter_filters(page: webdriver.Chrome) -> None:
    go_to(page, "timeline")
    count = len(visible(page, "#commits tbody tr"))
    assert count == 7
    page.find_element(By.ID, "find").send_keys("guilty")
    (row,) = visible(page, "#commits tbody tr")
    assert "guilty" in row.text
    assert "bad testbed" in row.text.replace("\n", " ")
    assert page.find_element(By.ID, "found").text == f"1 of {count} commits"
    dimmed = page.find_elements(By.CSS_SELECTOR, ".marks a.dim")
    assert 0 < len(dimmed) < len(page.find_elements(By.CSS_SELECTOR, ".marks a"))
    page.find_element(By.ID, "find").clear()
    Select(page.find_element(By.ID, "layer")).select_by_visible_text("driver")
    page.find_element(By.ID, "find").send_keys(" ")
    (row,) = visible(page, "#commits tbody tr")
    assert "the driver of gpu1" in row.text


def test_a_machine_is_chosen_with_the_keyboard(page: webdriver.Chrome) -> None:
    go_to(page, "timeline")
    number = [one.text for one in visible(page, "fieldset label")].index("gpu1")
    mark = f".marks circle.m{number}"
    assert len(visible(page, mark)) == 1
    page.find_element(By.ID, f"pick-m{number}").send_keys(Keys.SPACE)
    assert visible(page, mark) == []


def test_the_timeline_is_walked_by_keys_and_read_aloud(page: webdriver.Chrome) -> None:
    go_to(page, "timeline")
    pan = page.find_element(By.ID, "pan")
    pan.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    said = page.find_element(By.ID, "found")
    assert said.get_attribute("role") == "status"
    assert "guilty" in said.text
    pan.send_keys(Keys.ENTER)
    (opened,) = visible(page, "#commits details[open]")
    assert "dial 1.1 → 2.0" in opened.text


def test_any_two_records_are_compared(page: webdriver.Chrome) -> None:
    go_to(page, "compare")
    choices = Select(page.find_element(By.ID, "a-commit"))
    oldest = str(len(choices.options) - 1)
    choices.select_by_value(oldest)
    rows = {row.text.split()[1]: row.text for row in visible(page, "#comparison tbody tr")}
    assert rows["dial"].endswith("1.0 2.1 upgraded")
    page.find_element(By.ID, "swap").click()
    rows = {row.text.split()[1]: row.text for row in visible(page, "#comparison tbody tr")}
    assert rows["dial"].endswith("2.1 1.0 downgraded")
    page.find_element(By.ID, "compare-find").send_keys("no such package")
    assert visible(page, "#comparison tbody tr") == []


def test_two_machines_are_compared(page: webdriver.Chrome) -> None:
    go_to(page, "compare")
    for side, machine in (("a", "gpu1"), ("b", "gpu2")):
        Select(page.find_element(By.ID, f"{side}-commit")).select_by_value("0")
        Select(page.find_element(By.ID, f"{side}-machine")).select_by_visible_text(machine)
    rows = [row.text for row in visible(page, "#comparison tbody tr")]
    assert "kernel kernel.release 6.8.0-45-generic 6.11.0-9-generic changed" in rows


def test_a_log_is_shown_on_demand(page: webdriver.Chrome) -> None:
    go_to(page, "searches")
    assert visible(page, ".narrowing .v-bad")
    log = page.find_element(By.CSS_SELECTOR, "details.log")
    assert visible(page, "details.log pre") == []
    log.find_element(By.CSS_SELECTOR, "summary").click()
    assert visible(page, "details.log pre")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_view_is_wider_than_the_window(page: webdriver.Chrome, width: int) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    for link in page.find_elements(By.CSS_SELECTOR, "nav a"):
        page.execute_script("arguments[0].click()", link)
        wide = page.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, link.text
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_a_script_all_views_are_read_and_machines_still_chosen(
    page: webdriver.Chrome, report_file: Path
) -> None:
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(report_file.as_uri() + "?plain")
        views = ["overview", "timeline", "compare", "searches", "policy", "doctor", "machines"]
        assert [one.get_attribute("id") for one in visible(page, ".view")] == views
        assert visible(page, "#find") == []
        mark = page.find_element(By.CSS_SELECTOR, ".marks circle[class*=' m']")
        number = (mark.get_attribute("class") or "").rpartition(" m")[2]
        page.find_element(By.ID, f"pick-m{number}").click()
        assert not mark.is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_on_paper_every_view_but_the_comparison_is_there(page: webdriver.Chrome) -> None:
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        views = ["overview", "timeline", "searches", "policy", "doctor", "machines"]
        assert [one.get_attribute("id") for one in visible(page, ".view")] == views
        assert visible(page, "nav") == []
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
