/**
 * The executor's process: runs a notebook's cells, one after the other, in the
 * folder it was started in.
 *
 * Whatever a cell does to this process, the front end survives it. The process
 * ends when its channel does, and with it the lab host that the notebook started,
 * whose own channel ends then. Ctrl-C is for whoever started it, not for it.
 */
import { Worker } from "node:worker_threads";
import { Executor } from "./executor.js";
import { CellInterrupted, CellRun, currentRun, Interrupts } from "./interrupt.js";
import { controlPipe } from "./messages.js";
import type { Order, Report } from "./messages.js";
import { Outputs } from "./output.js";
import type { CellError, CellResult } from "./result.js";
import { installStackRewriting, readError } from "./stack.js";
import type { WatchdogData } from "./watchdog.js";

const send = (report: Report): void => {
  if (process.connected) process.send?.(report);
};
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => undefined);
process.on("exit", () => outputs.flush());

const interrupts = new Interrupts();
startWatchdog();
installStackRewriting();
const outputs = new Outputs((cell, batch) => send({ type: "outputs", cell, outputs: batch }));
outputs.install();
const executor = new Executor(process.cwd(), interrupts);

/** Rejections and exceptions that happened in the running cell, where nobody caught them. */
let problems: CellError[] = [];
let running = 0;
process.on("uncaughtException", reportProblem);
process.on("unhandledRejection", reportProblem);

const queue: Extract<Order, { type: "run" }>[] = [];
process.on("message", (order: Order) => {
  if (order.type === "stop") return interrupts.request(order.request);
  queue.push(order);
  if (queue.length === 1) void work();
});
send({ type: "ready" });
// Parsing the library's types now is time the first cell doesn't wait, if it isn't here yet.
setImmediate(() => {
  if (queue.length === 0 && running === 0) executor.prewarm();
});

async function work(): Promise<void> {
  for (let order = queue[0]; order !== undefined; order = queue[0]) {
    await runCell(order);
    queue.shift();
  }
}

async function runCell({ cell, name, source }: Extract<Order, { type: "run" }>): Promise<void> {
  const run = new CellRun(cell, name);
  outputs.current = run.number;
  running = run.number;
  problems = [];
  // The executor doesn't reject; if it does, that is a fault of ours, and the session must not wait for ever.
  let result = await executor
    .run({ name, source }, run, () => send({ type: "started", cell }))
    .catch((fault: unknown): CellResult => ({ ok: false, diagnostics: [], error: readError(fault) }));
  // A promise that was rejected and not awaited is reported by now, on the cell that made it.
  await new Promise((resolve) => setImmediate(resolve));
  running = 0;
  if (result.ok && problems.length > 0) result = { ok: false, diagnostics: [], error: problems.shift() };
  for (const error of problems) outputs.problem(cell, { type: "problem", error });
  outputs.flush();
  send({ type: "result", cell, result });
}

function reportProblem(thrown: unknown): void {
  if (thrown instanceof CellInterrupted) return; // what was left of a stopped cell has stopped
  const cell = currentRun.getStore()?.number ?? outputs.current;
  const error = readError(thrown);
  if (cell === running) problems.push(error);
  else outputs.problem(cell, { type: "problem", error });
}

function startWatchdog(): void {
  const workerData: WatchdogData = {
    shared: interrupts.shared,
    control: controlPipe,
    ownGroup: process.env.SHARDLAB_OWN_GROUP === "1",
  };
  delete process.env.SHARDLAB_OWN_GROUP;
  const worker = new Worker(new URL("./watchdog.js", import.meta.url), {
    workerData,
    stdin: false,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
}
