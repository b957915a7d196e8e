// Build what is not built, then serve the page, the API and MCP. In this very process, so that Ctrl-C reaches the server and nobody else.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt, ensureDependencies, root } from "./setup.mjs";

ensureDependencies();
ensureBuilt();
const cli = path.join(root, "dist/bin/holdfast.js");
const given = process.argv.slice(2);
const port = given.some((word) => word === "--port" || word.startsWith("--port=")) ? [] : ["--any-port"];
process.argv = [process.execPath, cli, "serve", ...port, ...given];
await import(pathToFileURL(cli).href);
