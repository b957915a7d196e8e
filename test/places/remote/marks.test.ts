/** Marks in a remote shell's directory that it was told something: bounded, with remote perl and without. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { namesIn } from "../../../src/base/files.js";
import { elsewhere } from "../../support/elsewhere.js";
import { tempDir } from "../../support/home.js";
import { openRuntime } from "../../support/internal.js";
import { noSshd } from "../../support/sshd.js";

const HOUR = 3600;

describe.skipIf(noSshd).each([true, false])("perl there: %s", (perl) => {
	test("one mark of a program stays while it is there, and those of programs that have gone are not kept for ever", async () => {
		const bin = tempDir("bin");
		fs.writeFileSync(path.join(bin, "perl"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
		const { sshd, home, runtime } = await elsewhere({ rc: perl ? "" : `PATH=${bin}:$PATH` });
		for (let count = 0; count < 5; count++) expect(await runtime.terminal({ command: `echo ${count}` })).toMatchObject({ output: `${count}\n` });
		const [shell] = runtime.list({ shells: true, ended: false }).filter(({ spec }) => spec.kind === "shell");
		const id = shell?.id ?? "";
		const boxes = path.join(sshd.home, ".local/state/holdfast/boxes");
		const dir = path.join(boxes, namesIn(boxes)[0] ?? "", "procs", id.charAt(5), id);
		const marks = () => namesIn(dir).filter((name) => name.startsWith("sent."));
		expect(marks()).toHaveLength(1);
		const [mine = ""] = marks();

		// Those of two others: one has just left, and what it sent may be on its way still; the other left an hour ago.
		const then = Date.now() / 1000 - HOUR;
		for (const name of ["sent.old", "sent.moved", "sent.new"]) fs.mkdirSync(path.join(dir, name));
		fs.writeFileSync(path.join(dir, "sent.moved/moved"), "/tmp");
		for (const name of ["sent.old", "sent.moved", mine]) fs.utimesSync(path.join(dir, name), then, then);
		await runtime.close();
		await using next = await openRuntime({ home, warm: 0, place: "box" });
		expect(await next.terminal({ command: "echo next" })).toMatchObject({ output: "next\n" });
		expect(marks()).toHaveLength(2);
		expect(marks()).toContain("sent.new");
	});
});
