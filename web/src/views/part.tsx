/** A view that another package brings: its module is fetched from this server, and gets an element and what the page does for it. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PartHost, PartModule } from "../../../src/doors/http/part-types.js";
import type { Session } from "../../../src/doors/http/schemas.js";
import { mounted, send } from "../api/client.js";
import { isRunning, isWaiting, processes, statusWords } from "../state/processes.js";
import { go, href, route } from "../state/route.js";
import { Failed, Loading } from "../ui/said.js";
import { say } from "../ui/toasts.js";
import { useLoaded } from "../ui/use-loaded.js";
import { LazyTerminal } from "./lazy.js";

type Part = Session["parts"][number];

export function PartPage({ part }: { part: Part }) {
	const place = useRef<HTMLDivElement>(null);
	const { value: module, error } = useLoaded(() => load(part), [part.script]);
	useEffect(() => (module && place.current ? module.mount(place.current, hostOf(part)) : undefined), [module]);
	if (error)
		return (
			<Failed error={`“${part.label}” could not be loaded.`}>
				<p>It may have been updated meanwhile: load the page again.</p>
			</Failed>
		);
	return (
		<>
			{!module && <Loading what={part.label} />}
			<div ref={place} class="part" hidden={!module} />
		</>
	);
}

/** Its styles are there before it is shown. */
async function load({ script, style }: Part): Promise<PartModule<HTMLElement>> {
	const [module] = await Promise.all([
		import(/* @vite-ignore */ mounted(script)) as Promise<PartModule<HTMLElement>>,
		style ? loadStyle(mounted(style)) : undefined,
	]);
	return module;
}

function loadStyle(url: string): Promise<void> {
	if (document.querySelector(`link[href="${CSS.escape(url)}"]`)) return Promise.resolve();
	return new Promise((resolve, reject) => {
		const link = document.createElement("link");
		link.rel = "stylesheet";
		link.href = url;
		link.onload = () => resolve();
		link.onerror = () => {
			link.remove();
			reject(new Error("its style sheet could not be loaded"));
		};
		document.head.append(link);
	});
}

const hostOf = ({ name }: Part): PartHost<HTMLElement> => {
	const below = (parts: readonly string[]) => ["parts", name, ...parts];
	return {
		request: (method, path, { body, signal, headers } = {}) =>
			send(method, `/api/parts/${name}${path}`, {
				...(body === undefined ? {} : { body: JSON.stringify(body), type: "application/json" }),
				...(signal ? { signal } : {}),
				...(headers ? { more: headers } : {}),
			}),
		onRoute: (changed) =>
			effect(() => {
				const [view, part, ...parts] = route.value.parts;
				if (view === "parts" && part === name) changed(parts);
			}),
		href: (parts) => href(below(parts)),
		go: (parts) => go(below(parts)),
		terminalHref: (id) => href(["p", id]),
		taskHref: (task) => href(["t", task]),
		mountTerminal: (element, id, onLeave) => {
			render(<LazyTerminal key={id} id={id} offset={undefined} owner onLeave={onLeave} />, element);
			return () => render(null, element);
		},
		process: (id) => {
			const process = processes.value.get(id);
			return process && { words: statusWords(process), running: isRunning(process), waits: isWaiting(process) };
		},
		onProcesses: (changed) => processes.subscribe(() => changed()),
		say,
	};
};
