/**
 * The thread that listens while the cells' thread may be in an endless loop.
 *
 * On the control pipe a line is a request to stop (interrupt.ts). The pipe's end means
 * that whoever started this process is gone, however that happened: then the process
 * and all it started end at once, loop or not.
 */
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { workerData } from "node:worker_threads";
import { post, readRequest } from "./interrupt.js";

/** What the thread is given. */
export interface WatchdogData {
  readonly shared: Int32Array;
  /** File descriptor of the control pipe. */
  readonly control: number;
  /** Does the process lead a process group of its own? */
  readonly ownGroup: boolean;
}

const { shared, control, ownGroup } = workerData as WatchdogData;
const pipe = new Socket({ fd: control, readable: true, writable: false });
pipe.on("error", end);
pipe.on("close", end);
createInterface({ input: pipe }).on("line", (line) => {
  const request = readRequest(line);
  if (request !== undefined) post(shared, request);
});

function end(): void {
  if (ownGroup) process.kill(-process.pid, "SIGKILL");
  process.kill(process.pid, "SIGKILL");
}
