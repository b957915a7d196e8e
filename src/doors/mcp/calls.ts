/** The calls under way. A door that closes while there are some must not wait for them: their commands go on by themselves. */
export class Calls {
	#count = 0;

	get busy(): boolean {
		return this.#count > 0;
	}

	async track<T>(call: Promise<T>): Promise<T> {
		this.#count++;
		try {
			return await call;
		} finally {
			this.#count--;
		}
	}
}
