/**
 * `killOp`: asks an operation to end: `"shardB:4711"` on that shard, a number here. It promises nothing, and reports
 * success whatever the shard says.
 */
import { asNumber, asString, BsonType, describeValue, isNumeric, nameOfType } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply, request as commandTo } from "../../protocol/index.js";
import type { Reply } from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import { optionalField } from "../context.js";

export const killOp: Command = {
  name: "killOp",
  adminOnly: true,
  fields: ["op"],
  help: "end an operation",
  async run(context, request) {
    const op = optionalField(request, "op");
    if (!op) throw new CommandError(50_759, 'Did not provide "op" field');
    if (op.type === BsonType.string) return killOnShard(context, asString(op));
    if (!isNumeric(op)) {
      throw new CommandError(50_760, `"op" field was of unsupported type ${nameOfType(op.type)}`);
    }
    const number = asNumber(op);
    if (!Number.isInteger(number) || Math.abs(number) > 0xffffffff) {
      throw new CommandError(ErrorCode.BadValue, `invalid op : ${describeValue(op)}`);
    }
    return okReply();
  },
};

async function killOnShard(context: RouterContext, op: string): Promise<Reply> {
  const colon = op.indexOf(":");
  if (colon <= 0 || colon === op.length - 1) {
    throw new CommandError(
      28_625,
      `The op argument to killOp must be of the format shardid:opid but found "${op}"`,
    );
  }
  const shard = op.slice(0, colon);
  context.shards.get(shard);
  const number = op.slice(colon + 1);
  const opid = Number(number);
  if (!/^-?\d+$/.test(number) || Math.abs(opid) > 0x7fffffff) {
    throw new CommandError(ErrorCode.FailedToParse, `Failed to parse number '${number}'`);
  }
  await context.shards.run(shard, commandTo("admin", { killOp: 1, op: opid }));
  return okReply({ shard, shardid: opid });
}
