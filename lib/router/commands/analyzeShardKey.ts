/**
 * `analyzeShardKey`: what a key would be like as a shard key (facts-mongos.md §9).
 *
 *     {analyzeShardKey: "library.loans", key: {memberId: 1}}
 *       → keyCharacteristics                    the documents: cardinality, frequency, monotonicity
 *         readDistribution, writeDistribution   the sampled queries: how they would be routed
 *
 * It describes, and decides nothing. The first part needs an index that begins with the key's fields; the second one
 * queries that were sampled (configureQueryAnalyzer) and a key with at least as many values as there are ranges.
 */
import { asNumber, DocumentWriter, isNumeric } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { SampleOf } from "../analyze/characteristics.js";
import { keyCharacteristics } from "../analyze/characteristics.js";
import { distributions, rangesOf } from "../analyze/distribution.js";
import type { Analyzed, Part } from "../analyze/parts.js";
import { locate, partsOf } from "../analyze/parts.js";
import { analysisIndexes } from "../analyze/supportingIndex.js";
import type { Command, RouterContext } from "../context.js";
import { flag, missingField, optionalDocument, optionalField, wrongType } from "../context.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { indexesOn, multikeyOn } from "../ddl/shardCollections.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { namespaceArgument } from "../support/arguments.js";
import { withCollection } from "../support/collections.js";

/** @since MongoDB 7.0 */
export const analyzeShardKey: Command = {
  name: "analyzeShardKey",
  fields: ["key", "keyCharacteristics", "readWriteDistribution", "sampleRate", "sampleSize"],
  adminOnly: true,
  help: "Returns metrics for evaluating a shard key for a collection.",
  async run(context, request) {
    const names = namespaceArgument(request);
    const document = optionalDocument(request, "key");
    if (!document) throw missingField(request, "key");
    const wantsKey = flag(request, "keyCharacteristics", true);
    const wantsQueries = flag(request, "readWriteDistribution", true);
    if (!wantsKey && !wantsQueries) {
      throw invalid("Cannot set both 'keyCharacteristics' and 'readWriteDistribution' to false");
    }
    const sample = sampleArgument(context, request);
    checkNoConcerns(request);
    const key = ShardKeyPattern.parse(document, context.rules);
    return withCollection(context, names.ns, async (sharded) => {
      const collection = await locate(context, names, sharded, "analyze the shard key for");
      const parts = await partsOf(context, collection);
      if (parts.length === 0) {
        throw new CommandError(
          ErrorCode.IllegalOperation,
          "Cannot analyze a shard key for an empty collection",
        );
      }
      const reply = new DocumentWriter();
      if (wantsKey) {
        const found = await characteristics(context, collection, key, parts, sample);
        if (found) reply.document("keyCharacteristics", found);
        else if (!wantsQueries) throw noIndex();
      }
      if (wantsQueries) {
        const count = context.server.parameters.number("analyzeShardKeyNumRanges");
        const ranges = await rangesOf(context, collection, key, parts, count);
        const [reads, writes] = await distributions(context, collection, key, ranges);
        reply.document("readDistribution", reads).document("writeDistribution", writes);
      }
      return okReply(reply.finish());
    });
  },
};

/** @returns undefined where no index supports the key */
async function characteristics(
  context: RouterContext,
  collection: Analyzed,
  key: ShardKeyPattern,
  parts: readonly Part[],
  sample: SampleOf,
): Promise<Uint8Array | undefined> {
  const indexes = await indexesOn(context, collection.home, collection);
  const candidates = analysisIndexes(indexes, key).map(({ index }) => index);
  const multikey = new Set<IndexSpec>();
  for (const { shard } of parts) {
    for (const index of await multikeyOn(context, shard, collection, candidates)) multikey.add(index);
  }
  const usable = indexes.filter((index) => !multikey.has(index));
  const [best] = analysisIndexes(usable, key);
  return best && keyCharacteristics(context, collection, key, parts, best, usable, sample);
}

/** @throws CommandError InvalidOptions (72) for both, Location51024 out of range, TypeMismatch (14) */
function sampleArgument({ server }: RouterContext, request: Request): SampleOf {
  const rate = numberArgument(request, "sampleRate");
  const size = numberArgument(request, "sampleSize");
  if (rate !== undefined && size !== undefined) {
    throw invalid("Cannot specify both 'sampleRate' and 'sampleSize'");
  }
  if (rate !== undefined) {
    if (!(rate > 0)) throw outOfRange("sampleRate", ">", 0, rate);
    if (rate > 1) throw outOfRange("sampleRate", "<=", 1, rate);
    return { rate };
  }
  if (size !== undefined && !(size > 0)) throw outOfRange("sampleSize", ">", 0, size);
  const standard = server.parameters.number("analyzeShardKeyCharacteristicsDefaultSampleSize");
  return { size: size === undefined ? standard : Math.trunc(size) };
}

function numberArgument(request: Request, name: string): number | undefined {
  const value = optionalField(request, name);
  if (!value) return undefined;
  if (!isNumeric(value)) throw wrongType(request, name, name === "sampleRate" ? "double" : "long");
  return asNumber(value);
}

/** @throws CommandError InvalidOptions (72) */
function checkNoConcerns(request: Request): void {
  for (const name of ["readConcern", "writeConcern"]) {
    if (bodyField(request, name)) throw invalid(`Command analyzeShardKey does not support ${name}`);
  }
}

function outOfRange(name: string, operator: string, limit: number, actual: number): CommandError {
  return new CommandError(
    51024,
    `BSON field '${name}' value must be ${operator} ${limit}, actual value '${actual}'`,
  );
}

function noIndex(): CommandError {
  return new CommandError(
    ErrorCode.IllegalOperation,
    "Cannot analyze the characteristics of a shard key that does not have a supporting index",
  );
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidOptions, message);
}
