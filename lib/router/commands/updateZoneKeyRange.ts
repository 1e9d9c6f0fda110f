/**
 * `updateZoneKeyRange`: a range of a collection belongs to a zone, or with `zone: null` to none (facts-mongos.md §10).
 *
 *     {updateZoneKeyRange: "library.loans", min: {country: "DE"}, max: {country: "DF"}, zone: "EU"}
 *
 * The collection need not be sharded, nor be there: its first chunks are then laid out by its zones.
 */
import { asString, BsonType } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import { removeZoneRange, writeZoneRange } from "../catalog/zoneWrites.js";
import type { Command } from "../context.js";
import { missingField, optionalDocument, wrongType } from "../context.js";
import { checkRange, checkZoneExists, fullRange, isKnownRange } from "../ddl/zoneRanges.js";
import { namespaceArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 3.4 */
export const updateZoneKeyRange: Command = {
  name: "updateZoneKeyRange",
  adminOnly: true,
  fields: ["min", "max", "zone"],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const given = { min: bound(request, "min"), max: bound(request, "max") };
    const zone = zoneArgument(request);
    checkRange(given);
    await withCollectionAlone(context, ns, (collection) =>
      context.locks.whileShared(SHARD_LIST, async () => {
        if (zone !== undefined) checkZoneExists(context, zone);
        const range = fullRange(given, collection?.key);
        if (zone === undefined) await removeZoneRange(context, ns, range);
        else if (!isKnownRange(await context.catalog.zonesOf(ns), { ...range, zone }))
          await writeZoneRange(context, ns, { ...range, zone });
      }),
    );
    return okReply();
  },
};

function bound(request: Request, name: string): Uint8Array {
  const document = optionalDocument(request, name);
  if (!document) throw missingField(request, name);
  return document;
}

/** @returns undefined for null: the range leaves its zone */
function zoneArgument(request: Request): string | undefined {
  const value = bodyField(request, "zone");
  if (!value) throw missingField(request, "zone");
  if (value.type === BsonType.null) return undefined;
  if (value.type !== BsonType.string) throw wrongType(request, "zone", "string");
  return asString(value);
}
