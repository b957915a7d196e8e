// A program that opens a page and hangs in the middle of its flow, to be killed. Arguments: the home, the URL.
import { openRuntime } from "holdfast";
import { browserTools } from "holdfast-browser";

const [, , home, url] = process.argv;
const runtime = await openRuntime({ home, task: "t", warm: 0 });
const { tools } = browserTools(runtime);
const result = await runtime.task("t").call(
	tools.find(({ name }) => name === "browser_navigate"),
	{ url },
);
console.log(result.status === "ok" ? "opened" : JSON.stringify(result));
setInterval(() => {}, 1_000);
