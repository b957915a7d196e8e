/** Headers that keep a browser from doing more with us than we mean it to. */
import type { Context, MiddlewareHandler } from "hono";
import type { PublicUrl } from "./public-url.js";

export function securityHeaders(reached: (context: Context) => PublicUrl): MiddlewareHandler {
	return async (context, next) => {
		await next();
		const headers = context.res.headers;
		// xterm.js draws with style elements that it makes itself; scripts are ours alone. A page of ours without scripts has a stricter one already.
		if (!headers.has("Content-Security-Policy"))
			headers.set(
				"Content-Security-Policy",
				[
					"default-src 'none'",
					"script-src 'self'",
					"style-src 'self' 'unsafe-inline'",
					"img-src 'self' data: blob:",
					"font-src 'self'",
					`connect-src 'self' ${reached(context).origin.replace(/^http/, "ws")}`,
					"manifest-src 'self'",
					"worker-src 'self'",
					"base-uri 'none'",
					"form-action 'none'",
					"frame-ancestors 'none'",
				].join("; "),
			);
		headers.set("X-Content-Type-Options", "nosniff");
		headers.set("X-Frame-Options", "DENY");
		if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "no-referrer");
		headers.set("Cross-Origin-Opener-Policy", "same-origin");
		headers.set("Cross-Origin-Resource-Policy", "same-origin");
		headers.set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), usb=(), serial=(), payment=()");
	};
}
