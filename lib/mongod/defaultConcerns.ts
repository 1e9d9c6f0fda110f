/** Default read and write concerns: what setDefaultRWConcern accepts. */
import { asNumber, asString, BsonType, fields, getField, isEmptyDocument, isNumeric } from "../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../protocol/index.js";
import type { Server } from "./command.js";
import { encodeTree } from "./tree.js";

/** @throws CommandError 51300 on a standalone server, which has no defaults */
export function requireReplicaSet(server: Server, command: string): void {
  if (!server.replication)
    throw new CommandError(51300, `'${command}' is not supported on standalone nodes.`);
}

/**
 * Checks a default read concern.
 * @throws CommandError BadValue (2) for a level that can be no default
 */
export function checkDefaultReadConcern(concern: Uint8Array): Uint8Array | undefined {
  if (isEmptyDocument(concern)) return undefined;
  const level = getField(concern, "level");
  const name = level?.type === BsonType.string ? asString(level) : "";
  if (name !== "local" && name !== "available" && name !== "majority") {
    throw bad(`level: '${name}' is not suitable for the default read concern`);
  }
  return concern.slice();
}

/**
 * Checks a default write concern and completes it.
 * @throws CommandError BadValue (2), NotImplemented (238) for one that a single member could not satisfy
 */
export function checkDefaultWriteConcern(concern: Uint8Array): Uint8Array {
  if (isEmptyDocument(concern)) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      "The global default write concern cannot be unset once it is set.",
    );
  }
  for (const [name] of fields(concern))
    if (name !== "w" && name !== "j" && name !== "wtimeout")
      throw bad(`unrecognized write concern field: ${name}`);
  const w = getField(concern, "w");
  if (!w) throw bad("missing w in the default write concern");
  if (isNumeric(w)) {
    if (asNumber(w) === 0) throw bad("The default write concern must be at least {w: 1}");
    if (asNumber(w) > 1) throw notSimulated(`a default write concern of w: ${asNumber(w)}`);
  } else if (w.type !== BsonType.string || asString(w) !== "majority") {
    throw notSimulated("a default write concern with a mode of its own");
  }
  const j = getField(concern, "j");
  const wtimeout = getField(concern, "wtimeout");
  return encodeTree({ w, ...(j && { j }), wtimeout: wtimeout ?? 0 });
}

function bad(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}
