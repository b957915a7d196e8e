/** The page: files of dist/web. Those with a hash in their name never change. */
import fs from "node:fs";
import path from "node:path";
import type { Context } from "hono";
import { asset } from "../../base/index.js";

/** From src and from dist alike. */
export const WEB_DIR = asset("../dist/web/");

const TYPES: Readonly<Record<string, string>> = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
	".ico": "image/x-icon",
	".woff2": "font/woff2",
	".json": "application/json",
	".webmanifest": "application/manifest+json",
	".wasm": "application/wasm",
	".txt": "text/plain; charset=utf-8",
};
const NO_FILE = "there is no such file";
const HASHED = /[.-][\w-]{8,}\.\w+$/;
const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>Holdfast</title>
<p>The page is not built. Run <code>npm run build</code> where Holdfast is installed, then load this again; the API and MCP work without it.`;

/** Whatever is no file is the page: it finds its way by itself. */
export function serveStatic(context: Context, dir: string, prefix: string): Response {
	const pathname = new URL(context.req.url).pathname.slice(prefix.length);
	const wanted = fileIn(dir, pathname);
	const file = wanted ?? fileIn(dir, "/index.html");
	if (!file) return context.html(NOT_BUILT, 503);
	if (!wanted && path.extname(pathname) !== "") return context.text(NO_FILE, 404);
	return sendFile(context, file, wanted !== undefined && HASHED.test(file) && !file.endsWith(".html"));
}

/** A file of a directory, by its path below it, or nothing. */
export function serveFileOf(context: Context, dir: string, pathname: string): Response {
	const file = fileIn(dir, pathname);
	return file ? sendFile(context, file, HASHED.test(file)) : context.text(NO_FILE, 404);
}

function sendFile(context: Context, file: string, isForEver: boolean): Response {
	context.header("Content-Type", TYPES[path.extname(file)] ?? "application/octet-stream");
	context.header("Cache-Control", isForEver ? "public, max-age=31536000, immutable" : "no-cache");
	return context.body(fs.readFileSync(file) as Uint8Array<ArrayBuffer>);
}

/** Only what is really below the directory. */
function fileIn(dir: string, name: string): string | undefined {
	let file: string;
	try {
		file = path.join(dir, decodeURIComponent(name));
	} catch {
		return undefined; // not an encoding
	}
	if (file.includes("\0") || !`${file}/`.startsWith(dir.endsWith("/") ? dir : `${dir}/`)) return undefined;
	const stat = fs.lstatSync(file, { throwIfNoEntry: false });
	return stat?.isFile() ? file : undefined;
}
