/** Files where a process or a task works: look around, read, take, bring. */

import { useRef, useState } from "preact/hooks";
import { visible } from "../../../src/base/text.js";
import type { FileEntry, FileView } from "../../../src/doors/http/schemas.js";
import { contentPath, download, files, upload } from "../api/calls.js";
import { ApiError } from "../api/client.js";
import { href, route } from "../state/route.js";
import { Button } from "../ui/button.js";
import { bytes, clock } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { Empty, Failed, Loading } from "../ui/said.js";
import { say, tell } from "../ui/toasts.js";
import { useLoaded } from "../ui/use-loaded.js";
import { FileText } from "./file-text.js";

export function FilesPage() {
	const { query } = route.value;
	const path = query.get("path") ?? undefined;
	const session_id = onMachineOf();
	const [round, setRound] = useState(0);
	const { value, error } = useLoaded((signal) => files({ path, session_id }, signal), [path, session_id, round]);
	return (
		<div class="page">
			<header class="page-head">
				<h1>Files{value?.place && value.place !== "local" ? ` on ${value.place}` : ""}</h1>
				{value?.type === "directory" && <Upload into={value.path} onDone={() => setRound(round + 1)} />}
				{value?.type === "file" && (
					<Button icon="download" onClick={() => tell(download(contentPath(value.path, session_id)))}>
						Download
					</Button>
				)}
			</header>
			{error ? (
				<Failed error={error}>
					<a href={href(["files"])}>To the directory where the server was started</a>
				</Failed>
			) : value ? (
				<>
					<Crumbs path={value.path} />
					{value.entries ? <Entries view={value} entries={value.entries} /> : <FileText view={value} session_id={session_id} />}
				</>
			) : (
				<Loading what="the files" />
			)}
		</div>
	);
}

/** The process on whose machine these files are. */
const onMachineOf = (): string | undefined => route.value.query.get("session_id") ?? undefined;

const to = (path: string) => {
	const session_id = onMachineOf();
	return href(["files"], { path, ...(session_id ? { session_id } : {}) });
};

function Crumbs({ path }: { path: string }) {
	const parts = path.split("/").filter(Boolean);
	return (
		<nav class="crumbs mono" aria-label="Path">
			<a href={to("/")}>/</a>
			{parts.map((part, index) => (
				<a key={part + index} href={to(`/${parts.slice(0, index + 1).join("/")}`)} aria-current={index === parts.length - 1 ? "page" : undefined}>
					{visible(part)}
				</a>
			))}
		</nav>
	);
}

const isFolder = ({ type, target_type }: FileEntry): boolean => type === "directory" || target_type === "directory";
const isHidden = ({ name }: FileEntry): boolean => name.startsWith(".");

/** Folders first, what is hidden last; else as the server sorts them. */
const byKind = (a: FileEntry, b: FileEntry): number => Number(isHidden(a)) - Number(isHidden(b)) || Number(isFolder(b)) - Number(isFolder(a));

function Entries({ view, entries }: { view: FileView; entries: readonly FileEntry[] }) {
	if (entries.length === 0)
		return (
			<Empty title="Nothing in here">
				<p>Bring something with “Upload”.</p>
			</Empty>
		);
	return (
		<table class="files">
			<thead>
				<tr>
					<th scope="col">Name</th>
					<th scope="col">Size</th>
					<th scope="col">Changed</th>
					<th scope="col" class="wide">
						Mode
					</th>
				</tr>
			</thead>
			<tbody>
				{[...entries].sort(byKind).map((entry) => {
					const folder = isFolder(entry);
					return (
						<tr key={entry.name}>
							<td>
								<a class="mono" href={to(`${view.path === "/" ? "" : view.path}/${entry.name}`)}>
									<Icon name={folder ? "folder" : "file"} />
									{visible(entry.name)}
									{entry.target && <span class="quiet"> → {visible(entry.target)}</span>}
								</a>
							</td>
							<td class="num">{folder ? "" : bytes(entry.size)}</td>
							<td class="num quiet">{clock(entry.modified_at)}</td>
							<td class="mono quiet wide">{entry.mode}</td>
						</tr>
					);
				})}
			</tbody>
			{view.omitted > 0 && <caption>and {view.omitted} more, which are not shown</caption>}
		</table>
	);
}

function Upload({ into, onDone }: { into: string; onDone: () => void }) {
	const input = useRef<HTMLInputElement>(null);
	const [busy, setBusy] = useState(false);
	const bring = async (chosen: readonly File[]) => {
		setBusy(true);
		try {
			for (const file of chosen) await one(`${into === "/" ? "" : into}/${file.name}`, file);
			onDone();
		} finally {
			setBusy(false);
		}
	};
	return (
		<>
			<input
				ref={input}
				type="file"
				multiple
				class="hidden"
				tabIndex={-1}
				aria-label="Files to upload"
				onChange={(event) => tell(bring([...(event.currentTarget.files ?? [])]))}
			/>
			<Button icon="upload" disabled={busy} onClick={() => input.current?.click()}>
				{busy ? "Uploading …" : "Upload"}
			</Button>
		</>
	);
}

/** Nothing is replaced unless a person says so. */
async function one(path: string, file: File): Promise<void> {
	try {
		await upload(path, onMachineOf(), file, false);
	} catch (error) {
		if (!(error instanceof ApiError && error.status === 409)) throw error;
		if (!confirm(`There is a file ${path} already. Replace it?`)) return;
		await upload(path, onMachineOf(), file, true);
	}
	say(`${path} is there.`);
}
