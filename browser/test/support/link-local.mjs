// In a network namespace of its own: a page that leads to a link-local address in several ways. Prints what the tools answer, as JSON. Arguments: the home.
import { execFileSync } from "node:child_process";
import http from "node:http";
import { openRuntime } from "holdfast";
import { browserTools } from "holdfast-browser";

execFileSync("ip", ["link", "set", "lo", "up"]);
execFileSync("ip", ["addr", "add", "169.254.169.254/32", "dev", "lo"]);
const PAGES = {
	"/redirect": (response) => response.writeHead(302, { location: "http://169.254.169.254/keys" }).end(),
	"/frame": (response) => response.end('<h1>Harmless</h1><iframe src="http://metadata.test/keys"></iframe>'),
	"/link": (response) => response.end('<a href="http://169.254.169.254/keys">Go</a>'),
	"/popup": (response) => response.end('<a target="_blank" href="http://metadata.test/keys">Go</a>'),
	"/to-data": (response) => response.writeHead(302, { location: "http://169.254.169.254/user-data" }).end(),
	"/to-name": (response) => response.writeHead(302, { location: "http://metadata.test/user-data" }).end(),
	"/user-data": (response) => response.writeHead(200, { "content-type": "application/octet-stream" }).end("SECRET-KEYS"),
	"/downloads": (response) =>
		response.end('<a href="/to-data">By address</a><a href="/to-name">By name</a><a href="/to-name" target="_blank">In another tab</a>'),
	"/script": (response) =>
		response.end(
			'<h1>Reads</h1><script>fetch("http://metadata.test/open").then((r) => r.text()).then((t) => { document.querySelector("h1").textContent = "read " + t; })</script>',
		),
	"/open": (response) => response.writeHead(200, { "access-control-allow-origin": "*" }).end("SECRET-KEYS"),
	"/keys": (response) => response.end("<h1>SECRET-KEYS</h1>"),
};
const server = http.createServer((request, response) => {
	response.setHeader("content-type", "text/html");
	(PAGES[request.url] ?? ((one) => one.writeHead(404).end()))(response);
});
await new Promise((resolve) => server.listen(80, "0.0.0.0", resolve));
const runtime = await openRuntime({ home: process.argv[2], task: "t", warm: 0 });
const args = ["--host-resolver-rules=MAP metadata.test 169.254.169.254"];
const { tools, close } = browserTools(runtime, { settings: { browser: { args } } });
const task = runtime.task("t");
const call = async (name, given = {}) => {
	const { status, output, error } = await task.call(
		tools.find((tool) => tool.name === name),
		given,
	);
	return { status, output, error };
};
const found = {};
for (const [name, url] of Object.entries({ redirect: "http://127.0.0.1/redirect", name: "http://metadata.test/keys", frame: "http://127.0.0.1/frame" }))
	found[name] = await call("browser_navigate", { url });
found.screenshot = await call("browser_screenshot");
found.console = await call("browser_console");
await call("browser_navigate", { url: "http://localhost/script" });
do
	found.script = await call("browser_snapshot"); // the answer to its script comes a moment later
while (found.script.output.includes('"Reads"'));
const link = await call("browser_navigate", { url: "http://127.0.0.1/link" });
found.link = await call("browser_click", { ref: /link "Go" \[ref=(\w+)\]/.exec(link.output)?.[1] });
found.again = await call("browser_snapshot");
const popup = await call("browser_navigate", { url: "http://127.0.0.1/popup" });
await call("browser_click", { ref: /link "Go" \[ref=(\w+)\]/.exec(popup.output)?.[1] });
do
	found.popup = await call("browser_snapshot"); // the tab comes a moment later
while (found.popup.status === "ok" && !found.popup.output.startsWith("http://metadata.test/keys"));
await call("browser_tabs", { close: 2 });
found.downloads = [];
for (const name of ["By address", "By name", "In another tab"]) {
	const { output } = await call("browser_navigate", { url: "http://127.0.0.1/downloads" });
	found.downloads.push(await call("browser_download", { ref: new RegExp(`link "${name}" \\[ref=(\\w+)\\]`).exec(output)?.[1] }));
	found.downloads.push(await call("browser_download"));
}
await call("browser_navigate", { url: "http://127.0.0.1/keys" }); // by loopback, which is open
await call("browser_navigate", { url: "http://metadata.test/keys" });
await close();
const allowed = browserTools(runtime, { settings: { browser: { args, policy: { private_hosts: "allow" } } } });
const { output } = await task.call(
	allowed.tools.find((tool) => tool.name === "browser_snapshot"),
	{},
);
found.allowed = output;
await allowed.close();
await runtime.endTask("t");
await runtime.close();
server.closeAllConnections();
server.close();
console.log(JSON.stringify(found));
