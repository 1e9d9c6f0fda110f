/** `$out`: the documents become the whole content of a collection, once all of them are there. */
import { BsonType, asDocument, asString, fields, type RawValue } from "../../../bson/index.js";
import { checkNamespace, CommandError, ErrorCode, notSimulated } from "../../../protocol/index.js";
import { typeName } from "../../values/types.js";
import { hostOf, sourceOf, type PipelineHost, type Source } from "../host.js";
import type { NamedCollection, Stage, StageParser } from "../stage.js";

export const out: StageParser = (spec, options) => {
  const target = parseOut(spec);
  return {
    writes: target,
    needsHost: true,
    create: () => {
      const host = hostOf(options, "$out");
      const source = sourceOf(host, target);
      checkTarget("$out", source);
      host.checkOut(source);
      return new OutStage(host, source);
    },
  };
};

class OutStage implements Stage {
  readonly name = "$out";
  readonly satisfied = false;
  #documents: Uint8Array[] = [];

  constructor(
    readonly host: PipelineHost,
    readonly target: Source,
  ) {}

  push(doc: Uint8Array): void {
    this.#documents.push(doc);
  }

  finish(): void {
    const documents = this.#documents;
    this.#documents = [];
    this.host.out(this.target, documents);
  }
}

function parseOut(spec: RawValue): NamedCollection {
  if (spec.type === BsonType.string) return { db: undefined, collection: asString(spec) };
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      16990,
      `$out only supports a string or object argument, but found ${typeName(spec)}`,
    );
  }
  const names = new Map<string, string>();
  for (const [name, value] of fields(asDocument(spec))) {
    if (name === "timeseries") throw notSimulated("$out to a time series collection");
    if (name !== "db" && name !== "coll") {
      throw new CommandError(ErrorCode.IDLUnknownField, `BSON field '$out.${name}' is an unknown field.`);
    }
    if (value.type !== BsonType.string) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `BSON field '$out.${name}' is the wrong type '${typeName(value)}', expected type 'string'`,
      );
    }
    names.set(name, asString(value));
  }
  const missing = ["coll", "db"].find((name) => !names.has(name));
  if (missing !== undefined) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '$out.${missing}' is missing but a required field`,
    );
  }
  return { db: names.get("db")!, collection: names.get("coll")! };
}

/** The code for a system collection and for one of the server's own databases. */
const SPECIAL = { $out: [17385, 31321], $merge: [31319, 31320] } as const;

/**
 * Checks the name of the collection that a stage writes.
 * @throws CommandError InvalidNamespace (73); 17385, 31319 for a system collection; 31321, 31320 for `admin`,
 *   `config` and `local`
 */
export function checkTarget(stage: "$out" | "$merge", { db, collection }: Source): void {
  try {
    checkNamespace(db, collection);
  } catch {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `Invalid ${stage} target namespace, ${db}.${collection}`,
    );
  }
  const [special, internal] = SPECIAL[stage];
  if (collection.startsWith("system.")) {
    throw new CommandError(special, `Cannot ${stage} to special collection: ${collection}`);
  }
  if (db === "admin" || db === "config" || db === "local") {
    throw new CommandError(internal, `Cannot ${stage} to internal database: ${db}`);
  }
}
