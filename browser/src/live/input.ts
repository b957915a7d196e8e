/** A person's input in the picture, as the browser takes it. It is passed on and kept nowhere. */
import * as z from "zod";

const at = { x: z.number().min(0).max(20_000), y: z.number().min(0).max(20_000) };

export const inputSchema = z.discriminatedUnion("kind", [
	z.strictObject({
		kind: z.literal("mouse"),
		type: z.enum(["mousePressed", "mouseReleased", "mouseMoved"]),
		...at,
		button: z.enum(["none", "left", "middle", "right"]),
		clicks: z.number().int().min(0).max(3),
	}),
	z.strictObject({ kind: z.literal("wheel"), ...at, dx: z.number(), dy: z.number() }),
	z.strictObject({
		kind: z.literal("key"),
		type: z.enum(["keyDown", "keyUp"]),
		key: z.string().max(40),
		code: z.string().max(40),
		keyCode: z.number().int().min(0).max(255),
		modifiers: z.number().int().min(0).max(15),
	}),
	z.strictObject({ kind: z.literal("text"), text: z.string().max(10_000) }),
	z.strictObject({ kind: z.literal("open"), url: z.url({ protocol: /^https?$/ }).max(8_000) }),
	z.strictObject({ kind: z.literal("back") }),
]);

export type LiveInput = z.infer<typeof inputSchema>;

export function commandOf(input: LiveInput): { method: string; params: object } {
	switch (input.kind) {
		case "mouse":
			return { method: "Input.dispatchMouseEvent", params: { type: input.type, x: input.x, y: input.y, button: input.button, clickCount: input.clicks } };
		case "wheel":
			return { method: "Input.dispatchMouseEvent", params: { type: "mouseWheel", x: input.x, y: input.y, deltaX: input.dx, deltaY: input.dy } };
		case "key": {
			const { type, key, code, keyCode, modifiers } = input;
			const text = type === "keyDown" && modifiers < 2 ? (key.length === 1 ? key : key === "Enter" ? "\r" : undefined) : undefined;
			return {
				method: "Input.dispatchKeyEvent",
				params: { type, key, code, windowsVirtualKeyCode: keyCode, modifiers, ...(text === undefined ? {} : { text }) },
			};
		}
		case "text":
			return { method: "Input.insertText", params: { text: input.text } };
		case "open":
			return { method: "Page.navigate", params: { url: input.url } };
		case "back":
			return { method: "Runtime.evaluate", params: { expression: "history.back()" } };
	}
}

/** Marks the password field that has the focus, so that no snapshot has what is in it, also when the page shows it as text afterwards. */
export const MARK_SECRET = `(() => {
	let at = document.activeElement;
	for (let next = at; next; next = at?.shadowRoot?.activeElement ?? at?.contentDocument?.activeElement) at = next;
	if (at?.type === "password") at.setAttribute("data-holdfast-secret", "");
})()`;
