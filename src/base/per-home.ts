/** State that a room keeps for a home which this program has open. It is the home's: another home has its own, and it goes with the home. */
import type { Home } from "./home.js";

export function perHome<T>(make: () => T): (home: Home) => T {
	const states = new WeakMap<Home, T>();
	return (home) => {
		const known = states.get(home) ?? make();
		states.set(home, known);
		return known;
	};
}
