/** Light or dark: as the system has it, until the person chooses. */
import { computed, effect, signal } from "@preact/signals";
import { kept } from "./kept.js";

export type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const system = signal<Theme>(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => {
	system.value = dark.matches ? "dark" : "light";
});

export const THEMES = { "": "as the system has them", light: "light", dark: "dark" } as const;
export const chosenTheme = kept("theme", "");
export const theme = computed<Theme>(() => (chosenTheme.value === "light" || chosenTheme.value === "dark" ? chosenTheme.value : system.value));

effect(() => {
	document.documentElement.dataset.theme = theme.value;
});
