"""Answers the calls of a function: HTTP/1.1 on PORT, by the contract of docs/decisions/0059-functions.md.

Uses Python 3.9 or newer and its standard library, and little of that, because an instance must start fast.
Each connection has a thread, so a handler runs where its request was read; an `async` handler runs on an
event loop in a thread of its own.
"""
import builtins
import importlib
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections import OrderedDict


def wait_until_given():
    """
    Waits until the agent has put the function's files into this instance and has sent the signal that they
    are complete. Only an instance of a warm pool waits.
    """
    given = os.path.join(os.path.dirname(os.path.abspath(__file__)), "given.json")
    # A signal that arrives while it is blocked stays pending. An earlier signal does nothing, the default of
    # SIGURG (signal(7)); the files then exist already.
    signals = {signal.SIGTERM, signal.SIGINT, signal.SIGURG}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    # Loaded in advance because every handler needs it.
    import inspect  # noqa: F401
    while True:
        try:
            with open(given, encoding="utf-8") as file:
                env = json.load(file)["env"]
            break
        except (OSError, ValueError):
            # The file is missing or incomplete.
            if signal.sigwait(signals) != signal.SIGURG:
                sys.exit(0)
    signal.signal(signal.SIGURG, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    os.environ.update(env)
    del os.environ["FUNCTION_WAITS"]


if os.environ.get("FUNCTION_WAITS"):
    wait_until_given()


def number(name, default):
    try:
        found = float(os.environ.get(name, "") or default)
    except ValueError:
        sys.exit(f"{name} must be a number, not {os.environ[name]!r}")
    if found <= 0:
        sys.exit(f"{name} must be more than 0")
    return found


PORT = int(number("PORT", 8080))
CONCURRENCY = int(number("FUNCTION_CONCURRENCY", 10))
TIMEOUT = number("FUNCTION_TIMEOUT_SECONDS", 30)
# Maximum bytes of a request's body and of a result.
MOST_BODY = int(number("FUNCTION_MAX_BODY", 6 * 1024 * 1024))
NAME = os.environ.get("FUNCTION_NAME", "")
NAMESPACE = os.environ.get("FUNCTION_NAMESPACE", "")
VERSION = os.environ.get("FUNCTION_VERSION", "")

MOST_HEAD = 64 * 1024
MOST_CONNECTIONS = 512 + 2 * CONCURRENCY
MOST_ERROR = 4096
MOST_TRACE = 32 * 1024
TERMINATION_LOG = os.environ.get("FUNCTION_TERMINATION_LOG", "/dev/termination-log")
# Maximum characters, the same as for a condition.
MOST_TERMINATION = 2000
# Seconds and bytes for which answers are remembered, for clients that send a call again.
REMEMBER_SECONDS = 600
REMEMBER_BYTES = 16 * 1024 * 1024
# Maximum time that a repeated call is in transit. The age of a call is measured when it is sent, so a call
# may be older here by that time.
TRANSIT_SECONDS = 5
# Timeouts of an idle connection, and of the rest of a request that has begun.
IDLE_SECONDS = 600
READ_SECONDS = 30
# Seconds during which the rest of a rejected request is still read and dropped.
LINGER_SECONDS = 5
# Seconds beyond its timeout after which a call is stuck.
STUCK_SECONDS = number("FUNCTION_STUCK_SECONDS", 5)
DRAIN_SECONDS = 2

REASONS = {100: "Continue", 200: "OK", 400: "Bad Request", 404: "Not Found", 413: "Content Too Large", 417: "Expectation Failed",
           431: "Request Header Fields Too Large", 500: "Internal Server Error", 503: "Service Unavailable",
           505: "HTTP Version Not Supported"}
JSON = "application/json"
START = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) (/[!-~]*|\*) HTTP/(\d)\.(\d)")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(r"[\t -~\x80-\xff]*")
RESULT_KEYS = {"statusCode", "headers", "body", "isBase64"}
# Headers that belong to the connection.
CONNECTION_HEADERS = {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}


class Refused(Exception):
    """
    A request that is answered without calling the handler. The connection ends, unless the whole request was
    read.
    """

    def __init__(self, status, message, not_called=None, close=True):
        super().__init__(message)
        headers = [("Function-Not-Called", not_called)] if not_called else []
        self.answer = Answer(status, json.dumps({"error": message}).encode(), headers)
        self.close = close


class InvalidResult(Exception):
    """Raised when the handler returned a value that cannot be sent."""


class Answer:
    __slots__ = ("status", "body", "headers", "content_type")

    def __init__(self, status, body, headers=(), content_type=JSON):
        self.status, self.body, self.headers, self.content_type = status, body, headers, content_type

    def bytes(self, method, close):
        """Returns the whole answer as it is sent over the connection."""
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Status')}"]
        if self.status >= 200 and self.status != 204:
            lines.append(f"Content-Length: {len(self.body)}")
            if self.content_type:
                lines.append(f"Content-Type: {self.content_type}")
        for name, value in self.headers:
            lines.append(f"{name}: {value}")
        if close:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        return head if method == "HEAD" or self.status in (204, 304) else head + self.body


class Context:
    """The information that a handler gets about its call."""

    def __init__(self, request, call_id, deadline):
        self.call_id = call_id
        self.function_name = NAME
        self.namespace = NAMESPACE
        self.version = VERSION
        self.method = request.method
        self.path = request.path
        self.query = request.query()
        self.headers = dict(request.headers)
        self._deadline = deadline

    def remaining_seconds(self):
        """Returns the seconds that the call may still take."""
        return max(0.0, self._deadline - time.monotonic())

    def get_remaining_time_in_millis(self):
        """Returns the milliseconds that the call may still take."""
        return int(self.remaining_seconds() * 1000)

    def log(self, *words):
        """Writes a line with the id of the call to the log."""
        print(f"[{self.call_id}]", *words, file=sys.stderr)


class Request:
    __slots__ = ("method", "target", "headers", "body", "keeps", "length")

    def __init__(self, method, target, headers, keeps, length):
        self.method, self.target, self.headers, self.keeps = method, target, headers, keeps
        # Length of the body; None when it is sent in chunks.
        self.length = length
        self.body = b""

    @property
    def path(self):
        return self.target.split("?", 1)[0]

    def query(self):
        text = self.target.partition("?")[2]
        if not text:
            return {}
        from urllib.parse import parse_qsl
        found = {}
        for key, value in parse_qsl(text, keep_blank_values=True):
            before = found.get(key)
            found[key] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
        return found

    def event(self):
        """
        Returns the event for the handler: the JSON body, or for another type an object with what was sent.
        """
        if not self.body:
            return {}
        kind = self.headers.get("content-type", JSON).split(";")[0].strip().lower()
        # A form never begins with a brace: this is the type that `curl -d '{…}'` sends.
        is_json = kind == JSON or kind.endswith("+json") or (
            kind == "application/x-www-form-urlencoded" and self.body.lstrip()[:1] == b"{")
        if is_json:
            try:
                return json.loads(self.body)
            except (ValueError, RecursionError) as error:
                raise Refused(400, f"the body is not JSON: {error}", close=False) from None
        try:
            text, is_base64 = self.body.decode("utf-8"), False
        except UnicodeDecodeError:
            from base64 import b64encode
            text, is_base64 = b64encode(self.body).decode(), True
        return {"body": text, "isBase64": is_base64, "headers": dict(self.headers), "method": self.method,
                "path": self.path, "query": self.query()}


class Connection:
    """
    Reads requests strictly: if two programs read different requests from the same bytes, that is a security
    hole.
    """

    def __init__(self, sock):
        self.sock = sock
        self.buffer = bytearray()
        self.deadline = 0.0

    def more(self, most=65536):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError()
        self.sock.settimeout(left)
        data = self.sock.recv(most)
        self.buffer += data
        return len(data)

    def line(self, most):
        """Returns the next line, without its end."""
        start = 0
        while True:
            at = self.buffer.find(b"\r\n", start)
            if at > most or (at < 0 and len(self.buffer) > most):
                raise Refused(431, "a line of the request is too long")
            if at >= 0:
                line = bytes(self.buffer[:at])
                del self.buffer[:at + 2]
                return line
            start = max(0, len(self.buffer) - 1)
            if not self.more():
                raise ConnectionError()

    def head(self):
        """Returns the next request without its body; None when there is none."""
        self.deadline = time.monotonic() + IDLE_SECONDS
        if not self.buffer and not self.more():
            return None
        self.deadline = time.monotonic() + READ_SECONDS
        start = 0
        while True:
            # A bare line feed does not end a line.
            at = self.buffer.find(b"\r\n\r\n", start)
            if at > MOST_HEAD or (at < 0 and len(self.buffer) > MOST_HEAD):
                raise Refused(431, f"the head of a request may have {MOST_HEAD} bytes")
            if at >= 0:
                break
            start = max(0, len(self.buffer) - 3)
            if not self.more():
                raise ConnectionError()
        head = bytes(self.buffer[:at])
        del self.buffer[:at + 4]
        return parse_head(head)

    def body(self, request, keep):
        """Reads the body; with `keep` false it is dropped, so that the next request can be read."""
        if request.length is None:
            return self.chunks(keep)
        return self.exactly(request.length, keep)

    def exactly(self, size, keep):
        parts = bytearray()
        left = size
        while True:
            piece = self.buffer[:left]
            del self.buffer[:len(piece)]
            left -= len(piece)
            if keep:
                parts += piece
            if left == 0:
                return bytes(parts)
            if not self.more(min(left, 1 << 20)):
                raise ConnectionError()

    def chunks(self, keep):
        parts = bytearray()
        total = 0
        while True:
            size_text = self.line(1024).split(b";", 1)[0].rstrip(b" \t")
            if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", size_text):
                raise Refused(400, "a chunk has no valid size")
            size = int(size_text, 16)
            total += size
            if total > MOST_BODY:
                raise too_large()
            if size == 0:
                break
            parts += self.exactly(size, keep)
            if self.exactly(2, True) != b"\r\n":
                raise Refused(400, "a chunk is longer than its size")
        for _ in range(100):
            if self.line(8192) == b"":
                return bytes(parts)
        raise Refused(400, "too many trailers")

    def send(self, data):
        self.sock.settimeout(READ_SECONDS)
        self.sock.sendall(data)

    def linger(self):
        """
        Gives the client time to read the answer before the rest of its request meets a closed connection.
        """
        self.sock.shutdown(socket.SHUT_WR)
        self.deadline = time.monotonic() + LINGER_SECONDS
        while self.more():
            self.buffer.clear()


def too_large():
    return Refused(413, f"a body may have at most {MOST_BODY} bytes")


def parse_head(head):
    first, *rest = head.split(b"\r\n")
    match = START.fullmatch(first)
    if not match:
        raise Refused(400, "the first line of the request is not valid")
    method, target, major, minor = match.groups()
    if major != b"1":
        raise Refused(505, "only HTTP/1.1 is understood")
    headers = {}
    for line in rest:
        field = FIELD.fullmatch(line)
        if not field:
            raise Refused(400, "a header is not valid")
        name, value = field[1].decode().lower(), field[2].decode("latin-1").rstrip(" \t")
        if name in headers:
            if name in ("content-length", "transfer-encoding", "host", "function-call-id", "content-type"):
                raise Refused(400, f"{name} is given twice")
            value = f"{headers[name]}, {value}"
        headers[name] = value
    modern = minor != b"0"
    if modern and "host" not in headers:
        raise Refused(400, "the header Host is missing")
    length = length_of(headers, modern)
    options = [option.strip().lower() for option in headers.get("connection", "").split(",")]
    keeps = "close" not in options if modern else "keep-alive" in options
    return Request(method.decode(), target.decode(), headers, keeps, length)


def length_of(headers, modern):
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if length is not None:
            raise Refused(400, "Content-Length and Transfer-Encoding exclude each other")
        if not modern or coding.lower() != "chunked":
            raise Refused(400, "the only Transfer-Encoding is chunked")
        return None
    if length is None:
        return 0
    if not re.fullmatch(r"[0-9]{1,18}", length):
        raise Refused(400, "Content-Length is not a number")
    if int(length) > MOST_BODY:
        raise too_large()
    return int(length)


class Memory:
    """
    Answers of calls that must be made only once, by their ids, for clients that send a call again. Other
    calls are not stored.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.records = OrderedDict()
        self.size = 0
        # Every call that was first sent after this time and arrived here is known.
        self.forgotten = time.monotonic()

    def claim(self, call_id, seconds):
        """
        Returns the record of the call, and whether it existed before. Raises Refused if a call of that id may
        have been made in the last `seconds` and its record may have been removed.
        """
        with self.lock:
            record = self.records.get(call_id)
            if record:
                return record, True
            if time.monotonic() - self.forgotten < seconds:
                raise Refused(404, "this instance may have forgotten the call", "unknown", close=False)
            record = self.records[call_id] = Record(call_id)
            return record, False

    def drop(self, record):
        """Releases a record whose handler was not called after all."""
        with self.lock:
            if self.records.get(record.call_id) is record:
                del self.records[record.call_id]
            record.answer = Refused(503, "the call was not made", "gone").answer
            if record.waiter:
                record.waiter.set()

    def finish(self, record, answer):
        """Stores the answer; the oldest answers are removed when there is no room."""
        now = time.monotonic()
        with self.lock:
            record.answer = answer
            if record.waiter:
                record.waiter.set()
            # The records are in the order in which their calls ended.
            self.records.move_to_end(record.call_id)
            record.ended = now
            record.size = len(answer.body) + len(record.call_id) + 500
            self.size += record.size
            while self.records:
                oldest = next(iter(self.records.values()))
                if oldest.answer is None:
                    # A call in progress stays; the records behind it ended later.
                    if self.size <= REMEMBER_BYTES:
                        break
                    oldest = next((one for one in self.records.values() if one.answer is not None), None)
                    if oldest is None:
                        break
                elif self.size <= REMEMBER_BYTES and now - oldest.ended <= REMEMBER_SECONDS:
                    break
                del self.records[oldest.call_id]
                self.size -= oldest.size
                self.forgotten = max(self.forgotten, min(now, oldest.began + TRANSIT_SECONDS))

    def wait(self, record):
        with self.lock:
            if record.answer is not None:
                return record.answer
            record.waiter = record.waiter or threading.Event()
        record.waiter.wait()
        return record.answer


class Record:
    __slots__ = ("call_id", "answer", "waiter", "began", "ended", "size")

    def __init__(self, call_id):
        self.call_id, self.answer, self.waiter, self.ended, self.size = call_id, None, None, 0.0, 0
        self.began = time.monotonic()


class Calls:
    """Calls in progress; ends the process when a call is stuck, and when the process has to stop."""

    def __init__(self):
        self.changed = threading.Condition()
        self.deadlines = {}
        self.watched = False
        self.stopping = False
        self.ending = False
        self.stuck = False

    def begin(self, key):
        """Takes a place for a call. Raises Refused when there is none; `key` is the request."""
        with self.changed:
            if self.ending:
                raise Refused(503, "this instance is stopping", "stopping", close=False)
            if self.stuck:
                raise Refused(503, "this instance ends because a call is stuck", "stuck", close=False)
            if len(self.deadlines) >= CONCURRENCY:
                raise Refused(503, f"this instance has {CONCURRENCY} calls", "busy", close=False)
            deadline = time.monotonic() + TIMEOUT
            self.deadlines[key] = deadline
            if not self.watched:
                self.watched = True
                self.changed.notify_all()
            return deadline

    def end(self, key):
        with self.changed:
            self.deadlines.pop(key, None)
            if self.ending or self.stuck:
                self.changed.notify_all()

    def watch(self):
        """
        Checks for stuck calls. A handler cannot be stopped from outside, so the process ends once all other
        calls have been answered.
        """
        import faulthandler
        while True:
            with self.changed:
                while not self.deadlines:
                    faulthandler.cancel_dump_traceback_later()
                    self.watched = self.stuck = False
                    self.changed.wait()
                # Ends the process for code that never lets another thread run.
                faulthandler.dump_traceback_later(TIMEOUT + STUCK_SECONDS + 30, exit=True)
                now = time.monotonic()
                limits = [deadline + STUCK_SECONDS for deadline in self.deadlines.values()]
                over = sum(limit <= now for limit in limits)
                if over and over == len(limits):
                    print(f"a call runs for more than {TIMEOUT + STUCK_SECONDS:g} s: this instance ends", file=sys.stderr)
                    leave(70)
                self.stuck = over > 0
                self.changed.wait(min(limit for limit in limits if limit > now) - now)

    def drain(self):
        """
        Accepts calls for two more seconds, because clients need some time until they send no more
        calls to this instance; then waits for the calls in progress.
        """
        time.sleep(DRAIN_SECONDS)
        with self.changed:
            self.ending = True
            while self.deadlines:
                self.changed.wait()
        leave(0)


def leave(status):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(status)


class Loop:
    """The event loop of `async` handlers."""

    def __init__(self):
        import asyncio
        self.asyncio = asyncio
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True, name="loop").start()

    def result(self, awaitable):
        async def awaited():
            return await awaitable
        try:
            limited = self.asyncio.wait_for(awaited(), TIMEOUT)
            return self.asyncio.run_coroutine_threadsafe(limited, self.loop).result()
        except self.asyncio.CancelledError:
            raise RuntimeError("the handler was cancelled") from None


def cannot_load(error):
    """
    Ends the process with the reason why the program cannot be loaded: `main.py:3: SyntaxError: expected ':'`,
    then the program's own lines of the trace.

    Kubernetes shows the termination log in the container's status; everything printed goes into the
    container's log.
    """
    import traceback
    folder = os.path.join(os.getcwd(), "")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(folder)]
    path, line = (frames[-1].filename, frames[-1].lineno) if frames else ("", 0)
    message = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        path, line, message = error.filename, error.lineno or 0, error.msg
    place = f"{path[len(folder):] if path.startswith(folder) else path}:{line}: " if path else ""
    lines = [f"{place}{type(error).__name__}: {message}\n", *traceback.format_list(frames),
             *traceback.format_exception_only(type(error), error)]
    text = "".join(lines)
    try:
        # The file exists only where the kubelet has mounted one.
        with open(TERMINATION_LOG, "r+", encoding="utf-8", errors="replace") as file:
            file.write(text[:MOST_TERMINATION])
    except OSError:
        pass
    sys.exit(text.rstrip()[:MOST_TRACE])


class Program:
    """The handler."""

    def __init__(self, name):
        module, _, function = name.replace("/", ".").rpartition(".")
        if not module:
            sys.exit(f"FUNCTION_HANDLER must be MODULE.FUNCTION, such as main.handler, not {name!r}")
        try:
            loaded = importlib.import_module(module)
        except Exception as error:
            cannot_load(error)
        self.function = getattr(loaded, function, None)
        if not callable(self.function):
            sys.exit(f"the module {module} has no function {function}")
        self.takes = parameters(self.function)
        code = getattr(self.function, "__code__", None)
        # 128 is the flag of `async def`. Other coroutines are recognized by their results.
        self.loop = Loop() if code and code.co_flags & 128 else None
        self.lock = threading.Lock()

    def call(self, event, context):
        result = self.function(*(event, context)[:self.takes])
        if hasattr(result, "__await__"):
            with self.lock:
                self.loop = self.loop or Loop()
            result = self.loop.result(result)
        return result


def parameters(function):
    """Returns how many of (event, context) the handler takes."""
    import types
    if isinstance(function, types.FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__
        # 4 is the flag of `*args`.
        return 2 if code.co_flags & 4 else min(2, code.co_argcount)
    import inspect
    try:
        kinds = [one.kind for one in inspect.signature(function, follow_wrapped=False).parameters.values()]
    except (TypeError, ValueError):
        return 2
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return 2
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return min(2, sum(kind in places for kind in kinds))


def answer_of(result):
    """Returns the answer for a handler's result: JSON, bytes, or {"statusCode", "headers", "body"}."""
    if isinstance(result, dict) and "statusCode" in result and RESULT_KEYS.issuperset(result):
        return answer_as_given(result)
    if isinstance(result, (bytes, bytearray, memoryview)):
        return within(Answer(200, bytes(result), content_type="application/octet-stream"))
    return within(Answer(200, as_json(result)))


def answer_as_given(result):
    status = result["statusCode"]
    if type(status) is not int or not 200 <= status <= 599:
        raise InvalidResult(f"statusCode must be a number from 200 to 599, not {status!r:.100}")
    body, content_type = result.get("body", ""), "text/plain; charset=utf-8"
    if isinstance(body, (bytes, bytearray)):
        body, content_type = bytes(body), "application/octet-stream"
    elif isinstance(body, str):
        if result.get("isBase64"):
            from base64 import b64decode
            try:
                body, content_type = b64decode(body, validate=True), "application/octet-stream"
            except ValueError as error:
                raise InvalidResult(f"body is not base64: {error}") from None
        else:
            body = utf8(body)
    else:
        body, content_type = as_json(body), JSON
    headers = result.get("headers") or {}
    if not isinstance(headers, dict):
        raise InvalidResult("headers must be an object")
    kept = []
    for name, value in headers.items():
        for one in value if isinstance(value, list) else [value]:
            one = one if isinstance(one, str) else str(one)
            if not isinstance(name, str) or not TOKEN.fullmatch(name) or not VALUE.fullmatch(one):
                raise InvalidResult(f"the header {name!r:.100} is not valid")
            if name.lower() in CONNECTION_HEADERS or name.lower().startswith("function-"):
                raise InvalidResult(f"the header {name} cannot be set by a function")
            kept.append((name, one))
    if any(name.lower() == "content-type" for name, _ in kept):
        content_type = None
    return within(Answer(status, body, kept, content_type))


def within(answer):
    if len(answer.body) > MOST_BODY:
        raise InvalidResult(f"the result has {len(answer.body)} bytes; the maximum is {MOST_BODY}")
    return answer


def utf8(text):
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidResult(f"the result is not text: {error.reason}") from None


def as_json(value):
    try:
        return utf8(json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidResult(f"the result is not JSON: {error}") from None


def error_answer(error):
    """Returns the answer for an error: its message only; the trace is for the log."""
    kind = type(error).__name__
    try:
        message = str(error)
    except Exception:
        message = ""
    body = json.dumps({"error": f"{kind}: {message[:MOST_ERROR]}"}).encode()
    return Answer(500, body, [("Function-Error", re.sub(r"[^\w.-]", "_", kind, flags=re.ASCII)[:100])])


def log_trace(error, call_id):
    import traceback
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=50))
    print(f"[{call_id}] {trace[-MOST_TRACE:]}".rstrip(), file=sys.stderr)


def once_seconds(request):
    """
    Returns how many seconds ago the call may first have been sent; None for a call that may be made more than
    once.
    """
    text = request.headers.get("function-once")
    if text is None or not request.headers.get("function-call-id"):
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        raise Refused(400, "Function-Once must be a number of seconds") from None


class Server:
    def __init__(self, program):
        self.program = program
        self.calls = Calls()
        self.memory = Memory()
        self.open = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.process = os.getpid()

    def answer(self, request, deadline, record):
        call_id = request.headers.get("function-call-id") or os.urandom(8).hex()
        event = request.event()
        answer = Answer(500, b'{"error":"InternalError: the call was not answered"}')
        try:
            answer = answer_of(self.program.call(event, Context(request, call_id, deadline)))
        except InvalidResult as error:
            print(f"[{call_id}] {error}", file=sys.stderr)
            answer = error_answer(error)
        except SystemExit as error:
            print(f"[{call_id}] the handler ended the process: exit {error.code}", file=sys.stderr)
            leave(error.code if isinstance(error.code, int) else 0 if error.code is None else 1)
        except BaseException as error:
            log_trace(error, call_id)
            answer = error_answer(error)
        finally:
            if record:
                self.memory.finish(record, answer)
        return answer

    def turn(self, connection, request):
        """Reads the rest of the request and answers it; returns whether the connection is kept."""
        expects = request.headers.get("expect")
        if expects is not None and expects.lower() != "100-continue":
            raise Refused(417, "the only expectation is 100-continue")
        record = claimed = None
        repeats = False
        try:
            once = once_seconds(request)
            if once is not None:
                record, repeats = self.memory.claim(request.headers["function-call-id"], once)
                claimed = None if repeats else record
            deadline = None if repeats else self.calls.begin(request)
        except Refused as refused:
            if claimed:
                self.memory.drop(claimed)
            if expects is None:
                connection.body(request, False)
            refused.close = expects is not None
            raise
        try:
            if expects is not None:
                connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.body = connection.body(request, not repeats)
            answer = self.memory.wait(record) if repeats else self.answer(request, deadline, claimed)
            if os.getpid() != self.process:
                # The handler has forked and returned in both processes: the client would take a second answer
                # for the answer of its next call.
                leave(0)
            close = not request.keeps or self.calls.ending
            connection.send(answer.bytes(request.method, close))
            return not close
        finally:
            if claimed and claimed.answer is None:
                self.memory.drop(claimed)
            if not repeats:
                self.calls.end(request)

    def serve(self, sock):
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(sock)
            while self.next(connection):
                pass
        except OSError:
            # The client has disconnected, or is too slow.
            pass
        finally:
            sock.close()
            self.open.release()

    def next(self, connection):
        """Handles the next request; returns whether there may be another one."""
        request = None
        try:
            request = connection.head()
            return request is not None and self.turn(connection, request)
        except Refused as refused:
            close = refused.close or request is None or not request.keeps
            connection.send(refused.answer.bytes(request.method if request else "", close))
            if close:
                connection.linger()
            return not close

    def run(self, listener):
        threading.Thread(target=self.calls.watch, daemon=True, name="watch").start()
        while True:
            sock, _ = listener.accept()
            if self.open.acquire(blocking=False):
                threading.Thread(target=self.serve, args=(sock,), daemon=True).start()
                continue
            refused = Refused(503, "this instance has too many connections", "busy")
            try:
                sock.settimeout(1)
                sock.sendall(refused.answer.bytes("", True))
            except OSError:
                pass
            sock.close()

    def stop(self, *_):
        if self.calls.stopping:
            return
        self.calls.stopping = True
        threading.Thread(target=self.calls.drain, daemon=True, name="drain").start()


def find_libraries():
    """Adds the function's libraries before those of the image, and after those of Python itself."""
    sys.path[0] = os.getcwd()
    libraries = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libraries")
    if not os.path.isdir(libraries):
        return
    import site
    before = set(sys.path)
    site.addsitedir(libraries)
    added = [path for path in sys.path if path not in before]
    others = [path for path in sys.path if path in before]
    at = next((at for at, path in enumerate(others) if path.endswith(("site-packages", "dist-packages"))), len(others))
    sys.path[:] = others[:at] + added + others[at:]


def main():
    for stream in (sys.stdout, sys.stderr):
        # A line is in the log once it has been printed, whatever characters it has.
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    find_libraries()
    # The handler is installed before the program is loaded: loading may take long, and the pod may be
    # deleted.
    signal.signal(signal.SIGTERM, lambda *_: leave(0))
    server = Server(Program(os.environ.get("FUNCTION_HANDLER", "main.handler")))
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    listener = socket.create_server(("", PORT), family=family, backlog=1024, dualstack_ipv6=family == socket.AF_INET6)
    signal.signal(signal.SIGTERM, server.stop)
    server.run(listener)


if __name__ == "__main__":
    # `exit` and `quit` are for an interactive Python; programs use them all the same, meaning sys.exit.
    builtins.exit = builtins.quit = sys.exit
    main()
