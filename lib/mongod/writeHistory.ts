/**
 * What retryable writes have done, as documents of the journal: MongoDB keeps it in `config.transactions` and the oplog.
 *
 *     {lsid: {id: UUID}, txnNumber: 7, command: "insert", runs: [0, 999], results: []}
 *     {lsid: …, txnNumber: 8, command: "update", runs: [], results: [{s: 0, r: {matched: 1, modified: 1}}]}
 *
 * So a driver whose server was killed before the reply came may send the command again to the one that is started in
 * its place. Several documents of one number add up; a higher number makes an end of those below it.
 */
import type { RawValue } from "../bson/index.js";
import {
  asBigInt,
  asBoolean,
  asDocument,
  asNumber,
  asString,
  BsonType,
  elements,
  fields,
  getField,
  int64,
} from "../bson/index.js";
import { encodeTree } from "./tree.js";

/** Statements of one `txnNumber`. */
export interface WriteHistory {
  /** `{id: UUID}`. */
  readonly lsid: Uint8Array;
  readonly txnNumber: bigint;
  readonly command: string;
  /** Inserts: the first and the last statement of every run, one after the other. */
  readonly runs: readonly number[];
  /** Other statements and what they answered. */
  readonly results: readonly (readonly [statement: number, result: unknown])[];
  /** Its results were too large to be kept. */
  readonly isForgotten: boolean;
}

/** Fields of a result that are values of documents, whatever they are. */
const VALUES: ReadonlySet<string> = new Set(["upsertedId", "upserted"]);

/** Writes a history as a document. */
export function encodeHistory({ results, txnNumber, isForgotten, ...rest }: WriteHistory): Uint8Array {
  return encodeTree({
    ...rest,
    txnNumber: int64(txnNumber),
    results: results.map(([s, r]) => ({ s, r })),
    ...(isForgotten && { isForgotten }),
  });
}

/** Reads such a document; what is kept of it is a copy. @throws Error for one that is something else */
export function decodeHistory(body: Uint8Array): WriteHistory {
  const copy = body.slice();
  const must = (name: string): RawValue => {
    const value = getField(copy, name);
    if (!value) throw new Error(`a write history without ${name}`);
    return value;
  };
  const isForgotten = getField(copy, "isForgotten");
  return {
    lsid: asDocument(must("lsid")),
    txnNumber: asBigInt(must("txnNumber")),
    command: asString(must("command")),
    runs: elements(asDocument(must("runs"))).map(asNumber),
    results: elements(asDocument(must("results"))).map((entry) => {
      const document = asDocument(entry);
      return [asNumber(getField(document, "s")!), decode("r", getField(document, "r")!)];
    }),
    isForgotten: isForgotten !== undefined && asBoolean(isForgotten),
  };
}

/** The inverse of `encodeTree`, as far as results go: the document that findAndModify answers stays one. */
function decode(name: string, value: RawValue): unknown {
  if (VALUES.has(name)) return value;
  switch (value.type) {
    case BsonType.object:
      if (name === "value") return asDocument(value);
      return Object.fromEntries(fields(asDocument(value)).map(([field, v]) => [field, decode(field, v)]));
    case BsonType.bool:
      return asBoolean(value);
    case BsonType.string:
      return asString(value);
    case BsonType.null:
      return value;
    default:
      return asNumber(value);
  }
}
