/**
 * Runs a notebook from top to bottom, as after a restart.
 *
 * The first cell that fails ends the run, and the cells after it stay "not run";
 * `allowErrors` goes on, and so does a cell with the tag `raises-exception`, where
 * the error is the lesson. If the executor's process is gone there is nothing to
 * go on with.
 */
import { dirname, resolve } from "node:path";
import { notRun, Session } from "../session/index.js";
import type { CellOutcome, CellStatus } from "../session/index.js";
import { isRunnable, outputsForFile, sourceOf } from "./notebook.js";
import type { Notebook, NotebookCell } from "./notebook.js";

/** How a notebook is run. */
export interface RunOptions {
  /** Per cell; no limit by default. */
  readonly timeoutMs?: number;
  readonly allowErrors?: boolean;
  /** Environment variables for the notebook's process, beside those of this one. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the run at once. */
  readonly signal?: AbortSignal;
  /** Told before and after each cell. */
  readonly onProgress?: (cell: CellReport, total: number) => void;
  /** Path of the compiled executor process; the one of this installation by default. */
  readonly program?: string;
}

/** How a code cell went. `running` only while it does. */
export interface CellReport {
  /** Counts the code cells from 1; messages call it "cell 3". */
  readonly number: number;
  readonly id: string;
  readonly status: CellStatus | "running";
  readonly ms: number;
  /** One line: what went wrong. */
  readonly error?: string;
  /** It failed, as its tag said it would. */
  readonly expected?: boolean;
}

/** How a notebook went. */
export interface NotebookRun {
  readonly status: "ok" | "failed" | "stopped";
  readonly ms: number;
  readonly cells: readonly CellReport[];
  /** The notebook with its outputs. */
  readonly executed: Notebook;
}

/**
 * Runs all code cells of a notebook.
 *
 * @param path the notebook's file: imports and relative paths start in its folder
 */
export async function runNotebook(
  path: string,
  notebook: Notebook,
  options: RunOptions = {},
): Promise<NotebookRun> {
  const started = performance.now();
  const folder = dirname(resolve(path));
  const { env, program, signal, allowErrors = false } = options;
  const session = new Session({ folder, ...(env ? { env } : {}), ...(program ? { program } : {}) });
  const stop = (): void => void session.close();
  signal?.addEventListener("abort", stop);
  const outcomes = new Map<NotebookCell, CellOutcome>();
  try {
    const code = notebook.cells.filter(isRunnable);
    let goOn = true;
    for (const [index, cell] of code.entries()) {
      if (!goOn || signal?.aborted || !session.alive) break;
      const name = `cell ${index + 1}`;
      options.onProgress?.(report(cell, index, undefined), code.length);
      const { timeoutMs } = options;
      const outcome = await session.execute({ name, source: sourceOf(cell) }, timeoutMs ? { timeoutMs } : {});
      outcomes.set(cell, outcome);
      options.onProgress?.(report(cell, index, outcome), code.length);
      goOn = outcome.status === "ok" || allowErrors || mayFail(cell);
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await session.close();
  }
  // Only now: an output or a rejection may have come after its cell's end.
  const cells = notebook.cells
    .filter(isRunnable)
    .map((cell, index) => report(cell, index, outcomes.get(cell) ?? notRun()));
  const executed = {
    ...notebook,
    cells: notebook.cells.map((cell) => withOutputs(cell, outcomes.get(cell))),
  };
  const isOk = cells.every(({ status, expected }) => status === "ok" || expected);
  const status = signal?.aborted ? "stopped" : isOk ? "ok" : "failed";
  return { status, ms: Math.round(performance.now() - started), cells, executed };
}

function withOutputs(cell: NotebookCell, outcome: CellOutcome | undefined): NotebookCell {
  if (cell.cell_type !== "code") return cell;
  const { executionCount, outputs } = outcome ?? notRun();
  return { ...cell, execution_count: executionCount, outputs: outputsForFile(outputs) };
}

function report(cell: NotebookCell, index: number, outcome: CellOutcome | undefined): CellReport {
  const number = index + 1;
  const id = cell.id ?? `cell-${number}`;
  if (outcome === undefined) return { number, id, status: "running", ms: 0 };
  const { status, ms, error } = outcome;
  if (error === undefined) return { number, id, status, ms };
  const place = error.line === undefined ? "" : ` (${error.cell}:${error.line}:${error.column})`;
  const message = `${error.name}: ${error.message}`.replace(/\s*\n\s*/g, " ");
  const expected = status === "error" && mayFail(cell);
  return { number, id, status, ms, error: message + place, ...(expected ? { expected } : {}) };
}

function mayFail(cell: NotebookCell): boolean {
  return cell.metadata?.tags?.includes("raises-exception") ?? false;
}
