/** killOp: asks an operation to end. It promises nothing, so an operation that is over is no failure. */
import { asNumber, describeValue, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const killOp: Command = {
  name: "killOp",
  fields: ["op"],
  adminOnly: true,
  onSecondary: "always",
  help: "end an operation",
  run({ arguments: args }) {
    const op = args.get("op");
    if (!op) throw new CommandError(ErrorCode.NoSuchKey, 'Missing expected field "op"');
    if (!isNumeric(op)) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `Expected field "op" to have numeric type, but found ${describeValue(op)}`,
      );
    }
    const number = asNumber(op);
    if (!Number.isInteger(number)) {
      throw new CommandError(
        ErrorCode.BadValue,
        `Expected field "op" to have a value exactly representable as a 64-bit integer, but found op: ${describeValue(op)}`,
      );
    }
    if (Math.abs(number) > 0xffffffff) {
      throw new CommandError(
        ErrorCode.BadValue,
        `invalid op : ${number}. Op ID cannot be represented with 32 bits`,
      );
    }
    return treeReply({ info: "attempting to kill op" });
  },
};
