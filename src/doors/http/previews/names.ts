/**
 * The names that previews have: `p5173-3f2a9c0b1d2e.localhost` is port 5173 of proc_3f2a9c0b1d2e. A name of its own is an origin of its own: cookies, storage and
 * service workers of an application stay there, and the page's stay where they are. The name is no secret; a cookie of its own opens it. docs/remote.md
 */
import { HoldfastError } from "../../../base/index.js";
import { hostUrl, isLoopback, type PublicUrl } from "../public-url.js";

export interface PreviewName {
	/** The first part of the name: `p5173-3f2a9c0b1d2e`. */
	readonly label: string;
	readonly id: string;
	readonly port: number;
	/** Browsers reach it with https. */
	readonly secure: boolean;
}

/** The common end of the names of previews: `https://*.preview.example.org`. */
export interface PreviewBase {
	readonly scheme: "http:" | "https:";
	/** The part of the `Host` header behind the label and its dot. */
	readonly host: string;
}

export const labelOf = (id: string, port: number): string => `p${port}-${id.replace(/^proc_/, "")}`;

/** Throws INVALID, with `what` as the subject of the sentence. */
export function parsePreviewUrls(texts: readonly string[], what: string): PreviewBase[] {
	return texts.map((text) => {
		const [, scheme, host = ""] = /^(https?:)\/\/\*\.([^/?#@\s*]+)\/?$/i.exec(text) ?? [];
		const parsed = scheme === undefined ? undefined : hostUrl(host, scheme.toLowerCase() as PreviewBase["scheme"]);
		if (!parsed || /(^|[.])$/.test(host) || /^\[|^[\d.]+(:\d+)?$/.test(host))
			throw new HoldfastError("INVALID", `${what} must be a scheme and a star in the place of the first part of a name, as https://*.preview.example.org`);
		return { scheme: parsed.origin.startsWith("https:") ? "https:" : "http:", host: parsed.host };
	});
}

/** Returns the preview that a `Host` header names; undefined if it names none. */
export function previewNamed(host: string | undefined, bases: readonly PreviewBase[]): PreviewName | undefined {
	const [, label = "", port = "", digits = "", rest = ""] = /^(p([1-9]\d{0,4})-([0-9a-f]{12}))\.(.+)$/.exec((host ?? "").toLowerCase()) ?? [];
	if (label === "" || Number(port) > 65_535) return undefined;
	const base = bases.find(({ scheme, host: own }) => hostUrl(rest, scheme)?.host === own);
	if (!base && !/^localhost(:\d+)?$/.test(rest)) return undefined;
	return { label, id: `proc_${digits}`, port: Number(port), secure: base?.scheme === "https:" };
}

/** Returns where a visitor who has come by this address finds a preview; undefined if it has no name that leads here. */
export function previewOrigin(label: string, reached: Pick<PublicUrl, "origin">, bases: readonly PreviewBase[]): string | undefined {
	const { hostname, port } = new URL(reached.origin);
	// Browsers lead every name below localhost to their own machine, so also through a tunnel.
	if (isLoopback(hostname) && reached.origin.startsWith("http:")) return `http://${label}.localhost${port === "" ? "" : `:${port}`}`;
	const [base] = bases;
	return base && `${base.scheme}//${label}.${base.host}`;
}

export const NO_NAME =
	"a preview needs a name of its own, and this address has none below it; start the server with --preview-url, or open the page through localhost (ssh -L)";
