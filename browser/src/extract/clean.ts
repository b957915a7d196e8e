/** Takes out of a page what is not its content, and makes its links absolute. */

const NOISE = "script,style,noscript,template,iframe,object,embed,svg,canvas,link,meta,form[role=search],dialog";
const AROUND = "nav,aside,[role=navigation],[role=banner],[role=contentinfo],[role=complementary],[role=search],[role=dialog],[role=alertdialog]";
const NAMED =
	/(^|[\s_-])(cookie|consent|gdpr|newsletter|subscribe|share|sharing|social|advert|ads?|sponsor|promo|breadcrumbs?|sidebar|related|recommended|popup|modal|banner|paywall|skip-?link)([\s_-]|$)/i;
/** An element that is called so and holds most of the page is the page. */
const MOST_SHARE = 0.5;

export function dropNoise(document: Document): void {
	for (const element of document.querySelectorAll(NOISE)) element.remove();
	for (const element of document.querySelectorAll("[hidden],[aria-hidden=true],[style]")) {
		const style = element.getAttribute("style") ?? "";
		if (
			element.hasAttribute("hidden") ||
			/display\s*:\s*none|visibility\s*:\s*hidden/i.test(style) ||
			(element.getAttribute("aria-hidden") === "true" && !element.querySelector("img,p,h1,h2,table"))
		)
			element.remove();
	}
}

/** For pages that are no article: all but what surrounds the content. */
export function dropSurroundings(root: Element): void {
	const whole = lengthOf(root);
	const drop = (element: Element) => {
		if (lengthOf(element) < whole * MOST_SHARE) element.remove();
	};
	for (const element of root.querySelectorAll(AROUND)) drop(element);
	for (const element of root.querySelectorAll("header,footer")) if (!element.closest("article,section,main,li")) drop(element);
	for (const element of root.querySelectorAll("[class],[id]"))
		if (NAMED.test(element.getAttribute("class") ?? "") || NAMED.test(element.getAttribute("id") ?? "")) drop(element);
	for (const element of root.querySelectorAll("button,select,input,textarea")) element.remove();
}

const lengthOf = (element: Element): number => (element.textContent ?? "").length;

export function absoluteLinks(document: Document, url: string): void {
	const base = resolved(document.querySelector("base[href]")?.getAttribute("href") ?? "", url) ?? url;
	for (const [selector, name] of [
		["a[href]", "href"],
		["img[src]", "src"],
	] as const)
		for (const element of document.querySelectorAll(selector)) {
			const given = element.getAttribute(name) ?? "";
			if (given.startsWith("#")) continue;
			const whole = resolved(given, base);
			if (whole === undefined || /^(javascript|data|blob|vbscript):/i.test(whole)) element.removeAttribute(name);
			else element.setAttribute(name, whole);
		}
}

function resolved(text: string, base: string): string | undefined {
	try {
		return new URL(text, base).href;
	} catch {
		return undefined;
	}
}
