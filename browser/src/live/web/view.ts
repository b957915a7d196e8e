/** The part in the page: a list of browsers, the picture of one, and take-over. It imports nothing: a browser loads it as it is. */
interface Host {
	request(method: string, path: string, options?: { body?: unknown; signal?: AbortSignal }): Promise<Response>;
	onRoute(changed: (parts: readonly string[]) => void): () => void;
	href(parts: readonly string[]): string;
	say(text: string, bad?: boolean): void;
}

interface Frame {
	/** Why there are no more frames. */
	readonly problem?: string;
	readonly url?: string;
	readonly data: string;
	readonly width: number;
	readonly height: number;
	readonly held?: string;
}

const RENEW_MS = 8_000;

export function mount(element: HTMLElement, host: Host): () => void {
	let leave = (): void => {};
	const stop = host.onRoute((parts) => {
		leave();
		element.replaceChildren();
		leave = parts[0] === undefined ? list(element, host) : watch(element, host, parts[0]);
	});
	return () => {
		stop();
		leave();
		element.replaceChildren();
	};
}

function make<K extends keyof HTMLElementTagNameMap>(name: K, text = "", style: Partial<CSSStyleDeclaration> = {}): HTMLElementTagNameMap[K] {
	const made = document.createElement(name);
	if (text !== "") made.textContent = text;
	Object.assign(made.style, style);
	return made;
}

function list(element: HTMLElement, host: Host): () => void {
	const box = make("div", "", { padding: "1rem" });
	element.append(box);
	let gone = false;
	const show = async (): Promise<void> => {
		const found = (await (await host.request("GET", "/tasks")).json()) as { task: string; place: string; url: string; title: string }[];
		if (gone) return;
		const items = found.map(({ task, place, url, title }) => {
			const item = make("li");
			const link = make("a", title || url ? `${task}: ${title || url}` : task);
			link.href = host.href([task]);
			item.append(link, make("div", [url, place === "local" ? "" : `in ${place}`].filter(Boolean).join(" · ")));
			return item;
		});
		const shown = make("ul");
		shown.append(...items);
		box.replaceChildren(make("h2", "Browsers"), items.length > 0 ? shown : make("p", "No task has a browser that runs."));
	};
	const look = () => show().catch((error: Error) => host.say(error.message, true));
	void look();
	const timer = setInterval(look, 5_000);
	return () => {
		gone = true;
		clearInterval(timer);
	};
}

function watch(element: HTMLElement, host: Host, task: string): () => void {
	const stop = new AbortController();
	const base = `/tasks/${encodeURIComponent(task)}`;
	const box = make("div", "", { display: "flex", flexDirection: "column", height: "100%", padding: "0.5rem", gap: "0.5rem", minHeight: "0" });
	const bar = make("div", "", { display: "flex", gap: "0.5rem", alignItems: "center" });
	const back = make("a", "Browsers");
	back.href = host.href([]);
	const state = make("span", "connecting …");
	state.setAttribute("role", "status");
	const take = make("button", "Take over");
	take.className = "button"; // of the page around it
	const where = make("span", "", { overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap", flex: "1", textAlign: "right" });
	const picture = make("canvas", "", { maxWidth: "100%", minHeight: "0", flex: "1", objectFit: "contain", alignSelf: "flex-start", outlineOffset: "2px" });
	picture.tabIndex = 0;
	picture.setAttribute("aria-label", `The browser of ${task}`);
	bar.append(back, make("strong", task), state, take, where);
	box.append(bar, picture);
	element.append(box);

	let key: string | undefined;
	let size = { width: 1, height: 1 };
	let queue: object[] = [];
	let busy = false;
	const failed = (error: Error): void => {
		state.textContent = error.message;
		if (!stop.signal.aborted) host.say(error.message, true);
	};
	const flush = async (): Promise<void> => {
		while (queue.length > 0 && key !== undefined) {
			const events = queue.splice(0, 100);
			await host.request("POST", `${base}/input`, { body: { key, events } });
		}
	};
	const send = (event: object): void => {
		if (key === undefined) return;
		queue.push(event);
		if (busy) return;
		busy = true;
		void flush()
			.catch(failed)
			.finally(() => {
				busy = false;
			});
	};
	const tell = (holder?: string): void => {
		state.textContent = key !== undefined ? "you drive; the agent waits" : holder !== undefined ? `${holder} drives` : "live";
	};
	const hold = async (wanted: boolean): Promise<void> => {
		const answer = (await (await host.request("POST", `${base}/hold`, { body: { hold: wanted, ...(key === undefined ? {} : { key }) } })).json()) as {
			key?: string;
		};
		key = wanted ? answer.key : undefined;
		queue = [];
		take.textContent = wanted ? "Give back" : "Take over";
		tell(); // a page that stands still sends no frame to say it with
		if (wanted) picture.focus();
	};
	take.onclick = () => void hold(key === undefined).catch(failed);
	const renew = setInterval(() => {
		if (key !== undefined) void hold(true).catch(failed);
	}, RENEW_MS);

	const place = (event: MouseEvent): { x: number; y: number } => {
		const { left, top, width, height } = picture.getBoundingClientRect();
		const scale = Math.min(width / size.width, height / size.height); // the picture keeps its shape, and leaves room on two sides
		const at = (given: number, from: number, room: number, length: number) =>
			Math.min(length, Math.max(0, (given - from - (room - length * scale) / 2) / scale));
		return { x: at(event.clientX, left, width, size.width), y: at(event.clientY, top, height, size.height) };
	};
	const buttons = ["left", "middle", "right"] as const;
	const mouse = (type: string) => (event: MouseEvent) => {
		if (key === undefined) return;
		const button = type === "mouseMoved" ? "none" : (buttons[event.button] ?? "none");
		send({ kind: "mouse", type, ...place(event), button, clicks: type === "mouseMoved" ? 0 : Math.min(3, Math.max(1, event.detail)) });
	};
	picture.onmousedown = mouse("mousePressed");
	picture.onmouseup = mouse("mouseReleased");
	picture.onmousemove = (event) => {
		if (queue.length < 20) mouse("mouseMoved")(event);
	};
	picture.oncontextmenu = (event) => event.preventDefault();
	picture.onwheel = (event) => {
		if (key === undefined) return;
		event.preventDefault();
		send({ kind: "wheel", ...place(event), dx: event.deltaX, dy: event.deltaY });
	};
	const typed = (type: string) => (event: KeyboardEvent) => {
		if (key === undefined || event.isComposing) return;
		event.preventDefault();
		const modifiers = (event.altKey ? 1 : 0) + (event.ctrlKey ? 2 : 0) + (event.metaKey ? 4 : 0) + (event.shiftKey ? 8 : 0);
		send({ kind: "key", type, key: event.key, code: event.code, keyCode: Math.min(255, event.keyCode), modifiers });
	};
	picture.onkeydown = typed("keyDown");
	picture.onkeyup = typed("keyUp");

	const paint = async (frame: Frame): Promise<void> => {
		if (frame.problem !== undefined) throw new Error(frame.problem);
		const bytes = Uint8Array.from(atob(frame.data), (sign) => sign.charCodeAt(0));
		const image = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
		size = { width: frame.width, height: frame.height };
		[picture.width, picture.height] = [image.width, image.height];
		picture.getContext("2d")?.drawImage(image, 0, 0);
		where.textContent = frame.url ?? "";
		tell(frame.held);
	};
	const follow = async (): Promise<void> => {
		const answer = await host.request("GET", `${base}/screen`, { signal: stop.signal });
		const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
		let rest = "";
		for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
			const lines = (rest + piece.value).split("\n");
			rest = lines.pop() ?? "";
			const last = lines.at(-1);
			if (last) await paint(JSON.parse(last) as Frame);
		}
		state.textContent = "the browser is closed";
	};
	follow().catch(failed);
	return () => {
		stop.abort();
		clearInterval(renew);
		if (key !== undefined) void hold(false).catch(() => {});
	};
}
