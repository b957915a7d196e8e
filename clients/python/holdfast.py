"""A client for the HTTP API of Holdfast, on the standard library alone (Python 3.9 or newer).

    from holdfast import Holdfast

    hf = Holdfast()                                  # the `holdfast serve` of this user
    with hf.task("episode-1", place="local+sandbox") as task:
        task.write("input.txt", b"1 2 3")
        result = task.terminal("wc -w < input.txt")
        print(result["exit_code"], result["output"])
    # the task has ended: its processes, shells and containers are gone

Every method makes one request on a connection of its own, so a client may be used from any number of threads. Results are the JSON objects of the API as
dictionaries: docs/tools.md and docs/http.md list their fields. A command that fails is a result; a request that fails raises HoldfastError.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import os
import ssl
import time
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List, Mapping, Optional, Protocol, TypedDict, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Event", "Holdfast", "HoldfastError", "Process", "Task", "TerminalResult"]
__version__ = "0.1.0"

Json = Dict[str, Any]
Place = Union[str, Mapping[str, Any]]

DEFAULT_URL = "http://127.0.0.1:4653"
CONNECT_SECONDS = 10.0
# A call answers within its own time; the rest is for a place that has to be made first.
MARGIN_SECONDS = 900.0
PIECE_BYTES = 256 * 1024
WAIT_SECONDS = 180  # the longest that one call of `process` waits


class Readable(Protocol):
    """Something that bytes are read from: a file, or what behaves like one."""

    def read(self, size: int) -> bytes: ...


class HoldfastError(Exception):
    """A request that was refused or could not be made.

    `code` is for programs (docs/http.md has the list, for instance NOT_FOUND, UNREACHABLE, PENDING); CONNECTION means that no answer came, so the request
    may or may not have been carried out: a call with an `id` is looked up with `Task.find`. `status` is the HTTP status, or None without an answer.
    """

    def __init__(self, code: str, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status

    def __str__(self) -> str:
        return f"{self.code}: {self.args[0]}"


class TerminalResult(TypedDict, total=False):
    """The result of the tool `terminal`; docs/tools.md has every field."""

    status: str
    output: str
    exit_code: Optional[int]
    error: Optional[str]
    session_id: str
    pid: int
    cwd: str
    duration_ms: int
    screen: str
    truncated: Json
    note: str
    box: Json


class Event(TypedDict):
    """One event of the server: `snapshot`, `process`, `gone`, `notice`, `approvals` or `log`."""

    id: str
    event: str
    data: Any


class Holdfast:
    """One server. Without arguments: the `holdfast serve` that runs on this user's home."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        home: Union[str, Path, None] = None,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """`url` is the address of the server, `token` what is in the file `token` of its home. Of an `https` address, `context` may check certificates."""
        root = Path(home) if home is not None else _home()
        record = {} if url is not None else _record(root)
        self.url = (url or record.get("origin") or DEFAULT_URL).rstrip("/")
        self._token = token if token is not None else _token(Path(record.get("token_file") or root / "token"))
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise HoldfastError("INVALID", f"{self.url} is no address of a server; give one such as {DEFAULT_URL}")
        self._parts = parts
        self._context = context

    def task(self, name: str, *, place: Optional[Place] = None, user: Optional[str] = None) -> Task:
        """A task: a shell, processes and, at such a place, a sandbox or container of its own. Nothing is made before the first call."""
        return Task(self, name, place, user)

    def tasks(self) -> List[Json]:
        """What each task has running, with its use of the machine."""
        return self.request("GET", "/api/tasks")["tasks"]

    def processes(self, *, task: Optional[str] = None, ended: bool = True) -> List[Process]:
        """Processes that run, and those that ended in the last half hour, newest first."""
        query = {"task": task, "ended": "true" if ended else "false"}
        return [Process(self, view) for view in self.request("GET", "/api/processes", query)["processes"]]

    def process(self, session_id: str) -> Process:
        """One process by its id, or the first four or more digits of it."""
        return Process(self, self.request("GET", f"/api/processes/{quote(session_id, safe='')}"))

    def approvals(self, *, task: Optional[str] = None) -> List[Json]:
        """Questions of agents: those that wait for an answer, and what was settled in the last hour."""
        return self.request("GET", "/api/approvals", {"task": task})["approvals"]

    def answer(self, approval: str, answer: str, message: Optional[str] = None) -> Json:
        """Answers a question with `once`, `task`, `always` or `no`. The first answer counts: a later one raises ANSWERED."""
        body: Json = {"answer": answer}
        if message is not None:
            body["message"] = message
        return self.request("POST", f"/api/approvals/{quote(approval, safe='')}", body=body)

    def notices(self, *, task: Optional[str] = None) -> List[Json]:
        """Notices that wait for an agent. A look takes none away."""
        return self.request("GET", "/api/notices", {"task": task})["notices"]

    def events(self, *, after: Optional[str] = None, seconds: Optional[float] = None) -> Iterator[Event]:
        """Yields what happens, for ever. `after` is the `id` of the last event that was seen: what was missed since then comes first.

        Raises CONNECTION when the line is cut, and after `seconds` without a word; the server says something every 15 seconds. Call it again with the last id.
        """
        headers = {} if after is None else {"Last-Event-ID": after}
        connection, response = self._open("GET", "/api/events", None, None, headers, seconds if seconds is not None else 60.0)
        try:
            yield from _events(response)
            raise HoldfastError("CONNECTION", "the server has closed the events; ask again with the id of the last one")
        except (OSError, http.client.HTTPException) as error:
            raise _lost("GET", "/api/events", error) from error
        finally:
            connection.close()

    def request(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Optional[Json] = None, *, timeout: float = 60.0) -> Any:
        """One request of the API, for what has no method here: docs/http.md lists them all. Returns the JSON of the answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        connection, response = self._open(method, path, query, data, headers, timeout)
        try:
            return json.loads(response.read())
        except (OSError, http.client.HTTPException) as error:
            raise _lost(method, path, error) from error
        except ValueError as error:
            raise HoldfastError("INVALID", f"{self.url} answered {method} {path} with something that is no JSON; is it a Holdfast server?") from error
        finally:
            connection.close()

    def _open(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        data: Union[bytes, Iterator[bytes], None],
        headers: Mapping[str, str],
        timeout: float,
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Sends a request and returns its answer, unread. The caller closes the connection."""
        given = {key: value for key, value in (query or {}).items() if value is not None}
        target = self._parts.path + path + ("?" + urlencode(given) if given else "")
        connection = self._connection()
        try:
            connection.connect()
            connection.sock.settimeout(timeout)
            connection.request(method, target, body=data, headers={"Authorization": f"Bearer {self._token}", "Connection": "close", **headers})
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _lost(method, path, error) from error
        if response.status < 400:
            return connection, response
        try:
            raise _problem(response)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)


class Task:
    """A task of the server. As a context manager it ends with its block: everything that it owns is gone then."""

    def __init__(self, server: Holdfast, name: str, place: Optional[Place] = None, user: Optional[str] = None) -> None:
        self.server = server
        self.name = name
        self._place = json.dumps(dict(place)) if isinstance(place, Mapping) else place
        self._user = user

    def __enter__(self) -> Task:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def call(self, tool: str, arguments: Json, *, id: Optional[str] = None, keep: bool = False, user: Optional[str] = None) -> Json:
        """Calls a tool. With an `id` of yours the call can be found after any crash; `keep` keeps its result until `settle`."""
        query = self._where(user)
        query.update({"id": id, "keep": "true" if keep else None})
        seconds = arguments.get("timeout")
        patience = (seconds if isinstance(seconds, (int, float)) else 180) + MARGIN_SECONDS
        return self.server.request("POST", f"/api/tools/{quote(tool, safe='')}", query, arguments, timeout=patience)

    def terminal(
        self,
        command: str,
        *,
        timeout: Optional[int] = None,
        workdir: Optional[str] = None,
        background: bool = False,
        pty: bool = False,
        on_timeout: Optional[str] = None,
        id: Optional[str] = None,
        keep: bool = False,
        user: Optional[str] = None,
        **more: Any,
    ) -> TerminalResult:
        """Runs a command in the task's shell, which keeps its directory, variables and jobs. `more`: every other parameter of the tool (docs/tools.md)."""
        arguments: Json = {"command": command, **more}
        given = {"timeout": timeout, "workdir": workdir, "on_timeout": on_timeout, "background": background or None, "pty": pty or None}
        arguments.update({key: value for key, value in given.items() if value is not None})
        return self.call("terminal", arguments, id=id, keep=keep, user=user)  # type: ignore[return-value]

    def spawn(self, command: str, *, cwd: Optional[str] = None, name: Optional[str] = None, pty: bool = False) -> Process:
        """Starts a process that goes on by itself, in the task's place."""
        body: Json = {"command": command, "task": self.name, "pty": pty}
        place = json.loads(self._place) if self._place is not None and self._place.lstrip().startswith("{") else self._place
        body.update({key: value for key, value in {"cwd": cwd, "name": name, "place": place}.items() if value is not None})
        return Process(self.server, self.server.request("POST", "/api/processes", body=body, timeout=MARGIN_SECONDS))

    def processes(self, *, ended: bool = True) -> List[Process]:
        """The processes of this task, newest first."""
        return self.server.processes(task=self.name, ended=ended)

    def read(self, path: str, *, user: Optional[str] = None) -> bytes:
        """The bytes of a file of the place. Nothing is cut or masked."""
        return b"".join(self.stream(path, user=user))

    def stream(self, path: str, *, user: Optional[str] = None) -> Iterator[bytes]:
        """The bytes of a file, in pieces."""
        query = {**self._where(user), "path": path}
        connection, response = self.server._open("GET", "/api/tasks/files", query, None, {}, MARGIN_SECONDS)
        try:
            while piece := response.read(PIECE_BYTES):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise HoldfastError("CONNECTION", f"{path} did not come to its end ({error or type(error).__name__}); read it again") from error
        finally:
            connection.close()

    def download(self, path: str, to: Union[str, Path]) -> str:
        """A file of the place becomes a file of this machine, whole or not at all. Returns its sha256."""
        target = Path(to)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        digest = hashlib.sha256()
        try:
            with open(part, "wb") as file:
                for piece in self.stream(path):
                    digest.update(piece)
                    file.write(piece)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
        return digest.hexdigest()

    def write(self, path: str, content: Union[bytes, str, Readable], *, mode: Optional[int] = None, user: Optional[str] = None) -> Json:
        """Writes a file of the place, whole or not at all, and makes the directories above it. Returns path, bytes and sha256 of what is there now."""
        data = content.encode() if isinstance(content, str) else content
        query = {**self._where(user), "path": path, "mode": None if mode is None else format(mode, "o").zfill(3)}
        headers = {"Content-Type": "application/octet-stream"}
        body: Union[bytes, Iterator[bytes]] = data if isinstance(data, bytes) else _pieces(data)
        connection, response = self.server._open("PUT", "/api/tasks/files", query, body, headers, MARGIN_SECONDS)
        try:
            return json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _lost("PUT", path, error) from error
        finally:
            connection.close()

    def upload(self, file: Union[str, Path], path: str) -> str:
        """A file of this machine becomes a file of the place. Returns its sha256, compared with what was sent."""
        digest = hashlib.sha256()
        with open(file, "rb") as source:
            written = self.write(path, _Counted(source, digest), mode=os.fstat(source.fileno()).st_mode & 0o777)
        if written["sha256"] != digest.hexdigest():
            raise HoldfastError("CONFLICT", f"{path} is not what was sent; something has changed it meanwhile, send it again")
        return written["sha256"]

    def list(self, path: str = ".", *, recursive: bool = False) -> List[Json]:
        """What is in a directory of the place, hidden names and links included: name, kind, size, mode and, of links, target."""
        query = {**self._where(None), "path": path, "recursive": "true" if recursive else None}
        return self.server.request("GET", "/api/tasks/files/list", query, timeout=MARGIN_SECONDS)["entries"]

    def find(self, id: str) -> Json:
        """What became of a call that was given an id. `state` is never, running, ended or unknown, after any crash."""
        return self.server.request("GET", "/api/calls", {"task": self.name, "id": id})

    def settle(self, id: str) -> None:
        """Forgets the result that was kept of a call."""
        self.server.request("POST", "/api/calls/settle", body={"task": self.name, "id": id})

    def approvals(self) -> List[Json]:
        return self.server.approvals(task=self.name)

    def notices(self) -> List[Json]:
        return self.server.notices(task=self.name)

    def end(self) -> Json:
        """Ends the task with everything it owns, and says what that was; `gone` is true when a look found nothing left."""
        return self.server.request("POST", "/api/tasks/end", body={"task": self.name}, timeout=MARGIN_SECONDS)

    def _where(self, user: Optional[str]) -> Json:
        return {"task": self.name, "place": self._place, "user": user or self._user}


class Process:
    """A kept process. `view` is what the server said of it when it was last asked: docs/http.md has the fields."""

    def __init__(self, server: Holdfast, view: Json) -> None:
        self.server = server
        self.view = view

    @property
    def id(self) -> str:
        return self.view["session_id"]

    @property
    def status(self) -> str:
        """As it was last seen; `refresh` asks again."""
        return self.view["status"]

    @property
    def exit_code(self) -> Optional[int]:
        return self.view["exit_code"]

    def refresh(self) -> Process:
        """Asks the server how it is now."""
        self.view = self.server.request("GET", self._at())
        return self

    def log(self, offset: int = 0) -> bytes:
        """All that it has printed from a byte on, as it was printed. What a full log has dropped is left out: `view["first_offset"]`."""
        found = bytearray()
        while True:
            connection, response = self.server._open("GET", self._at("log"), {"offset": offset, "limit": 4_194_304}, None, {}, 60.0)
            try:
                piece = response.read()
            except (OSError, http.client.HTTPException) as error:
                raise _lost("GET", self._at("log"), error) from error
            finally:
                connection.close()
            found += piece
            following = int(response.headers["X-Holdfast-Next"])
            if following >= int(response.headers["X-Holdfast-End"]) or following <= offset:
                return bytes(found)
            offset = following

    def wait(self, until: Optional[Json] = None, *, timeout: float = 30) -> Json:
        """Waits until it ends, or until a condition such as {"port": 8000}, {"pattern": "ready"} or {"input": True} holds.

        Returns the result of the tool `process` with the action `wait`: `matched` says which condition held, `timed_out` that none did within the time.
        """
        ends = time.monotonic() + timeout
        while True:
            left = max(1, min(WAIT_SECONDS, math.ceil(ends - time.monotonic())))
            arguments = {"action": "wait", "session_id": self.id, "until": until or {"exit": True}, "timeout": left}
            answer = self.server.task(self.view["task"]).call("process", arguments)
            if not answer.get("timed_out") or time.monotonic() >= ends:
                self.refresh()
                return answer

    def write(self, data: Union[str, bytes], *, submit: bool = False) -> int:
        """Writes to its input; `submit`: and Enter. Returns how many bytes were taken."""
        body: Json = {"data": data} if isinstance(data, str) else {"data": _base64(data), "base64": True}
        if submit:
            body["submit"] = True
        return self.server.request("POST", self._at("input"), body=body)["bytes_written"]

    def keys(self, keys: str) -> int:
        """Types text and <KEY> tokens on its terminal."""
        return self.server.request("POST", self._at("keys"), body={"keys": keys})["bytes_written"]

    def close(self) -> None:
        """Ends its input."""
        self.server.request("POST", self._at("close"), body={})

    def screen(self) -> Json:
        """The rendered screen of its terminal, the cursor, and what it waits for."""
        return self.server.request("GET", self._at("screen"))

    def resize(self, cols: int, rows: int) -> None:
        """Gives its terminal another size."""
        self.server.request("POST", self._at("resize"), body={"cols": cols, "rows": rows})

    def ports(self) -> List[Json]:
        """The TCP ports that it, or what it has started, listens on, each with the `url` of a preview where there is one."""
        return self.server.request("GET", self._at("ports"))["ports"]

    def signal(self, name: str) -> None:
        """Sends it a signal by its name: `SIGINT`."""
        self.server.request("POST", self._at("signal"), body={"signal": name})

    def kill(self) -> Json:
        """Ends it with everything it started, and looks whether that worked: `survivors` lists what is left."""
        return self.server.request("POST", self._at("kill"), body={})

    def _at(self, what: str = "") -> str:
        return f"/api/processes/{quote(self.id, safe='')}" + (f"/{what}" if what else "")


class _Counted:
    """A file that is hashed while it is read."""

    def __init__(self, source: BinaryIO, digest: Any) -> None:
        self._source = source
        self._digest = digest

    def read(self, size: int) -> bytes:
        piece = self._source.read(size)
        self._digest.update(piece)
        return piece


def _pieces(source: Readable) -> Iterator[bytes]:
    while piece := source.read(PIECE_BYTES):
        yield piece


def _base64(data: bytes) -> str:
    from base64 import b64encode

    return b64encode(data).decode()


def _events(response: http.client.HTTPResponse) -> Iterator[Event]:
    fields: Dict[str, str] = {}
    for raw in response:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line == "":
            if "data" in fields:
                yield {"id": fields.get("id", ""), "event": fields.get("event", "message"), "data": json.loads(fields["data"])}
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value


def _problem(response: http.client.HTTPResponse) -> HoldfastError:
    """The error of an answer of 400 or more, whoever has given it."""
    try:
        error = json.loads(response.read())["error"]
        return HoldfastError(error["code"], error["message"], response.status)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return HoldfastError("HTTP", f"status {response.status} {response.reason}, without an answer of Holdfast's; is the address right?", response.status)


def _lost(method: str, path: str, error: BaseException) -> HoldfastError:
    if isinstance(error, ConnectionRefusedError):
        return HoldfastError("CONNECTION", "nothing listens there; start the server with `holdfast serve`, or give its url")
    words = str(error) or type(error).__name__
    return HoldfastError("CONNECTION", f"no answer to {method} {path} ({words}); what was started goes on, look before you repeat it")


def _home() -> Path:
    given = os.environ.get("HOLDFAST_HOME")
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "holdfast"


def _record(root: Path) -> Json:
    """What the server that was started last on this home has written down: its address, and where its token is."""
    try:
        for file in sorted((root / "serve").glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True):
            return dict(json.loads(file.read_text()))
    except (OSError, ValueError):
        pass  # it has just ended; the default address says so
    return {}


def _token(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise HoldfastError("UNAUTHORIZED", f"there is no token in {file}; start `holdfast serve` once, or give url and token") from error
