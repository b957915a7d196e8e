/** How the agent's part of the page is built: a module that exports `mount` for each part, and one style sheet, with hashes in their names. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
	root: here("."),
	oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
	base: "./",
	logLevel: "warn",
	publicDir: false,
	build: {
		outDir: here("../dist/web"),
		emptyOutDir: true,
		target: "es2022",
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
		cssCodeSplit: false,
		rollupOptions: {
			input: { page: here("src/main.tsx"), run: here("src/run/main.tsx") },
			preserveEntrySignatures: "strict",
			output: { entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js", assetFileNames: "page-[hash][extname]" },
		},
	},
});
