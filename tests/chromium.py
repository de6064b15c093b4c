"""A headless Chromium to look at pages with: it is driven through a pipe, and reaches nothing but files.

with Chromium(tmp_path) as browser:
    page = browser.open(path, width=360, height=800, dark=True)
    page.run("document.title")
"""

import itertools
import json
import os
import select
import shutil
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

PATIENCE = 120  # seconds
PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Chromium(AbstractContextManager):
    """A browser process; commands and events of the DevTools protocol, each ended by a zero byte, on two pipes."""

    def __init__(self, profile: Path):
        self.commands, self.answers = os.pipe(), os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        # The pipes must be 3 and 4 in the browser. A shell moves them there: another thread may fork at any time.
        moving = f'exec "$@" 3<&{self.commands[0]} 4>&{self.answers[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", moving, "bash", PROGRAM, *options, "--remote-debugging-pipe"]
            + ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}"],
            pass_fds=(self.commands[0], self.answers[1]),
            stderr=subprocess.DEVNULL,
        )
        os.close(self.commands[0])
        os.close(self.answers[1])
        self.numbers, self.unread = itertools.count(1), b""

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.commands[1])
        os.close(self.answers[0])

    def open(self, path: Path, width=1280, height=900, dark=False) -> "Page":
        """The page in a window of this size, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        phone = width < 600
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        page.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in page.events):
            page.events.append(self.read())
        return page

    def call(self, method: str, session: str | None = None, page: "Page | None" = None, **parameters: Any) -> dict:
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        os.write(self.commands[1], json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            if page:
                page.events.append(answer)

    def read(self) -> dict:
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers[0]], [], [], PATIENCE)
            assert ready, f"Chromium said nothing for {PATIENCE} s"
            part = os.read(self.answers[0], 1 << 20)
            assert part, f"Chromium ended (exit code {self.process.wait()})"
            self.unread += part
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)


class Page:
    """One tab, and what it has reported."""

    def __init__(self, browser: Chromium, session: str):
        self.browser, self.session, self.events = browser, session, []

    def call(self, method: str, **parameters: Any) -> dict:
        return self.browser.call(method, session=self.session, page=self, **parameters)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self) -> list[str]:
        """Errors and warnings on the page's console."""
        self.run("1")  # what was reported until now has been read
        shown = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in shown]
