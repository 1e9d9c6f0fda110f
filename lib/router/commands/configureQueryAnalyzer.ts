/**
 * `configureQueryAnalyzer`: from now on a collection's queries are sampled, or no longer (facts-mongos.md §9.6).
 *
 *     {configureQueryAnalyzer: "library.loans", mode: "full", samplesPerSecond: 5}
 *       → {newConfiguration: {mode: "full", samplesPerSecond: 5}}      oldConfiguration too, where there was one
 *     {configureQueryAnalyzer: "library.loans", mode: "off"}
 */
import type { RawValue } from "../../bson/index.js";
import { asNumber, asString, BsonType, DocumentWriter, getField, isNumeric } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { DIFFS, SAMPLED } from "../analyze/observe.js";
import { locate } from "../analyze/parts.js";
import { ANALYZERS } from "../analyze/sampler.js";
import type { Command, RouterContext } from "../context.js";
import { optionalField, wrongType } from "../context.js";
import { namespaceArgument, stringArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

const MOST_PER_SECOND = 50;

/** Samples go when they are seven days old. */
const TTL_INDEX = { key: { expireAt: 1 }, name: "SampledQueriesTTLIndex", expireAfterSeconds: 0 };

/** What is asked for. */
interface Configuration {
  readonly mode: "full" | "off";
  readonly samplesPerSecond?: number | undefined;
}

/** @since MongoDB 7.0 */
export const configureQueryAnalyzer: Command = {
  name: "configureQueryAnalyzer",
  adminOnly: true,
  fields: ["mode", "samplesPerSecond"],
  help: "Starts or stops collecting metrics about read and write queries against a collection",
  async run(context, request) {
    const names = namespaceArgument(request);
    const wanted = readConfiguration(request);
    return withCollectionAlone(context, names.ns, async (sharded) => {
      const { uuid } = await locate(context, names, sharded, "configure query sampling for");
      const old = await context.catalog.config.findOne(ANALYZERS, { _id: names.ns });
      await store(context, names.ns, uuid, wanted, old);
      const { mode, samplesPerSecond } = wanted;
      if (mode === "full") context.sampler.turnOn(names.ns, uuid, samplesPerSecond!);
      else context.sampler.turnOff(names.ns);
      const reply = new DocumentWriter();
      if (old) reply.document("oldConfiguration", describe(old));
      const now = new DocumentWriter().string("mode", mode);
      if (samplesPerSecond !== undefined) now.double("samplesPerSecond", samplesPerSecond);
      return okReply(reply.document("newConfiguration", now.finish()).finish());
    });
  },
};

/** @throws CommandError BadValue (2), InvalidOptions (72), TypeMismatch (14), Location40414 */
function readConfiguration(request: Request): Configuration {
  const mode = stringArgument(request, "mode");
  if (mode !== "full" && mode !== "off") {
    throw new CommandError(
      ErrorCode.BadValue,
      `Enumeration value '${mode}' for field 'configureQueryAnalyzer.mode' is not a valid value.`,
    );
  }
  const value = optionalField(request, "samplesPerSecond");
  if (value && !isNumeric(value)) throw wrongType(request, "samplesPerSecond", "double");
  for (const name of ["readConcern", "writeConcern"]) {
    if (bodyField(request, name)) throw invalid(`Command configureQueryAnalyzer does not support ${name}`);
  }
  if (mode === "off") {
    if (value) throw invalid("Cannot specify 'samplesPerSecond' when 'mode' is \"off\"");
    return { mode };
  }
  const samplesPerSecond = value ? asNumber(value) : MOST_PER_SECOND;
  if (!(samplesPerSecond > 0)) throw invalid("'samplesPerSecond' must be greater than 0");
  if (samplesPerSecond > MOST_PER_SECOND) {
    throw invalid(`'samplesPerSecond' must be less than or equal to ${MOST_PER_SECOND}`);
  }
  return { mode, samplesPerSecond };
}

/** Another rate goes on with what was begun; switched on again it begins anew. */
async function store(
  { catalog, waiting }: RouterContext,
  ns: string,
  uuid: RawValue,
  { mode, samplesPerSecond }: Configuration,
  old: Uint8Array | undefined,
): Promise<void> {
  if (mode === "off" && !old) return;
  for (const name of [SAMPLED, DIFFS]) await catalog.config.createIndexes(name, [TTL_INDEX]);
  const now = waiting.now();
  const fields = new DocumentWriter().field("collUuid", uuid).string("mode", mode);
  if (samplesPerSecond !== undefined) fields.double("samplesPerSecond", samplesPerSecond);
  const wasOn = old !== undefined && modeOf(old) === "full";
  const update = new DocumentWriter();
  if (mode === "off") {
    if (wasOn) fields.date("stopTime", now);
    update.document("$set", fields.finish());
  } else {
    if (!wasOn) fields.date("startTime", now);
    update.document("$set", fields.finish());
    update.document("$unset", new DocumentWriter().string("stopTime", "").finish());
  }
  await catalog.config.update(ANALYZERS, { _id: ns }, update.finish(), { upsert: true });
}

function describe(stored: Uint8Array): Uint8Array {
  const writer = new DocumentWriter().string("mode", modeOf(stored));
  const rate = getField(stored, "samplesPerSecond");
  return (rate ? writer.field("samplesPerSecond", rate) : writer).finish();
}

function modeOf(stored: Uint8Array): string {
  const mode = getField(stored, "mode");
  return mode?.type === BsonType.string ? asString(mode) : "off";
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidOptions, message);
}
