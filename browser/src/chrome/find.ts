/** Whether this machine has a Chromium, and what to do if not. */
import fs from "node:fs";
import path from "node:path";

export const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
export const INSTALL = "apt-get install -y --no-install-recommends chromium";

export type BrowserAvailability = { readonly ok: true } | { readonly ok: false; readonly why: string; readonly fix: string };

export function browserAvailable(
	settings: { readonly cdp?: string | undefined; readonly executable?: string | undefined } = {},
	searched = process.env.PATH ?? "",
): BrowserAvailability {
	if (settings.cdp !== undefined) return { ok: true };
	if (settings.executable !== undefined)
		return isProgram(settings.executable)
			? { ok: true }
			: { ok: false, why: `there is no program ${settings.executable}`, fix: "correct browser.executable in web.json" };
	const found = searched.split(":").some((dir) => NAMES.some((name) => isProgram(path.join(dir || ".", name))));
	return found ? { ok: true } : { ok: false, why: "Chromium is not installed", fix: INSTALL };
}

function isProgram(file: string): boolean {
	try {
		fs.accessSync(file, fs.constants.X_OK);
		return fs.statSync(file).isFile();
	} catch {
		return false;
	}
}
