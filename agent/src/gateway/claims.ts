/** One gateway for an account. Two with one token would both answer, or each hear a half. */
import { AgentError, type AgentHome, Claim, type ClaimHolder, fileKey, heldBy } from "../base/index.js";
import type { OpenedPlatform } from "./open-platforms.js";
import { accountClaim, gatewayClaim } from "./paths.js";

/** Another program has the account. The command line ends with 78. */
export class TakenError extends Error {
	override readonly name = "TakenError";
}

/** All or none. */
export function claimPlatforms(home: AgentHome, platforms: readonly (Pick<OpenedPlatform, "name"> & Partial<OpenedPlatform>)[]): Claim[] {
	const claims: Claim[] = [];
	for (const { name, account } of platforms) {
		for (const taken of takenFor(home, name, account)) {
			if (taken instanceof Claim) {
				claims.push(taken);
				continue;
			}
			for (const one of claims) one.release();
			throw new TakenError(`${name} is in use by ${heldBy(taken)}; end that gateway first, or let it go on`);
		}
	}
	return claims;
}

/** By its name in this home, and by its account in all homes of this user. */
function* takenFor(home: AgentHome, name: string, account: string | undefined): Generator<Claim | ClaimHolder> {
	yield Claim.take(gatewayClaim(home, fileKey(name)), "gateway");
	const shared = account === undefined ? undefined : accountTaken(home, account);
	if (shared) yield shared;
}

function accountTaken(home: AgentHome, account: string): Claim | ClaimHolder | undefined {
	try {
		return Claim.take(accountClaim(account), `gateway of ${home.root}`);
	} catch (error) {
		if (error instanceof AgentError) return undefined; // nothing can be written where all homes look: then they are not told apart
		throw error;
	}
}
