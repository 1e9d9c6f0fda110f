/** The end of a command's `maxTimeMS`, kept for servers that do not keep it themselves because they hang. */
import { asNumber, isNumeric } from "../bson/index.js";
import type { Reply, Request } from "../protocol/index.js";
import { bodyField, CommandError, ErrorCode, errorReply } from "../protocol/index.js";

/** How much later than the server we notice that a command's time is over: its own error comes first. */
const GRACE_MS = 250;
/** The longest that a timer can wait. */
const LONGEST_TIMER_MS = 0x7fffffff;

/** When a command's time is over, counted from when it was asked. */
export class Deadline {
  /** Undefined for a command without one. */
  readonly #at: number | undefined;

  constructor(request: Request) {
    const value = bodyField(request, "maxTimeMS");
    const limit = value && isNumeric(value) ? asNumber(value) : 0;
    if (limit > 0) this.#at = performance.now() + Math.min(limit + GRACE_MS, LONGEST_TIMER_MS);
  }

  get isOver(): boolean {
    return this.#at !== undefined && performance.now() >= this.#at;
  }

  /** The reply, or MaxTimeMSExpired (50) where it takes too long; `giveUp` ends what was waited for. */
  endsWait(reply: Promise<Reply>, giveUp: () => void): Promise<Reply> {
    const at = this.#at;
    if (at === undefined) return reply;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        resolve(timeIsOver());
        giveUp();
      }, at - performance.now());
      reply.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

/** The failure of a command that took too long. */
export function timeIsOver(): Reply {
  return errorReply(new CommandError(ErrorCode.MaxTimeMSExpired, "operation exceeded time limit"));
}
