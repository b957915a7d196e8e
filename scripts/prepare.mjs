// npm runs this before it packs or publishes, and after an install from git: the package is whole, or npm fails.
import { ensureBuilt, ensureDependencies } from "./setup.mjs";

const installing = ["install", "ci"].includes(process.env.npm_command ?? "");
if (!installing) ensureDependencies(); // npm is about to do it, or has just done it
ensureBuilt();
