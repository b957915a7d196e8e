/** Bytes to our own stdout, no faster than it takes them. */
export function writeOut(bytes: Uint8Array): Promise<void> {
	return new Promise((resolve) => {
		if (process.stdout.write(bytes)) resolve();
		else process.stdout.once("drain", resolve);
	});
}
