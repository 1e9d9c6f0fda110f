/** Timestamps that never repeat: what `$currentDate` and empty timestamps get. */
import { timestamp, type RawValue } from "../../bson/index.js";
import type { Server } from "../command.js";

interface Latest {
  second: number;
  increment: number;
}

const latest = new WeakMap<Server, Latest>();

/** The next timestamp of a server: the clock's second, and a number within it. */
export function nextTimestamp(server: Server): RawValue {
  let last = latest.get(server);
  if (!last) {
    last = { second: 0, increment: 0 };
    latest.set(server, last);
  }
  const second = Math.floor(server.environment.now() / 1000);
  if (second > last.second) {
    last.second = second;
    last.increment = 0;
  }
  return timestamp(last.second, ++last.increment);
}
