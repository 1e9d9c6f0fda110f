/**
 * A thread of the lab host that ends it when its parent is gone and the host
 * does not notice, because its own thread is in an endless loop.
 *
 * A host that is well hears "disconnect" and leaves by itself; this thread gives
 * it the time to do so.
 */
import { workerData } from "node:worker_threads";

const LOOK_EVERY_MS = 500;
const GRACE_MS = 3_000;

const { parent } = workerData as { parent: number };

const look = setInterval(() => {
  if (process.ppid === parent && runs(parent)) return;
  clearInterval(look);
  setTimeout(() => process.kill(process.pid, "SIGKILL"), GRACE_MS);
}, LOOK_EVERY_MS);

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
