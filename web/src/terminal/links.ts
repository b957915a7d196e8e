/** Links in what a program prints: only http and https, in a tab of their own that knows nothing of this page. */
export function openLink(text: string): void {
	const url = webAddress(text);
	if (url) window.open(url, "_blank", "noopener,noreferrer");
}

function webAddress(text: string): string | undefined {
	try {
		const { protocol, href } = new URL(text);
		return protocol === "http:" || protocol === "https:" ? href : undefined;
	} catch {
		return undefined;
	}
}
