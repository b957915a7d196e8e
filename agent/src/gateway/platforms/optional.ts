/** Loads the library of a platform when it is configured. Without the package the error names the command that installs it. */
import { AgentError, errno } from "../../base/index.js";

export async function loadPackage<T>(platform: string, packages: readonly string[], load: () => Promise<T>): Promise<T> {
	try {
		return await load();
	} catch (error) {
		if (errno(error) !== "ERR_MODULE_NOT_FOUND" && errno(error) !== "MODULE_NOT_FOUND") throw error;
		const names = packages.join(" ");
		const words = `${platform} needs ${packages.length > 1 ? "the packages" : "the package"} ${names}, not installed; run: npm install ${names}`;
		throw new AgentError("UNSUPPORTED", words, { cause: error });
	}
}
