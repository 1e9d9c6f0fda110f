/**
 * A shard that does not answer.
 *
 * Two things can have happened, and a client must be able to tell them apart:
 *
 *     nobody there            the command was never sent      133 FailedToSatisfyReadPreference
 *     the connection broke    it may have run, or half of it    6 HostUnreachable
 *
 * A mongos says the first once its monitor knows that the shard has no primary.
 * Until then it waits, 15 s and more; nothing is elected in a set of one member,
 * so this router says it at once. A read that breaks is sent again, and so ends
 * with 133 where the shard is gone; a write is not: it could run twice.
 *
 * Code and text of 133 are those of a mongos, as is the frame that writes and
 * queries put around them; that of 6 is ours. Both name the shard.
 */
import { asDocument, BsonType, elements, firstField, getField } from "../../bson/index.js";
import type { EndpointUnreachableError, Request } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/**
 * The error of a command that got no reply.
 * @param shard the shard's id
 * @param host its connection string, which begins with the name of its replica set if it is one
 * @returns FailedToSatisfyReadPreference (133), or HostUnreachable (6) where the command may have run
 */
export function unreachable(shard: string, host: string, cause: EndpointUnreachableError): CommandError {
  const slash = host.indexOf("/");
  const setName = slash > 0 ? host.slice(0, slash) : shard;
  const failure = cause.mayHaveRun
    ? new CommandError(
        ErrorCode.HostUnreachable,
        `No reply from shard ${shard} at ${cause.address} :: caused by :: ${cause.message}`,
      )
    : new CommandError(
        ErrorCode.FailedToSatisfyReadPreference,
        `Could not find host matching read preference { mode: "primary" } for set ${setName}`,
      );
  failure.remedy = `start shard ${shard} again, or leave out what needs it`;
  return failure;
}

/**
 * Whether an error says that a shard did not answer, rather than what it answered.
 * These are the failures that `allowPartialResults` passes over.
 */
export function isUnreachable(error: unknown): error is CommandError {
  return (
    error instanceof CommandError &&
    (error.code === ErrorCode.FailedToSatisfyReadPreference || error.code === ErrorCode.HostUnreachable)
  );
}

/** What a mongos says of a find whose shard is not there. Other errors are returned as they are. */
export function asQueryFailure(error: unknown): unknown {
  return isUnreachable(error) ? withContext(error, "Encountered non-retryable error during query") : error;
}

/** What a mongos says of the writes of a batch whose shard is not there. Other errors are returned as they are. */
export function asWriteFailure(error: CommandError, shard: string): CommandError {
  if (!isUnreachable(error)) return error;
  return withContext(
    error,
    error.code === ErrorCode.HostUnreachable
      ? `Write results unavailable from shard ${shard}`
      : `Write results unavailable from failing to target a host in the shard ${shard}`,
  );
}

function withContext(error: CommandError, context: string): CommandError {
  const framed = new CommandError(error.code, `${context} :: caused by :: ${error.message}`, error.extra);
  if (error.remedy !== undefined) framed.remedy = error.remedy;
  return framed;
}

const READS: ReadonlySet<string> = new Set([
  "collStats",
  "count",
  "dbStats",
  "distinct",
  "explain",
  "find",
  "hello",
  "listCollections",
  "listDatabases",
  "listIndexes",
  "ping",
]);
const WRITING_STAGES: ReadonlySet<string> = new Set(["$out", "$merge"]);

/** Whether a command can be sent twice and do the same. */
export function isRepeatable({ command, body }: Request): boolean {
  if (command !== "aggregate") return READS.has(command);
  const pipeline = getField(body, "pipeline");
  if (pipeline?.type !== BsonType.array) return false;
  const last = elements(asDocument(pipeline)).at(-1);
  const stage = last?.type === BsonType.object ? firstField(asDocument(last))?.[0] : undefined;
  return stage === undefined || !WRITING_STAGES.has(stage);
}
