/** A browser in places of other kinds: its debugging port is there, and is reached over the link. */
import fs from "node:fs";
import path from "node:path";
import { openRuntime, type Runtime } from "holdfast";
import { expect, it } from "vitest";
import { browserTools } from "../../browser/dist/index.js";
import { dockerBox } from "../support/docker-box.js";
import { noEngine } from "../support/dockerd.js";
import { sshBox } from "../support/ssh-box.js";
import { noSshd } from "../support/sshd.js";

const missing = fs.existsSync("/usr/bin/chromium") ? undefined : "there is no /usr/bin/chromium (Debian package chromium)";

const PAGE = `<!doctype html><title>Inside</title><h1>Only in there</h1><button onclick="this.textContent='pressed'">Press</button><a download="kept.txt" href="file.txt">Get</a>`;

/** The same in each place: drive, upload, download, be killed, be found again, be watched, end. */
async function drives(box: { home: string; dir: string }): Promise<void> {
	const runtime = await openRuntime({ home: box.home, task: "t", warm: 0, place: "box" });
	const task = runtime.task("t");
	await task.files.write(`${box.dir}/site/index.html`, PAGE);
	await task.files.write(`${box.dir}/site/file.txt`, "from the site");
	const port = 20_000 + Math.floor(Math.random() * 10_000);
	await task.terminal({ command: `cd ${box.dir}` });
	const server = await task.spawn({
		command: ["perl", "-MIO::Socket::INET", "-e", SERVER, String(port), `${box.dir}/site`],
		name: "site",
	});
	await server.wait({ until: { pattern: "listens" }, timeout: 60_000 });
	let tools = browserTools(runtime);
	const call = async (name: string, args: object = {}) => {
		const tool = tools.tools.find((one) => one.name === name);
		if (!tool) throw new Error(`no ${name}`);
		const result = await task.call(tool, args);
		if (result.status !== "ok") throw new Error(`${name}: ${result.status} ${result.error}`);
		return result;
	};
	const refOf = (text: string, what: string) => new RegExp(`${what}.*\\[ref=(\\w+)\\]`).exec(text)?.[1];
	const at = await call("browser_navigate", { url: `http://127.0.0.1:${port}/` });
	expect(at.output).toContain("Only in there");
	expect((await call("browser_click", { ref: refOf(at.output, "Press") })).output).toContain("pressed");
	const kept = await call("browser_download", { ref: refOf(at.output, "Get") });
	expect((await task.files.read(String(kept.data?.path))).toString()).toBe("from the site");
	await call("browser_screenshot", { path: "inside.png" });
	expect((await task.files.read(`${box.dir}/inside.png`)).subarray(1, 4).toString()).toBe("PNG");

	// Another program finds it in the same page, while this one has it too.
	const before = browserOf(runtime);
	const other = await openRuntime({ home: box.home, task: "t", warm: 0, place: "box" });
	const second = browserTools(other);
	const snapshot = second.tools.find((one) => one.name === "browser_snapshot");
	expect(snapshot && (await other.task("t").call(snapshot, {})).output).toContain('button "pressed"');
	expect((await call("browser_snapshot")).output).toContain('button "pressed"');
	await second.close();
	await other.close();
	await tools.close();
	tools = browserTools(runtime);
	expect((await call("browser_snapshot")).output).toContain('button "pressed"');
	expect(browserOf(runtime)).toBe(before);
	expect((await call("browser_close")).output).toContain("its processes are gone");
	await tools.close();
	const report = await runtime.endTask("t");
	expect(report.gone).toBe(true);
	await runtime.close();
}

const browserOf = (runtime: Runtime): string | undefined => runtime.list({ task: "t", ended: false }).find(({ spec }) => spec.name === "browser")?.id;

/** Serves files; the image has perl and no python. */
const SERVER = `
my ($port, $dir) = @ARGV; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$port", Listen => 20, ReuseAddr => 1) or die;
$| = 1; print "listens\\n";
while (my $c = $s->accept) { my $line = <$c>; while (my $h = <$c>) { last if $h =~ /^\\r?\\n/ }
  my ($p) = ($line // "") =~ m{^GET /([\\w.]*)}; $p = "index.html" if !$p; my $body = ""; if (open my $f, "<", "$dir/$p") { local $/; $body = <$f> }
  my $type = $p =~ /html$/ ? "text/html" : "application/octet-stream";
  print $c "HTTP/1.1 200 OK\\r\\nContent-Type: $type\\r\\nContent-Length: " . length($body) . "\\r\\nConnection: close\\r\\n\\r\\n$body"; close $c }`;

it.skipIf(missing ?? noSshd)("drives a Chromium on a machine over SSH", { timeout: 300_000 }, async () => {
	await drives(await sshBox());
});

it.skipIf(missing ?? noEngine())("drives a Chromium in a container", { timeout: 300_000 }, async () => {
	// The image has no Chromium: it uses that of this machine, with its libraries.
	const volumes = ["/usr", "/lib", "/lib64", "/etc/fonts", "/etc/chromium.d", "/etc/alternatives"]
		.filter((dir) => fs.existsSync(dir))
		.map((dir) => `${fs.realpathSync(dir)}:${dir}:ro`);
	const work = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "work-"));
	const box = await dockerBox({ entry: { volumes: [...volumes, `${work}:${work}`] } });
	await drives({ home: box.home, dir: work });
	fs.rmSync(work, { recursive: true, force: true });
});
