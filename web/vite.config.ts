/** How the page is built: plain files with hashed names, nothing inline, so that a strict Content-Security-Policy lets all of it through. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
	root: fileURLToPath(new URL(".", import.meta.url)),
	oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
	base: "./", // it may be mounted below a path of another server
	logLevel: "warn",
	build: {
		outDir: fileURLToPath(new URL("../dist/web", import.meta.url)),
		emptyOutDir: true,
		target: "es2022",
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
		chunkSizeWarningLimit: 800,
	},
});
