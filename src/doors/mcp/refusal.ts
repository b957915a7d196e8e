/** An HTTP answer for a request that never becomes a call. */
export function refusal(status: number, message: string, code = -32_000): Response {
	return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
