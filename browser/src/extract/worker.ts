/** The thread that reads pages, one after the other: a page that takes too much time or memory ends this thread and nothing else. */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../base/index.js";
import type { Work } from "./work.js";

parentPort?.on("message", async (work: Work) => {
	try {
		if (work.kind === "pdf") parentPort?.postMessage({ done: await (await import("./pdf.js")).extractPdf(work.bytes) });
		else parentPort?.postMessage({ done: (await import("./html.js")).extractHtml(work.html, work.url) });
	} catch (error) {
		parentPort?.postMessage({ problem: messageOf(error) });
	}
});
