import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		// What breaks between machines takes minutes, most of it waiting: `npm run faults`.
		exclude: process.env.FAULTS === "1" ? [] : ["test/**/faults-*.test.ts"],
		globalSetup: ["test/support/global.ts"],
		setupFiles: ["test/support/leaks.ts"],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Every test starts real processes, and the machine may have two cores: two files at a time, each with a directory of its own.
		maxWorkers: 2,
		pool: "forks",
	},
});
