/**
 * Which commands a replica set member answers when it is not primary.
 *
 *     always    what concerns the server itself: hello, serverStatus, replSetGetStatus, …
 *     opt-in    reads, where the client says that a secondary will do ($readPreference)
 *     never     writes
 */
import { asDocument, asString, BsonType, getField } from "../bson/index.js";
import type { Request } from "../protocol/index.js";
import { CommandError, ErrorCode } from "../protocol/index.js";
import { isWrite, type Command } from "./command.js";
import type { ReplicaSet } from "./replication/replicaSet.js";

/** On a member that is not primary a command is answered always, where the client opts in, or never. */
export type OnSecondary = "always" | "optIn" | "never";

/** Commands about a cursor, which stay with the member that opened it. */
const CURSOR_COMMANDS: ReadonlySet<string> = new Set(["getMore", "killCursors"]);

/**
 * What a command does on a member that is not primary: writes never, reads on request, unless it says otherwise.
 * @param request where it depends on the request whether the command writes
 */
export function onSecondary(command: Command, request?: Request): OnSecondary {
  if (command.onSecondary) return command.onSecondary;
  if (CURSOR_COMMANDS.has(command.name)) return "always";
  const writes = request ? isWrite(command, request) : command.writes === true;
  return writes ? "never" : "optIn";
}

/**
 * Refuses what a member in its present state does not answer.
 * @throws CommandError NotWritablePrimary (10107), NotPrimaryNoSecondaryOk (13435), NotPrimaryOrSecondary (13436)
 */
export function checkAvailable(command: Command, request: Request, set: ReplicaSet | undefined): void {
  const when = onSecondary(command, request);
  if (!set || when === "always") return;
  const { state } = set;
  // The database `local` belongs to the member alone and is never replicated.
  if (state === "primary" || request.db === "local") return;
  if (when === "never") throw new CommandError(ErrorCode.NotWritablePrimary, "not primary");
  if (!toleratesSecondary(request)) {
    throw new CommandError(ErrorCode.NotPrimaryNoSecondaryOk, "not primary and secondaryOk=false");
  }
  if (state === "startup") {
    throw new CommandError(ErrorCode.NotPrimaryOrSecondary, "node is not in primary or recovering state");
  }
}

/** Whether the client would have a secondary answer a read. */
export function toleratesSecondary({ body }: Request): boolean {
  const preference = getField(body, "$readPreference");
  if (preference?.type !== BsonType.object) return false;
  const mode = getField(asDocument(preference), "mode");
  return mode?.type === BsonType.string && asString(mode) !== "primary";
}
