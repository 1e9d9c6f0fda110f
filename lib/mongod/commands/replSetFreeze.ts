/** replSetFreeze: a secondary does not stand for election for so many seconds; 0 ends that. */
import { asNumber, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { memberOf } from "../replication/member.js";
import { treeReply } from "../tree.js";

export const replSetFreeze: Command = {
  name: "replSetFreeze",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "{ replSetFreeze : <seconds> }",
  run({ server, arguments: args }) {
    const set = memberOf(server);
    if (!set.initiated) {
      throw new CommandError(ErrorCode.NotYetInitialized, "no replset config has been received");
    }
    const seconds = isNumeric(args.main) ? Math.trunc(asNumber(args.main)) : 0;
    set.freeze(seconds);
    return treeReply({
      ...(seconds === 0 && { info: "unfreezing" }),
      ...(seconds === 1 && { warning: "you really want to freeze for only 1 second?" }),
    });
  },
};
