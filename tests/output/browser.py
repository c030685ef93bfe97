"""A headless Chromium, talked to through pipes (the DevTools protocol), for tests
of pages: needs nothing but Python and the program."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def program():
    """Its path, or None."""
    return next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    """Use it in a with statement. `events`: what the page said, as (method,
    parameters)."""

    def __init__(self, folder):
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()

        def wire():  # Chromium reads 3 and writes 4
            high = [os.dup(to_child), os.dup(from_child)]
            high = [h if h > 4 else os.dup(h) for h in high]
            while min(high) <= 4:
                high = [os.dup(h) for h in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        # A network that does not exist: any request would be seen to fail.
        self.child = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-extensions",
             "--proxy-server=127.0.0.1:9", f"--user-data-dir={folder}",
             "--remote-debugging-pipe", "--hide-scrollbars", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=wire, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.events, self._buffer, self._id, self._session = [], b"", 0, None

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")
        self._session = self.call("Target.attachToTarget", flatten=True,
                                  targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Network", "Runtime", "Log":
            self.call(domain + ".enable")
        return self

    def __exit__(self, kind, error, trace):
        os.close(self._write)
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except OSError:
            pass
        self.child.wait()
        os.close(self._read)
        return False

    def _message(self, until):
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self._read, 1 << 20)
            if not got:
                raise OSError("the browser has ended")
            self._buffer += got
        one, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(one)
        if "method" in message:
            self.events.append((message["method"], message.get("params", {})))
        return message

    def call(self, method, timeout=60, **parameters):
        """The answer to a call of the protocol."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data):]
        until = time.monotonic() + timeout
        while True:
            message = self._message(until)
            if message.get("id") == self._id:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']}")
                return message["result"]

    def look(self, width=1200, height=900, dark=False, paper=False):
        """On a screen of this size, in the dark, or printed."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  media="print" if paper else "screen",
                  features=[{"name": "prefers-color-scheme",
                             "value": "dark" if dark else "light"}])

    def open(self, path, **look):
        """Load a file; returns when it is complete."""
        self.look(**look)
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + 60
        while not any(m == "Page.loadEventFired" for m, _ in self.events):
            self._message(until)
        self.value("Promise.all([...document.images].map(i => i.decode()"
                   ".catch(() => 0))).then(() => 1)")

    def value(self, script):
        """Of an expression (or of what it promises)."""
        result = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        return result["result"].get("value")

    def complaints(self):
        """What the console and the log have said."""
        return [p for m, p in self.events if m in (
            "Runtime.consoleAPICalled", "Runtime.exceptionThrown",
            "Log.entryAdded")]

    def requests(self):
        """Addresses that were asked for, other than files and data."""
        urls = [p["request"]["url"] for m, p in self.events
                if m == "Network.requestWillBeSent"]
        return [u for u in urls if not u.startswith("data:")]

    def picture(self, path):
        """The whole page as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        got = self.call("Page.captureScreenshot", format="png",
                        captureBeyondViewport=True, clip={**size, "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(got["data"]))
