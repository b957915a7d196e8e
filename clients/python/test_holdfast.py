"""The client against a real server: `python3 -m unittest` in this directory, after `npm run build` in the root of the repository."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from holdfast import Holdfast, HoldfastError

BIN = Path(__file__).resolve().parents[2] / "dist" / "bin" / "holdfast.js"


class Server:
    """A `holdfast serve` on a home of its own, which is removed with everything that was started on it."""

    def __init__(self) -> None:
        self.work = tempfile.mkdtemp(prefix="hf-py-")
        self.home = os.path.join(self.work, "home")
        self.env = {**os.environ, "HOLDFAST_HOME": self.home}
        self.start()

    def start(self) -> None:
        command = ["node", str(BIN), "serve", "--port", "0", "--json"]
        self.process = subprocess.Popen(command, cwd=self.work, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout
        self.about = json.loads(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def remove(self) -> None:
        client = Holdfast(home=self.home)
        for task in client.tasks():
            client.task(task["task"]).end()
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()
        shutil.rmtree(self.work)


class ClientTest(unittest.TestCase):
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(lambda: cls.server.remove())

    def setUp(self) -> None:
        self.client = Holdfast(home=self.server.home)

    def code_of(self, act) -> str:
        with self.assertRaises(HoldfastError) as caught:
            act()
        return caught.exception.code

    def test_a_shell_keeps_its_state_and_a_failure_is_a_result(self) -> None:
        with self.client.task("state") as task:
            self.assertEqual(task.terminal("cd /usr && export NAME=Jo")["exit_code"], 0)
            result = task.terminal("echo $NAME in $PWD; exit 3")
            self.assertEqual((result["status"], result["exit_code"], result["output"].strip()), ("exited", 3, "Jo in /usr"))
            self.assertEqual(task.terminal("sleep 30", timeout=1, on_timeout="kill")["status"], "timeout")
            self.assertIn("command", task.call("terminal", {})["error"])

    def test_bytes_go_in_and_out_unchanged(self) -> None:
        data = os.urandom(3_000_000)
        secret = b"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n"
        here = Path(self.server.work) / "there and back"
        with self.client.task("bytes") as task:
            task.terminal("mkdir 'work dir' && cd 'work dir'")
            written = task.write("a b/data.bin", data, mode=0o600)
            self.assertEqual(written["sha256"], hashlib.sha256(data).hexdigest())
            self.assertEqual(task.read("a b/data.bin"), data)
            task.write("empty", b"")
            self.assertEqual(task.read("empty"), b"")
            task.write(".hidden", secret)
            self.assertEqual(task.read(".hidden"), secret)
            self.assertNotIn("wJalrXUtnFEMI", task.terminal("cat .hidden")["output"])
            task.terminal("ln -s nowhere link")
            self.assertEqual(
                {entry["name"]: entry["kind"] for entry in task.list(recursive=True)},
                {".hidden": "file", "a b": "directory", "a b/data.bin": "file", "empty": "file", "link": "link"},
            )
            self.assertEqual(task.download("a b/data.bin", here), written["sha256"])
            self.assertEqual(task.upload(here, "again.bin"), written["sha256"])
            self.assertEqual(task.terminal("sha256sum < again.bin")["output"].split()[0], written["sha256"])
            self.assertEqual(self.code_of(lambda: task.read("missing")), "NOT_FOUND")
            self.assertEqual(self.code_of(lambda: task.read(".")), "INVALID")
            self.assertEqual([name for name in os.listdir(self.server.work) if name.endswith(".part")], [])

    @unittest.skipUnless(shutil.which("bwrap"), "needs bubblewrap")
    def test_files_and_commands_of_a_sandbox_stay_in_it(self) -> None:
        name = f"/tmp/hf-py-{os.getpid()}"
        for place in ("local+sandbox", {"kind": "sandbox"}):
            with self.client.task(f"boxed {place}", place=place) as task:
                task.write(name, "inside")
                self.assertEqual(task.terminal(f"cat {name}")["output"].strip(), "inside")
                self.assertEqual(task.read(name), b"inside")
                process = task.spawn(f"cat {name}")
                process.wait()
                self.assertEqual(process.log(), b"inside")
                self.assertFalse(Path(name).exists())

    def test_a_process_is_waited_for_written_to_and_killed(self) -> None:
        with self.client.task("process") as task:
            process = task.spawn("read -p 'name? ' name; echo \"hello $name\"; exit 4", pty=True)
            self.assertEqual(process.wait({"input": True})["matched"], "input")
            self.assertIn("name?", process.screen()["screen"])
            process.resize(100, 40)
            self.assertEqual((process.refresh().view["cols"], process.view["rows"]), (100, 40))
            process.keys("Jo<ENTER>")
            self.assertEqual(process.wait()["matched"], "exit")
            self.assertTrue(task.spawn("sleep 600").wait(timeout=1)["timed_out"])
            self.assertEqual((process.status, process.exit_code), ("exited", 4))
            self.assertIn(b"hello Jo", process.log())
            cat = task.spawn("cat")
            self.assertEqual(cat.write(b"\xff\xfe\n"), 3)
            cat.wait({"pattern": "\n"})
            cat.close()
            cat.wait()
            self.assertEqual(cat.log(), b"\xff\xfe\n")
            listener = task.spawn("exec python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 0)); print(s.getsockname()[1], flush=True); time.sleep(600)'")
            listener.wait({"pattern": "\\d+"}, timeout=60)
            self.assertEqual([one["port"] for one in listener.ports()], [int(listener.log())])
            listener.signal("SIGTERM")
            self.assertEqual(listener.wait()["matched"], "exit")
            sleeper = task.spawn("sleep 600")
            killed = sleeper.kill()
            self.assertEqual((killed["status"], killed["survivors"]), ("killed", []))
            self.assertEqual(sleeper.refresh().status, "killed")
            self.assertEqual(self.code_of(lambda: self.client.process("proc_000000000000")), "NOT_FOUND")

    def test_a_long_log_is_read_whole(self) -> None:
        with self.client.task("long") as task:
            process = task.spawn("head -c 9000000 /dev/zero | tr '\\0' x")
            process.wait(timeout=60)
            process.wait({"silence": 0.1})
            self.assertEqual(len(process.log()), 9_000_000)

    def test_a_call_is_found_after_the_server_was_killed(self) -> None:
        task = self.client.task("crash")
        self.assertEqual(task.find("c1"), {"state": "never"})
        started = Path(self.server.work) / "started"
        caught = []

        def call() -> None:
            try:
                task.terminal(f"touch {started}; until [ -e {started}.go ]; do sleep 0.05; done; echo done; exit 7", id="c1", keep=True)
            except HoldfastError as error:
                caught.append(error.code)

        caller = threading.Thread(target=call)
        caller.start()
        while not started.exists():
            caller.join(0.02)
            self.assertTrue(caller.is_alive(), "the command was not run")
        self.server.kill()
        caller.join()
        self.assertEqual(caught, ["CONNECTION"])
        self.server.start()
        task = Holdfast(home=self.server.home).task("crash")
        found = task.find("c1")
        self.assertEqual(found["state"], "running")
        Path(f"{started}.go").touch()
        process = task.server.process(found["session_id"])
        process.wait()
        self.assertEqual((process.exit_code, process.log()), (7, b"done\n"))
        self.assertEqual(task.find("c1")["state"], "ended")
        self.assertIn("c1", task.terminal("echo twice", id="c1")["error"] or "")
        task.settle("c1")
        task.end()

    def test_questions_are_seen_and_answered(self) -> None:
        with self.client.task("asks") as task:
            result = task.terminal("git push --force origin main", timeout=5)
            self.assertEqual(result["status"], "pending_approval")
            question = next(item for item in task.approvals() if item["state"] == "pending")
            answered = self.client.answer(question["id"], "no", "not on main")
            self.assertEqual((answered["answer"], answered["message"]), ("no", "not on main"))
            self.assertEqual(self.code_of(lambda: self.client.answer(question["id"], "once")), "ANSWERED")
            self.assertIn("not on main", task.terminal("git push --force origin main", timeout=5)["error"] or "")

    def test_events_and_notices_tell_what_happens(self) -> None:
        with self.client.task("events") as task:
            events = self.client.events()
            first = next(events)
            self.assertEqual(first["event"], "snapshot")
            go = os.path.join(tempfile.mkdtemp(prefix="hf-py-"), "go")
            self.addCleanup(shutil.rmtree, os.path.dirname(go))
            started = task.terminal(f"until [ -e {go} ]; do sleep 0.02; done; echo over", background=True, notify_on_complete=True)
            with open(go, "w", encoding="utf-8"):
                pass  # only now: the answer to a call brings the notices that there are
            notice = next(event for event in events if event["event"] == "notice")
            self.assertEqual(notice["data"]["session_id"], started["session_id"])
            events.close()
            self.assertEqual([item["id"] for item in task.notices()], [notice["data"]["id"]])
            again = self.client.events(after=first["id"])
            missed = next(event for event in again if event["event"] == "notice")
            self.assertEqual(missed["data"]["id"], notice["data"]["id"])
            again.close()

    def test_a_task_that_ends_leaves_nothing(self) -> None:
        with self.client.task("leaves") as task:
            task.terminal("sleep 600 & setsid sleep 600 &")
            process = task.spawn("sleep 600")
            pid = process.view["pid"]
        self.assertFalse(Path(f"/proc/{pid}").exists())
        self.assertEqual([item.status for item in self.client.processes(task="leaves", ended=False)], [])
        self.assertTrue(task.end()["gone"])

    def test_what_cannot_be_used_is_said(self) -> None:
        self.assertEqual(self.code_of(lambda: Holdfast(self.client.url, "wrong").tasks()), "UNAUTHORIZED")
        self.assertEqual(self.code_of(lambda: Holdfast("http://127.0.0.1:1", "x").tasks()), "CONNECTION")
        self.assertEqual(self.code_of(lambda: Holdfast("ftp://x", "x")), "INVALID")
        self.assertEqual(self.code_of(lambda: Holdfast(home="/nowhere")), "UNAUTHORIZED")
        self.assertEqual(self.code_of(lambda: self.client.task("a\0b").end()), "INVALID")
        self.assertIn("kind", self.client.task("t", place={"kind": "moon"}).terminal("true")["error"] or "")
        self.assertEqual(self.code_of(lambda: self.client.task("t", place="{no json").terminal("true")), "INVALID")
        self.assertIn("user", (self.client.task("t", user="nobody").terminal("true")["error"] or "").lower())
        self.assertEqual(self.code_of(lambda: self.client.request("GET", "/api/nothing")), "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
