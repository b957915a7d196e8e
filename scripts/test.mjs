import path from "node:path";
import { ensureBuilt, ensureDependencies, ensurePackages, root, run } from "./setup.mjs";

ensureDependencies();
ensureBuilt();
ensurePackages({
	"busybox-static": "/bin/busybox",
	bsdutils: "/usr/bin/script",
	"python3-minimal": "/usr/bin/python3",
	"perl-base": "/usr/bin/perl",
	tmux: "/usr/bin/tmux",
});
run(process.execPath, [path.join(root, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)]);
