/**
 * The core's parser of shell text is WebAssembly. Its first command would have V8 optimise it for most of a second of CPU time, and a program cannot end
 * before that is done; unoptimised it takes a millisecond.
 */
import { setFlagsFromString } from "node:v8";

export function keepParserPlain(): void {
	for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
}
