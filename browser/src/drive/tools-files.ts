/** Tools that move files between the page and the task. */
import fs from "node:fs";
import path from "node:path";
import type { ToolContext } from "holdfast";
import * as z from "zod";
import { oneLine, WebError } from "../base/index.js";
import { act, innerRef, ready, shown } from "./act.js";
import { tool } from "./definition.js";
import { hiddenDownload, hiddenPage } from "./hidden.js";
import { checkPost, decide } from "./policy.js";

const MOST_UPLOAD = 50 * 1024 * 1024;
const DOWNLOAD_MS = 120_000;
const BEGIN_MS = 10_000;

export const fileTools = [
	tool({
		name: "browser_screenshot",
		description: "Takes a picture of the page as a PNG file of the task.",
		schema: z.object({
			path: z.string().min(1).max(1_000).optional().describe("Default: screenshots/TIME.png in the directory of the shell."),
			full_page: z.boolean().optional().describe("True: the whole page, not only what is on the screen."),
			ref: z.string().optional().describe("Only this element."),
			show: z.boolean().optional().describe("True: the answer has the picture, too, for a model that takes images."),
		}),
		async run(args, { session, tab, context }) {
			ready(tab);
			const hidden = await hiddenPage(tab, session);
			if (hidden !== undefined) return { error: hidden };
			const inner = args.ref === undefined ? undefined : await innerRef(tab, args.ref);
			const options = { type: "png" as const, timeout: 20_000, mask: session.secrets.shownFields(tab), maskColor: "#000" };
			const bytes =
				inner === undefined ? await tab.page.screenshot({ ...options, fullPage: args.full_page === true }) : await tab.page.getByRef(inner).screenshot(options);
			const since = await hiddenPage(tab, session); // a frame may have come meanwhile
			if (since !== undefined) return { error: since };
			const file = args.path ?? `screenshots/${new Date().toISOString().replace(/[:.]/g, "-")}.png`;
			const written = await context.files.write(file, bytes, { signal: context.signal });
			return {
				output: `Saved ${written.path} (${written.bytes} bytes).`,
				data: { path: written.path, bytes: written.bytes },
				...(args.show ? { images: [{ type: "image/png", data: bytes.toString("base64") }] } : {}),
			};
		},
	}),
	tool({
		name: "browser_upload",
		description: "Gives files of the task to a file field of the page.",
		schema: z.object({
			ref: z.string().describe("The ref of the file field, or of the button that opens its chooser."),
			paths: z.array(z.string().min(1)).min(1).max(20),
		}),
		async run(args, { session, tab, context, policy }) {
			ready(tab);
			const inner = await innerRef(tab, args.ref);
			const outside: string[] = [];
			for (const one of args.paths) if (await isOutside(one, context)) outside.push(one);
			if (outside.length > 0) {
				const host = URL.canParse(tab.page.url()) ? new URL(tab.page.url()).host : "the page";
				await decide(
					policy.uploads,
					context,
					`give ${outside.map((one) => oneLine(one, 200)).join(", ")} to ${oneLine(host, 200)}`,
					"these files are outside the directory of the task",
				);
			}
			const files: { name: string; mimeType: string; buffer: Buffer }[] = [];
			let size = 0;
			for (const one of args.paths) {
				const buffer = await context.files.read(one, { signal: context.signal });
				size += buffer.length;
				if (size > MOST_UPLOAD) throw new WebError(`more than ${MOST_UPLOAD} bytes cannot be given to a page; nothing was done`);
				files.push({ name: path.posix.basename(one), mimeType: "application/octet-stream", buffer });
			}
			const target = tab.page.getByRef(inner);
			const isField = await tab.answers(target.evaluate((element) => element instanceof HTMLInputElement && element.type === "file"));
			if (!isField) await checkPost(tab, inner, { policy, visited: session.visited, context });
			await act(tab, async () => {
				if (isField) return target.setInputFiles(files);
				const [chooser] = await Promise.all([tab.page.waitForEvent("filechooser", { timeout: 5_000 }), target.click()]);
				return chooser.setFiles(files);
			});
			return `Gave ${files.length} ${files.length === 1 ? "file" : "files"} (${size} bytes) to the page.\n${await shown(session, tab)}`;
		},
	}),
	tool({
		name: "browser_download",
		description: "Keeps a download as a file of the task: the last one that began, or that which a click on ref begins.",
		schema: z.object({
			ref: z.string().optional(),
			path: z.string().min(1).max(1_000).optional().describe("Default: downloads/NAME in the directory of the shell."),
		}),
		timeout: 150,
		async run(args, { session, tab, context, policy }) {
			ready(tab);
			const { downloads } = session;
			if (!downloads) return { error: "downloads of a browser that runs elsewhere (browser.cdp) cannot be kept; fetch the address with terminal (curl -LO)" };
			if (policy.downloads === "refuse") return { error: "downloads are refused by web.json (browser.policy); nothing was done" };
			if (args.ref !== undefined) {
				const inner = await innerRef(tab, args.ref);
				await checkPost(tab, inner, { policy, visited: session.visited, context });
				const known = downloads.waiting.length;
				await act(tab, () => tab.page.getByRef(inner).click());
				if (!(await downloads.more(known, BEGIN_MS, context.signal)))
					return {
						error: `no download has begun within ${BEGIN_MS / 1000} s of the click. This is the page now`,
						output: await shown(session, await session.tab()),
					};
			}
			const download = downloads.waiting.at(-1);
			if (!download) return { error: "no download has begun; click what begins it, or give its ref" };
			const hidden = await hiddenDownload(download.url, session);
			if (hidden !== undefined) return { error: hidden };
			const name = path.posix.basename(download.name.replaceAll("\\", "/")) || "download";
			const from = oneLine(download.url, 300);
			await decide(policy.downloads, context, `keep the download ${oneLine(name, 200)} from ${from}`, "files of others can do harm when they are opened");
			await downloads.finished(download, DOWNLOAD_MS, context.signal);
			const content = context.files.stream(download.path, { signal: context.signal });
			const written = await context.files.write(args.path ?? `downloads/${name}`, content, { signal: context.signal });
			downloads.forget(download);
			if (context.place === "local") fs.rmSync(download.path, { force: true }); // in other places it goes with the browser
			return { output: `Saved ${written.path} (${written.bytes} bytes), from ${from}.`, data: { path: written.path, bytes: written.bytes } };
		},
	}),
];

/** Whether a path leaves the directory of the task's shell, by itself or by a link in it. */
async function isOutside(given: string, { files, signal }: ToolContext): Promise<boolean> {
	const parts = path.posix.normalize(given).split("/");
	if (/^[/~]/.test(given) || parts[0] === "..") return true;
	for (const [depth, name] of parts.entries()) {
		const entries = await files.list(parts.slice(0, depth).join("/") || ".", { signal });
		if (entries.find((entry) => entry.name === name)?.kind === "link") return true;
	}
	return false;
}
