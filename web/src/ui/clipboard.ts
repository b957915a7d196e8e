/** Only ever called from a click or a key: nothing that a program prints comes here. */
import { say } from "./toasts.js";

export async function copy(text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		say(`Copied ${what}.`);
	} catch {
		say(`The browser does not let this page copy. Select ${what} and copy it by hand.`, true);
	}
}
