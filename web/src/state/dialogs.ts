/** Dialogs that open from everywhere. Going to another view closes them. */
import { effect, signal } from "@preact/signals";
import { route } from "./route.js";

export const dialog = signal<"" | "start" | "keys" | "settings">("");

effect(() => {
	void route.value;
	dialog.value = "";
});
