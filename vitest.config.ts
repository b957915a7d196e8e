import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest comes first, so that no worker is left with it when the others have nothing more to do. */
const LONGEST = [
	...["contract/docker", "contract/ssh", "contract/ssh-plain", "contract/mcp-stdio", "contract/library", "contract/mcp-http", "contract/sandbox"],
	...["crash/crash", "crash/spawner", "places/ssh/host", "places/files/copy", "contract/docker-busybox"],
	...["places/far/breaks-ssh", "places/far/breaks-docker"],
];

/** Long tests, and those that go round more often or through more groups when `npm run soak` runs them. */
const SOAK = [
	...["test/**/soak-*.test.ts", "test/crash/*.test.ts", "test/contract/{mcp-stdio,mcp-http,http-api,ssh-plain}.test.ts"],
	...["test/places/far/breaks-*.test.ts", "test/places/files/copy.test.ts", "test/process/registry.test.ts", "test/shell/{crash,text}.test.ts"],
];

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => {
			const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
			return at < 0 ? LONGEST.length : at;
		};
		return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
	}
}

export default defineConfig({
	test: {
		include: process.env.SOAK === "1" ? SOAK : ["test/**/*.test.ts"],
		exclude: process.env.SOAK === "1" ? [] : ["test/**/soak-*.test.ts"],
		globalSetup: ["test/support/global.ts"],
		setupFiles: ["test/support/leaks.ts"],
		// For what never ends: whatever a test waits for has a time of its own, and a busy machine may need it several times over.
		testTimeout: 120_000,
		hookTimeout: 120_000,
		// Every test starts real processes and waits for them, on two cores most of the time for nothing that computes: three files at a time,
		// each with a directory of its own.
		maxWorkers: 3,
		sequence: { sequencer: LongestFirst },
		pool: "forks",
		execArgv: ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"], // as in src/doors/cli/main.ts: each file would pay for it
	},
});
