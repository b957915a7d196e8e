#!/usr/bin/env node
/** The program `holdfast` as it is installed: its bundle, loaded with what V8 has compiled of it before. */
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Chunks } from "./chunks.js";

const chunks = new Chunks(path.dirname(fileURLToPath(import.meta.url)), { require: createRequire(import.meta.url), importModule: (name) => import(name) });
process.once("exit", () => chunks.keep());
chunks.load("main.js");
