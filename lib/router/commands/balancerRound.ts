/**
 * `balancerRound`: one round of the balancer now, whether it is on or not, and what it did. Our own command; a real
 * mongos has none like it.
 *
 *     {balancerRound: 1} → {migrations: [{ns, min, max, from, to, reason, documents, bytes, error?}],
 *                           splits: [{ns, min, max, points}], ok: 1}
 */
import { DocumentWriter } from "../../bson/index.js";
import { errorReply, okReply } from "../../protocol/index.js";
import type { RoundMigration, RoundSplit } from "../balancer/round.js";
import type { Command } from "../context.js";

export const balancerRound: Command = {
  name: "balancerRound",
  adminOnly: true,
  fields: [],
  async run(context) {
    const { migrations, splits, errors } = await context.balancer.step(context);
    if (migrations.length === 0 && splits.length === 0 && errors[0]) throw errors[0];
    return okReply(
      new DocumentWriter()
        .arrayOf("migrations", migrations.map(migrationDocument))
        .arrayOf("splits", splits.map(splitDocument))
        .finish(),
    );
  },
};

function migrationDocument(migration: RoundMigration): Uint8Array {
  const { ns, min, max, from, to, reason, documents, bytes, error } = migration;
  const writer = new DocumentWriter().string("ns", ns).document("min", min).document("max", max);
  writer.string("from", from).string("to", to).string("reason", reason);
  writer.int64("documents", BigInt(documents)).int64("bytes", BigInt(bytes));
  return (error ? writer.document("error", errorReply(error).body) : writer).finish();
}

function splitDocument({ ns, min, max, points }: RoundSplit): Uint8Array {
  const writer = new DocumentWriter().string("ns", ns).document("min", min).document("max", max);
  return writer.arrayOf("points", points).finish();
}
