/**
 * May this update give its document another shard key, and where does the
 * document belong then? Pure policy (facts-mongos.md §4.4, §4.5), in the order in
 * which a shard checks:
 *
 *     same key, byte for byte (missing is null)      ──► no change, nothing to check
 *     an array in the key                            ──► 54
 *     before 4.2                                     ──► 66, 4.2: no field may go missing (4)
 *     4.2–7.0: filter without the whole key          ──► 31025
 *     multi: true                                    ──► 72
 *     no retryable write                             ──► 20
 *     else                                           ──► the shard that owns the new key
 *
 * "Byte for byte": 1 and 1.0 are equal keys in the same chunk, and yet a change.
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, valuesIdentical } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Rules } from "../rules.js";
import type { RoutingTable } from "../targeting/target.js";

/** How the update came, as far as key changes depend on it. */
export interface KeyChange {
  readonly rules: Rules;
  /** Whether the filter gives the whole shard key by equality. */
  readonly pinsKey: boolean;
  readonly multi: boolean;
  /** The command came with a transaction number. */
  readonly retryable: boolean;
}

/**
 * The shard that owns a document after an update; undefined when the key has not changed.
 * @throws CommandError NotSingleValueField (54), ImmutableField (66), NoSuchKey (4), Location31025, InvalidOptions
 * (72), IllegalOperation (20)
 */
export function ownerAfter(
  { key, chunks }: RoutingTable,
  before: Uint8Array,
  after: Uint8Array,
  { rules, pinsKey, multi, retryable }: KeyChange,
): string | undefined {
  const next = storableKey(key, after);
  if (sameKey(key.originalsOf(before), next)) return undefined;
  if (!rules.keyValuesChangeable) throw altered(key);
  if (!rules.missingKeyFieldsAllowed) refuseMissing(key, after);
  if (rules.keyChangeNeedsFullKey && !pinsKey) {
    throw new CommandError(
      31025,
      "Shard key update is not allowed without specifying the full shard key in the query",
    );
  }
  if (multi) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "Multi-update operations are not allowed when updating the shard key field.",
    );
  }
  if (!retryable) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      "Must run update to shard key field in a multi-statement transaction or with retryWrites: true.",
    );
  }
  return ownerOf({ key, chunks }, after);
}

/**
 * The shard that gets the document of an upsert.
 * @param targeted the one shard that the filter targets; undefined where it targets several (two-phase)
 * @throws CommandError NotSingleValueField (54); ImmutableField (66) or IllegalOperation (20) for a document that
 * belongs to another shard than its filter
 */
export function ownerOfUpsert(
  { key, chunks }: RoutingTable,
  inserted: Uint8Array,
  targeted: string | undefined,
  { rules, retryable }: Pick<KeyChange, "rules" | "retryable">,
): string {
  storableKey(key, inserted);
  if (!rules.missingKeyFieldsAllowed) refuseMissing(key, inserted);
  const owner = ownerOf({ key, chunks }, inserted);
  if (targeted === undefined || owner === targeted) return owner;
  if (!rules.keyValuesChangeable) throw altered(key);
  if (!retryable) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      "The upsert document could not be inserted onto the shard targeted by the query, since its shard key belongs " +
        "on a different shard. Cross-shard upserts are only allowed when running in a transaction or with " +
        "retryWrites: true.",
    );
  }
  return owner;
}

function ownerOf({ key, chunks }: RoutingTable, document: Uint8Array): string {
  return chunks.ownerOf(key.chunkOf(document, chunks));
}

/** The key's own values. @throws CommandError NotSingleValueField (54) for an array among them */
function storableKey(key: ShardKeyPattern, document: Uint8Array): (RawValue | undefined)[] {
  try {
    return key.originalsOf(document);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      ErrorCode.NotSingleValueField,
      `After applying the update to the document, the field '${key.arrayPath(document)}' was found to be an array ` +
        "or array descendant.",
    );
  }
}

function sameKey(
  before: readonly (RawValue | undefined)[],
  after: readonly (RawValue | undefined)[],
): boolean {
  return before.every((value, i) => {
    const other = after[i];
    if (value && other) return valuesIdentical(value, other);
    return (value ?? other ?? { type: BsonType.null }).type === BsonType.null;
  });
}

function altered(key: ShardKeyPattern): CommandError {
  return new CommandError(
    ErrorCode.ImmutableField,
    `After applying the update, the immutable field '${key.paths.join(", ")}' was found to have been altered`,
  );
}

/** Before 4.4 a document had to keep every key field. @throws CommandError NoSuchKey (4) */
function refuseMissing(key: ShardKeyPattern, document: Uint8Array): void {
  const [missing] = key.missingFrom(document);
  if (missing === undefined) return;
  throw new CommandError(
    ErrorCode.NoSuchKey,
    `After applying the update, the new document was missing the required field '${missing}'`,
  );
}
