/**
 * `mergeChunks`: neighbours on one shard become one chunk (facts-mongos.md §3.2).
 *
 *     {mergeChunks: ns, bounds: [{x: 0}, {x: 20}]}
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, BsonType } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { missingField } from "../context.js";
import { chunksFilling, mergeRun } from "../ddl/mergeChunks.js";
import { chunkArguments, mustBeSharded, namespaceArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 2.4 */
export const mergeChunks: Command = {
  name: "mergeChunks",
  adminOnly: true,
  fields: ["bounds"],
  help: "Merge Chunks command\nusage: { mergeChunks : <ns>, bounds : [ <min key>, <max key> ] }",
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const { bounds } = chunkArguments(request);
    if (!bounds) throw missingField(request, "bounds");
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      const [min, max] = bounds.map(bound);
      if (bounds.length !== 2 || !min || !max) {
        throw new CommandError(
          ErrorCode.BadValue,
          "need to specify 2 bounds: the min and the max of the range",
        );
      }
      await mergeRun(context, collection, chunksFilling(collection, min, max));
    });
    return okReply();
  },
};

function bound(value: RawValue): Uint8Array | undefined {
  return value.type === BsonType.object ? asDocument(value) : undefined;
}
