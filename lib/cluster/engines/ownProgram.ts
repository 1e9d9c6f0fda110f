/** Our own `lib/bin/mongod`, as the engine `process` starts it. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SERVER_VERSION } from "../../protocol/index.js";
import { ClusterError, ClusterErrorCode } from "../error.js";
import type { ProgramChoice } from "./programs.js";

/**
 * Where the shell script is: beside its source, in this repository as in an installed package, whether this file
 * runs compiled (`dist/lib/cluster/engines/`) or from source.
 */
export function ownProgramPath(): string {
  const here = import.meta.url;
  const up = here.endsWith(".ts") ? "../../" : "../../../../lib/";
  return fileURLToPath(new URL(`${up}bin/mongod`, here));
}

/**
 * The engine `process`.
 * @param seed repeats the random choices of each server
 * @throws ClusterError where scripts can't be started, or ours isn't there
 */
export function ownProgram(seed: number): ProgramChoice {
  if (process.platform === "win32") {
    throw new ClusterError(
      ClusterErrorCode.engineUnavailable,
      "engine process needs a POSIX shell, which Windows has not",
      'use --engine embedded (in a notebook: engine: "embedded")',
    );
  }
  const path = ownProgramPath();
  const compiled = fileURLToPath(new URL("../../dist/lib/bin/mongod.js", `file://${path}`));
  for (const file of [path, compiled]) {
    if (!existsSync(file))
      throw new ClusterError(ClusterErrorCode.startFailed, `${file} is missing`, "run npm run build");
  }
  return {
    path,
    version: SERVER_VERSION.split("-")[0] ?? SERVER_VERSION,
    args: [],
    env: (id) => ({ SHARDLAB_NODE: process.execPath, SHARDLAB_SEED: `${seed}/${id}` }),
  };
}
