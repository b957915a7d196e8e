import { describe, expect, it } from "vitest";
import { chooseTools, describeToolsets, type Toolset, toolsetsWith } from "../../src/tools/index.js";

const browser: Toolset = {
	name: "browser",
	description: "pages",
	tools: ["browser__open"],
	available: () => ({ ok: false, why: "Chromium is not installed", fix: "apt-get install chromium" }),
};
const sets = toolsetsWith({ servers: [browser] });

describe("choosing toolsets", () => {
	it("gives the tools of the named sets, each once, in a stable order", () => {
		expect(chooseTools(["file", "safe", "terminal"], sets, "run").tools).toEqual(["read_file", "write_file", "patch", "search_files", "terminal", "process"]);
		expect(chooseTools(["safe"], sets, "run").tools).toEqual(["read_file", "search_files"]);
	});

	it("names each set that is off, why, and what turns it on", () => {
		const { tools, sets: states } = chooseTools(["terminal", "file", "browser"], sets, "run");
		expect(describeToolsets(states)).toBe("terminal, file on · browser off: Chromium is not installed (apt-get install chromium)");
		expect(tools).not.toContain("browser__open");
	});

	it("follows includes, also in circles, and through sets of one's own", () => {
		const own = toolsetsWith({
			own: { mine: { tools: ["todo"], includes: ["safe", "yours"] }, yours: { includes: ["mine"], tools: ["ask_user", "server__thing"] } },
		});
		expect(chooseTools(["mine"], own, "run").tools).toEqual(["todo", "read_file", "search_files", "ask_user", "server__thing"]);
	});

	it("refuses a name that there is not, with near ones", () => {
		expect(() => chooseTools(["terminl"], sets, "run")).toThrow(
			'there is no toolset "terminl". Perhaps you mean terminal. There are terminal, file, transfer, safe, todo, ask, browser, all',
		);
		expect(() => chooseTools(["x".repeat(500)], sets, "chat")).toThrow(/^there is no toolset "x{80}"\. There are /);
		expect(() => toolsetsWith({ own: { mine: { includes: ["fil"] } } })).toThrow('there is no toolset "fil" in the toolset "mine". Perhaps you mean file.');
		expect(() => toolsetsWith({ own: { mine: { tools: ["read_fil"] } } })).toThrow(
			'there is no tool "read_fil" in the toolset "mine". Perhaps you mean read_file.',
		);
		expect(() => toolsetsWith({ own: { file: {} } })).toThrow('a toolset cannot be named "file"');
		expect(() => toolsetsWith({ servers: [{ ...browser, name: "all" }] })).toThrow('an MCP server cannot be named "all"');
	});

	it("is refused for a run that names none, and warns in a chat what that loads", () => {
		for (const none of [undefined, []]) {
			expect(() => chooseTools(none, sets, "run")).toThrow("no toolset is named, so nothing was run; name those that it needs: --toolsets terminal,file");
			const { warning, tools } = chooseTools(none, sets, "chat");
			expect(warning).toBe(
				`No toolset is named, so all are loaded: terminal, file, transfer, todo, ask (${tools.length} tools). Name those you want: --toolsets terminal,file`,
			);
			expect(tools).toHaveLength(10);
		}
	});
});
