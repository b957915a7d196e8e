import fs from "node:fs";
import { expect, it } from "vitest";
import { ERRORS, fromSystem } from "../../src/base/errors.js";

it("docs/http.md names every code beside its status", () => {
	const rows = [...fs.readFileSync("docs/http.md", "utf8").matchAll(/^\| (\d{3}) \| (.*) \|$/gm)];
	const documented = rows.flatMap(([, status, text]) =>
		`${status} ${text}`.split(/(?=\b\d{3}\b)/).flatMap((part) => [...part.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => `${part.slice(0, 3)} ${code}`)),
	);
	for (const [code, { http }] of Object.entries(ERRORS)) if (code !== "ABORTED") expect(documented).toContain(`${http} ${code}`); // nobody is left to read that answer
});

it.each([
	["ENOSPC", "NO_SPACE"],
	["EMFILE", "NO_FILES"],
	["EACCES", "DENIED"],
	["EPERM", "DENIED"],
	["EROFS", "DENIED"],
	["EIO", "INTERNAL"],
])("%s of the system is %s", (errno, code) => {
	const cause = Object.assign(new Error("x"), { code: errno });
	expect(fromSystem(cause, "doing it")).toMatchObject({ code, cause });
});
