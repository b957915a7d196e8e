/** Files of a task's place: browse, view, download, upload. */
import fs from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import * as z from "zod";
import { counted, HoldfastError } from "../../../base/index.js";
import type { Process } from "../../../process/index.js";
import { PageFiles } from "../local-files.js";
import { Refusal } from "../refusal.js";
import { RemoteFiles } from "../remote-files.js";
import { type Route, route, withBody } from "../router.js";
import { filesQuerySchema, filesSchema, uploadedSchema } from "../schemas.js";
import type { ApiContext } from "./context.js";
import { DOWNLOAD } from "./output.js";

type Where = z.infer<typeof filesQuerySchema>;
const uploadQuery = filesQuerySchema.extend({ replace: z.enum(["true", "false"]).optional() });

export function fileRoutes(api: ApiContext): Route[] {
	const files = new PageFiles(api.runtime.home.root);
	return [
		route(
			{ method: "get", path: "/api/files", who: "owner", summary: "A directory, or what a file is", query: filesQuerySchema, answer: filesSchema },
			async ({ query }) => {
				const { base, far } = await whereOf(api, query);
				return far ? far.view(await far.resolve(base, query.path)) : files.view(files.resolve(base, query.path));
			},
		),
		route(
			{
				method: "get",
				path: "/api/files/content",
				who: "owner",
				summary: "A file, as a download",
				query: filesQuerySchema,
				answer: "application/octet-stream",
			},
			async ({ context, query }) => {
				const { base, far } = await whereOf(api, query);
				const file = far ? await far.resolve(base, query.path) : files.resolve(base, query.path);
				const { fd, size } = far ? { size: await far.size(file) } : files.open(file);
				const range = rangeOf(context.req.header("range"), size);
				if (range === "unsatisfiable") {
					if (fd !== undefined) fs.closeSync(fd);
					throw new Refusal(416, "INVALID", `the file has ${counted(size, "byte")}`);
				}
				const { start, end } = range ?? { start: 0, end: size - 1 };
				const stream =
					fd === undefined ? far?.stream(file, start, end) : size === 0 ? emptyOf(fd) : Readable.toWeb(fs.createReadStream("", { fd, start, end }));
				return context.body(stream as ReadableStream<Uint8Array>, range ? 206 : 200, {
					...DOWNLOAD,
					"Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(path.basename(file)).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
					"Content-Length": String(end - start + 1),
					"Accept-Ranges": "bytes",
					...(range ? { "Content-Range": `bytes ${start}-${end}/${size}` } : {}),
				});
			},
		),
		route(
			{
				method: "put",
				path: "/api/files/content",
				who: "owner",
				summary: "The body becomes the file, whole or not at all",
				query: uploadQuery,
				raw: "application/octet-stream",
				answer: uploadedSchema,
				status: 201,
			},
			async ({ context, query }) => {
				const { path: wanted, replace } = query;
				if (wanted === undefined) throw new HoldfastError("INVALID", "say which file: path=…");
				const { base, far } = await whereOf(api, query);
				return withBody(context, (body) => (far ?? files).write(base, wanted, body, replace === "true"));
			},
		),
	];
}

/** Returns where relative paths start: the directory of the process, of the task's shell, or ours; and the files of its machine if that is remote. */
async function whereOf(api: ApiContext, { session_id, task }: Where): Promise<{ base: string; far?: RemoteFiles }> {
	if (session_id !== undefined) return on(api.runtime.get(session_id));
	if (task === undefined) return { base: process.cwd() };
	const shell = api.runtime.list({ task, shells: true, ended: false }).find(({ spec }) => spec.kind === "shell");
	const [cwd] = shell?.pid ? await shell.kernel.links([`/proc/${shell.pid}/cwd`]) : [];
	if (shell && cwd) return on(shell, cwd);
	const newest = api.runtime.list({ task })[0];
	return newest ? on(newest) : { base: process.cwd() };
}

const on = ({ machine, spec }: Process, base = spec.cwd): { base: string; far?: RemoteFiles } => ({
	base,
	...(machine.sharesPaths ? {} : { far: new RemoteFiles(machine) }),
});

function emptyOf(fd: number): null {
	fs.closeSync(fd);
	return null;
}

function rangeOf(header: string | undefined, size: number): { start: number; end: number } | "unsatisfiable" | undefined {
	const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
	if (!match || (match[1] === "" && match[2] === "")) return undefined;
	const start = match[1] === "" ? Math.max(0, size - Number(match[2])) : Number(match[1]);
	const end = match[1] === "" || match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
	return start > end || start >= size ? "unsatisfiable" : { start, end };
}
