/** Light or dark: as the system has it, until somebody chooses. */
import { computed, effect, signal } from "@preact/signals";
import { kept } from "./kept.js";

export type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const system = signal<Theme>(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => {
	system.value = dark.matches ? "dark" : "light";
});

const chosen = kept("theme", "");
export const theme = computed<Theme>(() => (chosen.value === "light" || chosen.value === "dark" ? chosen.value : system.value));

/** Choosing what the system has anyway is to follow it again. */
export function toggleTheme(): void {
	const next = theme.value === "dark" ? "light" : "dark";
	chosen.value = next === system.value ? "" : next;
}

effect(() => {
	document.documentElement.dataset.theme = theme.value;
});
