/** What every view can reach: the page around it, and what is known of the conversations. */
import type { PartHost } from "holdfast/http";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Store } from "../state/store.js";

export interface Around {
	readonly host: PartHost<HTMLElement>;
	readonly store: Store;
}

export const HostContext = createContext<Around | undefined>(undefined);

export function useAround(): Around {
	const around = useContext(HostContext);
	if (!around) throw new Error("a view outside of the page");
	return around;
}
