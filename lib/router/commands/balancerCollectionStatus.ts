/**
 * `balancerCollectionStatus`: whether the balancer has nothing left to do in a collection (facts-mongos.md §3.2).
 *
 *     {balancerCollectionStatus: ns} → {chunkSize: 128, balancerCompliant: false, firstComplianceViolation: "zoneViolation"}
 *
 * It answers for the collection as it is; a switched-off balancer makes no difference. On a virtual clock a round's time
 * passes after the answer.
 */
import { DocumentWriter } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { cutsAtZones } from "../balancer/distribution.js";
import type { Reason } from "../balancer/policy.js";
import { plan } from "../balancer/policy.js";
import { situationOf, zonesOf } from "../balancer/situation.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { maxChunkSize } from "../ddl/chunkSize.js";
import { namespaceArgument } from "../support/arguments.js";
import { withCollection } from "../support/collections.js";

/** @since MongoDB 4.4 */
export const balancerCollectionStatus: Command = {
  name: "balancerCollectionStatus",
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const reply = await withCollection(context, ns, async (collection) => {
      if (!collection) {
        throw new CommandError(ErrorCode.NamespaceNotSharded, "Collection unsharded or undefined");
      }
      const violation = await firstViolation(context, collection);
      const writer = new DocumentWriter()
        .int64("chunkSize", BigInt(Math.ceil(maxChunkSize(context, collection) / 1024 / 1024)))
        .bool("balancerCompliant", violation === undefined);
      if (violation) writer.string("firstComplianceViolation", violation);
      return okReply(writer.finish());
    });
    await context.balancer.turn(context);
    return reply;
  },
};

async function firstViolation(
  context: RouterContext,
  collection: ShardedCollection,
): Promise<Reason | undefined> {
  const zones = await zonesOf(context, collection);
  if (cutsAtZones(collection.chunks, zones).size > 0) return "zoneViolation";
  const unreachable = new Set<string>();
  const situation = await situationOf(context, collection, zones, unreachable);
  const available = new Set(context.shards.ids.filter((id) => !unreachable.has(id)));
  return plan(situation, available)[0]?.reason;
}
