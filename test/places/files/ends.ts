/** The ends that files are tested at: this machine, and shells behind a stream, rich and poor. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { commandEnd, type Files, linkEnd, localFiles, remoteFiles } from "../../../src/places/files/index.js";
import { Connection } from "../../../src/places/link/connection.js";
import { atEnd, tempDir } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";

export interface TestEnd {
	readonly name: string;
	readonly missing?: string;
	open(): Files;
}

const has = (file: string) => fs.existsSync(file);

/** A box on which everything is busybox. */
function busyboxShell(): { shell: string[]; env: NodeJS.ProcessEnv } {
	const bin = tempDir("bin");
	execFileSync("busybox", ["--install", "-s", bin]);
	return { shell: [path.join(bin, "sh")], env: { PATH: bin, HOME: bin } };
}

const COREUTILS = "cat chgrp chmod chown cp cut dd head ln ls mkdir mv readlink rm rmdir seq sort stat tail tr wc".split(" ");

/** A box with the least there may be, and these. */
function poorShell(...more: string[]): { shell: string[]; env: NodeJS.ProcessEnv } {
	const bin = tempDir("bin");
	for (const name of [...COREUTILS, ...more]) fs.symlinkSync([`/usr/bin/${name}`, `/bin/${name}`].find(has) as string, path.join(bin, name));
	return { shell: ["/bin/dash"], env: { PATH: bin, HOME: bin } };
}

const remoteWith = ({ shell, env }: { shell: string[]; env?: NodeJS.ProcessEnv }): Files => remoteFiles(commandEnd(() => shell, env));

export function linkTo(host: ShellHost): Connection {
	const connection = new Connection(host, { dir: "", name: "box" });
	atEnd(() => connection.close());
	return connection;
}

const busybox = has("/usr/bin/busybox") || has("/bin/busybox") ? {} : { missing: "no busybox" };

export const ENDS: readonly TestEnd[] = [
	{ name: "near", open: localFiles },
	{ name: "far, dash", open: () => remoteWith(poorShell("find", "grep", "sed", "sha256sum", "tar")), ...(has("/bin/dash") ? {} : { missing: "no dash" }) },
	{ name: "far, busybox", open: () => remoteWith(busyboxShell()), ...busybox },
	{ name: "far, a link", open: () => remoteFiles(linkEnd(linkTo(new ShellHost()))) },
	{ name: "far, without tar, find and sha256sum", open: () => remoteWith(poorShell()), ...(has("/bin/dash") ? {} : { missing: "no dash" }) },
];
