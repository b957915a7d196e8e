import path from "node:path";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = import.meta.dirname;

/** What takes longest comes first, so that no worker is left with it when the others have nothing more to do. */
const LONGEST = [
	...["contract/docker", "contract/ssh", "contract/ssh-plain", "contract/mcp-stdio", "contract/library", "contract/mcp-http", "contract/sandbox"],
	...[
		"crash/crash",
		"crash/spawner",
		"places/ssh/host",
		"places/files/copy",
		"contract/slurm",
		"contract/apptainer",
		"places/slurm/fate",
		"contract/docker-busybox",
	],
	"places/remote/breaks-ssh",
];

/** Long tests, and those that go round more often or through more groups when `npm run soak` runs them. */
const SOAK = [
	...[
		"test/**/soak-*.test.ts",
		"agent/test/**/soak-*.test.ts",
		"browser/test/**/soak-*.test.ts",
		"test/crash/*.test.ts",
		"test/contract/{mcp-stdio,mcp-http,http-api,ssh,ssh-plain,docker,docker-busybox,sandbox,apptainer,slurm,kubernetes,modal,morph}.test.ts",
		"test/places/pipe/contract.test.ts",
	],
	...[
		"test/places/remote/{breaks-ssh,process}.test.ts",
		"test/places/files/copy.test.ts",
		"test/files/docker.test.ts",
		"test/process/registry.test.ts",
		"test/cli/completion.test.ts",
		"test/shell/{crash,hostile,plain,text}.test.ts",
	],
];

/** What needs a program of its own: the first look at something that the library makes once. */
const ALONE = ["test/policy/plain.test.ts"];
const isSoak = process.env.SOAK === "1";

/**
 * The files of a project take turns in a few programs: most of the time of a short one goes by while modules are loaded. The packages have the library as it
 * is published, the core its parts; in a program that had run files of both, a tool of one copy was met by the other.
 */
const PROJECTS = {
	core: { include: isSoak ? SOAK : ["test/**/*.test.ts"], exclude: ["agent/**", "browser/**", ...ALONE], isolate: isSoak },
	packages: { include: isSoak ? SOAK : ["{agent,browser}/test/**/*.test.ts"], exclude: ["test/**"], isolate: isSoak },
	alone: { include: isSoak ? [] : ALONE, exclude: [], isolate: true },
};
const [never, soaks] = ["**/node_modules/**", "**/soak-*.test.ts"];

const PACKAGES = [root, path.join(root, "agent"), path.join(root, "browser")];

/** One project after the other: a program ends when the next file is of another. */
class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId, project }: TestSpecification) => {
			const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
			return Object.keys(PROJECTS).indexOf(project.name) * (LONGEST.length + 1) + (at < 0 ? LONGEST.length : at);
		};
		return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
	}
}

/**
 * Tests import the parts of src as the build has compiled them: Node loads hundreds of modules as they are in a third of the time that their
 * transformation takes, for each file of tests anew. `npm test` builds first, and so does whoever runs vitest by hand.
 */
const compiled: Plugin = {
	name: "compiled",
	enforce: "pre",
	resolveId(source, importer) {
		const [, room] = /^(?:\.\.\/)+src\/(.+\.js)$/.exec(source) ?? [];
		const owner = PACKAGES.find((one) => importer?.startsWith(path.join(one, "test") + path.sep));
		if (room === undefined || owner === undefined) return undefined;
		return { id: path.join(owner, "dist", room), external: true };
	},
};

export default defineConfig({
	plugins: [compiled],
	test: {
		projects: Object.entries(PROJECTS).map(([name, { include, exclude, isolate }]) => ({
			extends: true,
			test: { name, include, exclude: [never, ...exclude, ...(isSoak ? [] : [soaks])], isolate },
		})),
		// The built library, which tests of the agent import by its name: Node loads it as it is, in a third of the time that a transformation takes.
		server: { deps: { external: [/\/dist\//] } },
		globalSetup: ["test/support/global.ts"],
		setupFiles: ["test/support/leaks.ts"],
		// For what never ends: whatever a test waits for has a time of its own, and a busy machine may need it several times over.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		// Every test starts real processes and waits for them: a file uses half of a core while it runs. Each has a directory of its own.
		maxWorkers: 4,
		sequence: { sequencer: LongestFirst },
		pool: "forks",
		execArgv: ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"], // as in src/doors/cli/main.ts: each file would pay for it
	},
});
