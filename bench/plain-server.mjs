/** The least that puts a terminal into a browser: node-pty and ws behind xterm.js, with the care that a flood needs. Started by plain-page.mjs. */
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const [from, command, cols, rows] = process.argv.slice(2);
const pty = createRequire(path.join(from, "package.json"))("node-pty");
const XTERM = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "node_modules/@xterm/xterm");
const FILES = { "/xterm.js": "lib/xterm.js", "/xterm.css": "css/xterm.css" };
const MOST_UNSENT = 256 * 1024;
const PAGE = `<!doctype html><link rel="stylesheet" href="/xterm.css"><div id="here"></div><script src="/xterm.js"></script><script>
	const terminal = new Terminal({ cols: ${cols}, rows: ${rows} });
	terminal.open(document.getElementById("here"));
	const socket = new WebSocket("ws://" + location.host + location.pathname);
	socket.onmessage = ({ data }) => terminal.write(data);
	socket.onopen = () => { window.ready = true; };
	terminal.onData((data) => socket.send(data));
</script>`;

const server = http.createServer((request, response) => {
	const file = FILES[request.url];
	response.setHeader("Content-Type", file?.endsWith(".js") ? "text/javascript" : file ? "text/css" : "text/html");
	response.end(file ? fs.readFileSync(path.join(XTERM, file)) : PAGE);
});
new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket, request) => {
	const child = pty.spawn("bash", ["-c", request.url === "/yes" ? "yes" : command], { cols: Number(cols), rows: Number(rows) });
	child.onData((text) => {
		socket.send(text, () => socket.bufferedAmount < MOST_UNSENT && child.resume());
		if (socket.bufferedAmount >= MOST_UNSENT) child.pause();
	});
	socket.on("message", (data) => child.write(data.toString()));
	socket.once("close", () => child.kill("SIGKILL"));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("disconnect", () => process.exit());
