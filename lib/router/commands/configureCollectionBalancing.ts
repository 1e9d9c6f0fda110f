/**
 * `configureCollectionBalancing`: what the balancer does with one collection.
 *
 *     chunkSize         MB, 1 to 1024; 0: as all others again      maxChunkSizeBytes in config.collections
 *     enableAutoMerger  whether the auto-merger takes part (7.0+)  enableAutoMerge
 *     enableBalancing   whether it is balanced at all (8.1+)       noBalance
 *
 * `defragmentCollection: true` is refused: the four phases of defragmentation are not simulated.
 */
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, notSimulated, okReply } from "../../protocol/index.js";
import type { BalancingOptions } from "../catalog/balancingWrites.js";
import { writeBalancing } from "../catalog/balancingWrites.js";
import type { Command } from "../context.js";
import { flag, optionalField, optionalNumber } from "../context.js";
import { mustBeSharded, namespaceArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

const MEGABYTE = 1024 * 1024;

/** @since MongoDB 5.3 */
export const configureCollectionBalancing: Command = {
  name: "configureCollectionBalancing",
  adminOnly: true,
  fields: ["chunkSize", "defragmentCollection", "enableAutoMerger", "enableBalancing"],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const options = optionsOf(request);
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      await context.catalog.changeCollection(collection, (writer) =>
        writeBalancing(writer, collection, options),
      );
    });
    return okReply();
  },
};

function optionsOf(request: Request): BalancingOptions {
  const megabytes = optionalNumber(request, "chunkSize");
  if (megabytes !== undefined && (megabytes < 0 || megabytes > 1024)) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `Chunk size '${megabytes * MEGABYTE}' out of range [1MB, 1GB]`,
    );
  }
  if (flag(request, "defragmentCollection")) throw notSimulated("defragmentCollection");
  const given = (name: string): boolean | undefined =>
    optionalField(request, name) ? flag(request, name) : undefined;
  return {
    maxChunkSizeBytes: megabytes === undefined ? undefined : megabytes * MEGABYTE,
    enableAutoMerge: given("enableAutoMerger"),
    balancing: given("enableBalancing"),
  };
}
