/** Uploads and downloads in a sandbox, of a directory that changes places with a link to one that the sandbox does not see. */
import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { exchanging, noExchange } from "../support/exchange.js";
import { tempDir } from "../support/home.js";
import { agent } from "../tools/files/support.js";

const SECRET = "out of reach\n";
const OFTEN = 20; // the shell looks at what was copied once in so many rounds

/** Returns how many copies were made, and how many were not because of the link. */
export async function raceInSandbox(rounds: number): Promise<{ made: number; refused: number }> {
	const [work, other] = [tempDir("work"), tempDir("other")];
	fs.writeFileSync(path.join(other, "secret"), SECRET);
	const runtime = await agent({ place: "local+sandbox", sandbox: { directory: work } });
	const planted = path.join(other, "planted");
	await runtime.terminal({ command: `echo evil > /tmp/evil; ln -s ${planted} report.txt; mkdir -p /tmp/t D; ln -s ${planted} /tmp/t/l; ln -s ${other} lnk` });
	await runtime.download({ source: "/tmp/evil", target: "report.txt" });
	await runtime.download({ source: "/tmp/t", target: "t" });
	await runtime.download({ source: "/tmp/evil", target: "t/l" });
	const stop = noExchange ? undefined : await exchanging(path.join(work, "D"), path.join(work, "lnk"));
	const counts = { made: 0, refused: 0 };
	const count = ({ status }: { status: string }) => counts[status === "ok" ? "made" : "refused"]++;
	for (let round = 0; round < rounds; round++) {
		count(await runtime.download({ source: "/tmp/evil", target: "D/secret" }));
		count(await runtime.download({ source: "/tmp/t", target: `D/t${round}` }));
		count(await runtime.upload({ source: "D/secret", target: `/tmp/got${round % OFTEN}` }));
		if (round % OFTEN === OFTEN - 1 || round === rounds - 1)
			expect((await runtime.terminal({ command: "cat /tmp/got*; rm -rf /tmp/got* D/t[0-9]*" })).output).not.toContain(SECRET.trim());
	}
	await stop?.();
	expect(fs.readdirSync(other)).toEqual(["secret"]);
	expect(fs.readFileSync(path.join(other, "secret"), "utf8")).toBe(SECRET);
	return counts;
}
