/**
 * replSetStepDown: the primary becomes secondary for a while.
 *
 * Without `force` it must hand over to another member, and there is none.
 * MongoDB waits `secondaryCatchUpPeriodSecs` before it says so; this one says
 * so at once.
 */
import { asNumber, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { memberOf } from "../replication/member.js";

export const replSetStepDown: Command = {
  name: "replSetStepDown",
  fields: ["force", "secondaryCatchUpPeriodSecs"],
  adminOnly: true,
  onSecondary: "always",
  help: "Step down as primary",
  run({ server, arguments: args }) {
    const set = memberOf(server);
    const force = args.boolean("force");
    const asked = isNumeric(args.main) ? Math.trunc(asNumber(args.main)) : 0;
    if (asked < 0) throw bad("stepdown period must be a positive integer");
    const seconds = asked === 0 ? 60 : asked;
    const catchUp = args.number("secondaryCatchUpPeriodSecs") ?? (force ? 0 : 10);
    if (catchUp < 0) throw bad("secondaryCatchUpPeriodSecs period must be a positive or absent");
    if (seconds < catchUp) throw bad("stepdown period must be longer than secondaryCatchUpPeriodSecs");
    set.stepDown(seconds, force);
    return okReply();
  },
};

function bad(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}
