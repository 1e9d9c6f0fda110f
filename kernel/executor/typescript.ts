/**
 * The compiler, loaded as the CommonJS file it is.
 *
 * An ordinary import would have Node search nine megabytes for ES module syntax and
 * for export names before running them: half a second of every start.
 */
import { createRequire } from "node:module";
import type typescript from "typescript";

/** TypeScript's API. Its types are imported by name from "typescript". */
export const ts = createRequire(import.meta.url)("typescript") as typeof typescript;
