/** Long conversations with programs on a terminal; test/screen/waiting.test.ts has short ones. */
import { talking } from "./talking.js";

talking({ rounds: 50, looks: 200 });
