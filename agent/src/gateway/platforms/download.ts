/** Fetches a file of a person, up to a limit. */
import { fromNetwork } from "./failures.js";
import { PlatformError } from "./platform.js";

export interface DownloadWish {
	readonly platform: string;
	readonly limit: number;
	readonly signal: AbortSignal;
	readonly headers?: Readonly<Record<string, string>>;
}

export async function download(url: string, { platform, limit, signal, headers = {} }: DownloadWish): Promise<Uint8Array> {
	const tooLarge = (): PlatformError => new PlatformError("refused", `the file is larger than ${limit} bytes`);
	try {
		const response = await fetch(url, { signal, headers });
		if (!response.ok) throw new PlatformError("refused", `${platform} did not give the file (${response.status})`);
		if (Number(response.headers.get("content-length") ?? 0) > limit) {
			await response.body?.cancel();
			throw tooLarge();
		}
		return await upTo(response.body ?? [], limit, tooLarge);
	} catch (error) {
		if (error instanceof PlatformError) throw error;
		throw new PlatformError("not-sent", `the file could not be fetched: ${fromNetwork(error, platform).message}`, { cause: error });
	}
}

async function upTo(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, limit: number, tooLarge: () => PlatformError): Promise<Uint8Array> {
	const parts: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of chunks) {
		size += chunk.length;
		if (size > limit) throw tooLarge();
		parts.push(chunk);
	}
	return Buffer.concat(parts);
}
