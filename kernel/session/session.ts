/**
 * One notebook's running state: the executor process, the queue of cells, their
 * outputs.
 *
 * Every front end holds a session: the runner now, Jupyter and the page later.
 * A cell's outcome is plain data in the notebook's own format. Outputs go to the
 * cell that made them, also after it has ended, so an outcome's `outputs` may
 * still grow while the session is open.
 *
 * A cell can be stopped in three rungs: its loops and functions end at a guard
 * and the notebook's state is kept; if that doesn't help within the grace (code in
 * a library, a regular expression without end) the process is killed, and with it
 * the state; and then the outcome says so.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Readable, Writable } from "node:stream";
import { controlPipe, requestLine } from "../executor/index.js";
import type { CellError, CellOutput, CellResult, Order, Report, StopRequest } from "../executor/index.js";
import { diagnosticsError, errorOutput, OutputBook } from "./output.js";
import type { Output } from "./output.js";
import { endGroup, hasGroups, killGroup } from "./processGroup.js";

/** How a cell ended. */
export type CellStatus = "ok" | "error" | "timeout" | "killed" | "not-run";

/** A cell to run. */
export interface SessionCell {
  /** What messages call it: "cell 3". */
  readonly name: string;
  readonly source: string;
}

/** How a cell went. */
export interface CellOutcome {
  status: CellStatus;
  /** From being sent to its result, in milliseconds; 0 if it did not run. */
  ms: number;
  readonly executionCount: number | null;
  readonly outputs: Output[];
  error?: CellError;
}

/** How a session is opened. */
export interface SessionOptions {
  /** Absolute path of the notebook's folder: where its imports and relative paths start. */
  readonly folder: string;
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long a cell that is told to stop may take before its process is killed. 2,000 ms by default. */
  readonly graceMs?: number;
  /** Path of the compiled executor process; the one of this installation by default. */
  readonly program?: string;
}

/** How one cell is run. */
export interface ExecuteOptions {
  /** Stop the cell when it has run for this many milliseconds; compiling it doesn't count. No limit by default. */
  readonly timeoutMs?: number;
  /** Told of each output as it comes, also of those that come after the cell's end. */
  readonly onOutput?: (output: CellOutput) => void;
}

interface Running {
  readonly number: number;
  readonly outcome: CellOutcome;
  readonly started: number;
  readonly finish: () => void;
  readonly limitMs: number | undefined;
  /** Begun to run, rather than being compiled. */
  hasBegun: boolean;
  isTooLate: boolean;
  isTold: boolean;
  limit?: NodeJS.Timeout;
  grace?: NodeJS.Timeout;
}

/** A notebook that is running. */
export class Session {
  readonly #child: ChildProcess;
  readonly #graceMs: number;
  readonly #book = new OutputBook();
  readonly #outcomes = new Map<number, CellOutcome>();
  readonly #listeners = new Map<number, (output: CellOutput) => void>();
  #count = 0;
  #running: Running | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #crashText = "";
  /** Why no cell can run any more. */
  #ended: string | undefined;

  constructor(options: SessionOptions) {
    this.#graceMs = options.graceMs ?? 2_000;
    const program = options.program ?? fileURLToPath(new URL("../executor/child.js", import.meta.url));
    const stdio: ("ignore" | "pipe" | "ipc")[] = ["ignore", "pipe", "pipe", "ipc"];
    stdio[controlPipe] = "pipe";
    this.#child = fork(program, [], {
      cwd: options.folder,
      // Node calls the loader that imports start from experimental; that is no news for a student.
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: { ...process.env, ...options.env, ...(hasGroups ? { SHARDLAB_OWN_GROUP: "1" } : {}) },
      stdio,
      detached: hasGroups,
    });
    this.#listen();
  }

  /** Can it still run cells? Not after its process has ended. */
  get alive(): boolean {
    return this.#ended === undefined;
  }

  /**
   * Runs a cell after those that were given before.
   *
   * @returns how it went; never rejects. After the process has ended: `not-run`
   */
  execute(cell: SessionCell, options: ExecuteOptions = {}): Promise<CellOutcome> {
    const outcome = this.#last.then(() => this.#execute(cell, options));
    this.#last = outcome;
    return outcome;
  }

  /**
   * Stops the running cell; if it doesn't stop within the grace, kills the process. When no
   * cell runs, stops what earlier cells have left running.
   */
  interrupt(): void {
    const running = this.#running;
    const request: StopRequest = running
      ? { scope: "cell", number: running.number }
      : { scope: "all", number: this.#count };
    this.#ask(request);
    if (running === undefined) return;
    running.isTold = true;
    // A cell that is being compiled stops before it begins, however long the compiler takes.
    if (running.hasBegun) running.grace ??= setTimeout(() => killGroup(this.#child), this.#graceMs);
  }

  /** Ends the process and all that it started; a running cell ends as `killed`. */
  async close(): Promise<void> {
    this.#ended ??= "the session was closed";
    // A cell that loops would not notice that its channel is closed.
    if (this.#running) this.#ask({ scope: "cell", number: this.#running.number });
    await endGroup(this.#child, this.#graceMs);
  }

  async #execute(cell: SessionCell, { timeoutMs, onOutput }: ExecuteOptions): Promise<CellOutcome> {
    if (this.#ended !== undefined) return notRun();
    const number = ++this.#count;
    const outcome: CellOutcome = { status: "ok", ms: 0, executionCount: number, outputs: [] };
    this.#outcomes.set(number, outcome);
    if (onOutput) this.#listeners.set(number, onOutput);
    await new Promise<void>((finish) => {
      this.#running = {
        number,
        outcome,
        started: performance.now(),
        finish,
        limitMs: timeoutMs,
        hasBegun: false,
        isTooLate: false,
        isTold: false,
      };
      this.#send({ type: "run", cell: number, name: cell.name, source: cell.source });
    });
    return outcome;
  }

  #listen(): void {
    const child = this.#child;
    child.on("message", (report: Report) => this.#receive(report));
    // What bypasses process.stdout: native code, and programs that the cell started.
    (child.stdout as Readable).on("data", (bytes: Buffer) => this.#bypassed("stdout", bytes));
    (child.stderr as Readable).on("data", (bytes: Buffer) => this.#bypassed("stderr", bytes));
    for (const stream of child.stdio) stream?.on("error", () => undefined);
    child.on("error", (error) => this.#end(`its process can't be started: ${error.message}`));
    // The last messages may come after the exit, but not after the end of the channel.
    let open = 2;
    const closed = (): void => {
      if (--open === 0) this.#end(deathOf(child, this.#crashText));
    };
    child.once("exit", closed);
    child.once("disconnect", closed);
  }

  #receive(report: Report): void {
    if (report.type === "ready") return;
    if (report.type === "started") return this.#begin(report.cell);
    const outcome = this.#outcomes.get(report.cell);
    if (outcome === undefined) return;
    if (report.type === "outputs") {
      for (const output of report.outputs) this.#add(report.cell, outcome, output);
      const problem = report.outputs.find((output) => output.type === "problem");
      if (problem && this.#running?.number !== report.cell) this.#fail(outcome, problem.error);
    } else if (this.#running?.number === report.cell) {
      this.#finish(this.#running, report.result);
    }
  }

  #begin(cell: number): void {
    const running = this.#running;
    if (running?.number !== cell) return;
    running.hasBegun = true;
    if (running.isTold) this.interrupt();
    if (running.limitMs === undefined) return;
    running.limit = setTimeout(() => {
      running.isTooLate = true;
      this.interrupt();
    }, running.limitMs);
  }

  #finish(running: Running, result: CellResult): void {
    const { outcome, number } = running;
    const error = result.diagnostics.length > 0 ? diagnosticsError(result.diagnostics) : result.error;
    if (running.isTooLate && result.interrupted) {
      this.#stopped(running, timeoutError(running.limitMs, "the notebook's state is kept"), "timeout");
    } else if (error !== undefined) {
      this.#stopped(running, error, "error");
    } else {
      if (result.value) {
        outcome.outputs.push({
          output_type: "execute_result",
          execution_count: number,
          data: result.value,
          metadata: {},
        });
      }
      this.#done(running);
    }
  }

  #stopped(running: Running, error: CellError, status: CellStatus): void {
    running.outcome.status = status;
    running.outcome.error = error;
    running.outcome.outputs.push(errorOutput(error));
    this.#done(running);
  }

  #done(running: Running): void {
    clearTimeout(running.limit);
    clearTimeout(running.grace);
    running.outcome.ms = Math.round(performance.now() - running.started);
    this.#running = undefined;
    running.finish();
  }

  /** An error that came after the cell's end still makes it a failed cell. */
  #fail(outcome: CellOutcome, error: CellError): void {
    if (outcome.status !== "ok") return;
    outcome.status = "error";
    outcome.error = error;
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    const running = this.#running;
    if (running === undefined) return;
    if (running.isTooLate) {
      const error = timeoutError(
        running.limitMs,
        "its process had to be killed, so the notebook's state is lost",
      );
      this.#stopped(running, error, "timeout");
    } else {
      const message =
        running.grace === undefined ? this.#ended : "it did not stop and its process had to be killed";
      this.#stopped(running, { name: "Killed", message, text: `Killed: ${message}` }, "killed");
    }
  }

  #bypassed(name: "stdout" | "stderr", bytes: Buffer): void {
    const text = bytes.toString("utf8");
    if (name === "stderr") this.#crashText = (this.#crashText + text).slice(-4_000);
    const cell = this.#running?.number ?? this.#count;
    const outcome = this.#outcomes.get(cell);
    if (outcome) this.#add(cell, outcome, { type: "stream", name, text });
  }

  #add(cell: number, outcome: CellOutcome, output: CellOutput): void {
    this.#book.add(outcome.outputs, output);
    this.#listeners.get(cell)?.(output);
  }

  /** Asks by both ways: the pipe is heard in a loop, the message by a cell that waits. */
  #ask(request: StopRequest): void {
    const control = this.#child.stdio[controlPipe] as Writable | null;
    if (control?.writable) control.write(requestLine(request));
    this.#send({ type: "stop", request });
  }

  #send(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }
}

/** The outcome of a cell that was not run. */
export function notRun(): CellOutcome {
  return { status: "not-run", ms: 0, executionCount: null, outputs: [] };
}

function timeoutError(limitMs: number | undefined, state: string): CellError {
  const message = `the cell was stopped after ${(limitMs ?? 0) / 1000} s; ${state}`;
  return { name: "Timeout", message, text: `Timeout: ${message}` };
}

function deathOf(child: ChildProcess, crashText: string): string {
  if (/heap out of memory|Array buffer allocation failed/.test(crashText))
    return "its process ran out of memory";
  if (child.signalCode !== null) return `its process was ended by ${child.signalCode}`;
  return `its process ended itself with exit code ${child.exitCode}`;
}
