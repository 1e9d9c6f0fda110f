/**
 * What session and executor process say to each other, over the IPC channel.
 *
 * The channel's end is a message too: the process ends itself. A request to stop
 * goes by the control pipe (interrupt.ts), which is heard in an endless loop, and
 * as a message, which is heard by a cell that waits.
 */
import type { StopRequest } from "./interrupt.js";
import type { CellOutput, CellResult } from "./result.js";

/** From the session. */
export type Order =
  | { readonly type: "run"; readonly cell: number; readonly name: string; readonly source: string }
  | { readonly type: "stop"; readonly request: StopRequest };

/** From the executor process. */
export type Report =
  | { readonly type: "ready" }
  /** The cell is compiled and begins to run: from now on it can be expected to stop when told. */
  | { readonly type: "started"; readonly cell: number }
  /** A cell's own outputs; may come after its result. `cell` is the number given in `run`. */
  | { readonly type: "outputs"; readonly cell: number; readonly outputs: readonly CellOutput[] }
  | { readonly type: "result"; readonly cell: number; readonly result: CellResult };

/** File descriptor of the control pipe in the executor process. */
export const controlPipe = 4;
