/** For the one test that lends the machines of the tests: it lasts as long as the benchmark does. */
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/support/serve.ts"],
		globalSetup: ["test/support/global.ts"],
		setupFiles: ["test/support/leaks.ts"],
		testTimeout: 0,
		hookTimeout: 120_000,
		pool: "forks",
	},
});
