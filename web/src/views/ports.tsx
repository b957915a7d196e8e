/** The ports that a process listens on, each with a link to its preview in a tab of its own. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Ports, ProcessItem } from "../../../src/doors/http/schemas.js";
import { ports as readPorts } from "../api/calls.js";
import { Icon } from "../ui/icon.js";
import { useRoving } from "../ui/use-roving.js";

/** A server says something when it is up, so output is a reason to look; what says nothing is found a little later. */
const LOOK_MS = 2_000;
const QUIET_MS = 15_000;
const SHOWN = 4; // `holdfast preview ID PORT` has the others

export function PortLinks({ process }: { process: ProcessItem }) {
	const found = usePorts(process);
	const row = useRoving<HTMLDivElement>("a");
	return (
		<div ref={row} class="ports">
			{found?.ports.slice(0, SHOWN).map(({ port, url }) =>
				url === null ? (
					<span key={port} class="quiet" title={found.note ?? ""}>
						:{port}
					</span>
				) : (
					<a key={port} class="button" href={url} target="_blank" rel="noopener noreferrer" title={`Open what it serves on port ${port}, in a tab of its own`}>
						<Icon name="preview" />
						<span class="port-word">Preview</span> :{port}
					</a>
				),
			)}
		</div>
	);
}

function usePorts({ session_id, total_bytes }: ProcessItem): Ports | undefined {
	const [found, setFound] = useState<Ports>();
	const printed = useRef(total_bytes);
	printed.current = total_bytes;
	useEffect(() => {
		const controller = new AbortController();
		let seen = -1;
		let at = 0;
		const look = () => {
			if (document.hidden || (printed.current === seen && Date.now() - at < QUIET_MS)) return;
			seen = printed.current;
			at = Date.now();
			readPorts(session_id, controller.signal).then(setFound, () => {}); // the next look tries again
		};
		look();
		const timer = setInterval(look, LOOK_MS);
		return () => {
			controller.abort();
			clearInterval(timer);
		};
	}, [session_id]);
	return found;
}
