/** A remote machine that is this one: its kernel is asked over a real link, to different shells, with and without perl. */
import fs from "node:fs";
import type { Kernel } from "../../src/base/kernel.js";
import { remoteKernel } from "../../src/places/remote/kernel.js";
import { Process } from "../../src/process/process.js";
import { linkTo, type Shell, ShellHost } from "./shell-host.js";

const isThere = (name: string): boolean => ["/usr/bin", "/bin"].some((dir) => fs.existsSync(`${dir}/${name}`));

/** What is there to answer with. */
export const BOXES: Readonly<Record<string, { readonly possible: boolean; readonly shell: Shell; readonly perl: boolean }>> = {
	"a box with perl": { possible: isThere("perl"), shell: "dash", perl: true },
	"a box without perl": { possible: true, shell: "dash", perl: false },
	"bash without perl": { possible: isThere("bash"), shell: "bash", perl: false },
	"a box of busybox": { possible: isThere("busybox"), shell: "busybox", perl: false },
};

/** The same process in the eyes of a program to which it runs on a remote machine. */
export const seenFrom = (process: Process, kernel: Kernel): Process =>
	Object.assign(new Process(process.dir, process.spec, process.machine, () => {}), { kernel });

/** With a count of how often something was asked. */
export async function kernelOf(box: keyof typeof BOXES): Promise<Kernel & { readonly asked: { count: number } }> {
	const { shell, perl } = BOXES[box] as { shell: Shell; perl: boolean };
	const link = await linkTo(new ShellHost({ shell }), { perl });
	const asked = { count: 0 };
	const kernel = remoteKernel((work) => {
		asked.count++;
		return work(link);
	});
	return { ...kernel, asked };
}
