/**
 * What is kept of a sampled query: pure reading of commands (facts-mongos.md §9.4).
 *
 *     find       {filter, collation}            count, distinct, aggregate (its leading $match) alike
 *     update     {update: "loans", updates: [the one statement]}
 *     delete     {delete: "loans", deletes: [the one statement]}
 *     findAndModify                             the command without what drivers add
 *
 * Every statement of a batch is a query of its own; those of a bulkWrite become statements of update and delete.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  firstField,
  forEachField,
  getField,
  isNumeric,
  isTruthy,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { documentsOf, isGeneric } from "../../protocol/index.js";
import { routingFilter } from "../merging/pipelineReferences.js";

/** A query that may be sampled. */
export interface Query {
  readonly ns: string;
  /** As in `config.sampledQueries`: a bulkWrite's operations are updates and deletes. */
  readonly cmdName: string;
  readonly cmd: Uint8Array;
  /** Of an update of one document: how to find it, for the diff. */
  readonly changes?: { readonly filter: Uint8Array; readonly collation?: Uint8Array | undefined } | undefined;
}

/** Names of the field that has the filter. */
const FILTERS: Readonly<Record<string, string>> = { find: "filter", count: "query", distinct: "query" };

/** The queries of a command; none for one that is no query, or that does not say on what. */
export function queriesOf(request: Request): Query[] {
  const { command, body, db } = request;
  if (command === "bulkWrite") return queriesOfBulk(request);
  const name = firstField(body)?.[1];
  if (name?.type !== BsonType.string) return [];
  const collection = asString(name);
  const ns = `${db}.${collection}`;
  const field = FILTERS[command];
  if (field !== undefined) return [read(ns, command, documentIn(body, field), body)];
  switch (command) {
    case "aggregate":
      return [read(ns, command, filterOf(body), body)];
    case "update":
      return documentsOf(request, "updates").map((statement) => update(ns, collection, statement));
    case "delete":
      return documentsOf(request, "deletes").map((statement) => remove(ns, collection, statement));
    case "findAndModify":
    case "findandmodify":
      return [findAndModify(ns, body)];
    default:
      return [];
  }
}

function read(ns: string, cmdName: string, filter: Uint8Array, body: Uint8Array): Query {
  const cmd = new DocumentWriter().document("filter", filter);
  const collation = optionalDocument(body, "collation");
  const constants = optionalDocument(body, "let");
  if (collation) cmd.document("collation", collation);
  if (constants) cmd.document("let", constants);
  return { ns, cmdName, cmd: cmd.finish() };
}

function filterOf(body: Uint8Array): Uint8Array {
  const pipeline = getField(body, "pipeline");
  if (pipeline?.type !== BsonType.array) return EMPTY_DOCUMENT;
  const stages = elements(asDocument(pipeline));
  return stages.every(({ type }) => type === BsonType.object)
    ? routingFilter(stages.map(asDocument))
    : EMPTY_DOCUMENT;
}

function update(ns: string, collection: string, statement: Uint8Array): Query {
  const cmd = new DocumentWriter().string("update", collection).arrayOf("updates", [statement]).finish();
  const isMulti = isTruthy(getField(statement, "multi"));
  const changes = isMulti
    ? undefined
    : { filter: documentIn(statement, "q"), collation: optionalDocument(statement, "collation") };
  return { ns, cmdName: "update", cmd, changes };
}

function remove(ns: string, collection: string, statement: Uint8Array): Query {
  const cmd = new DocumentWriter().string("delete", collection).arrayOf("deletes", [statement]).finish();
  return { ns, cmdName: "delete", cmd };
}

function findAndModify(ns: string, body: Uint8Array): Query {
  const cmd = new DocumentWriter();
  forEachField(body, (name, value) => {
    if (!isGeneric(name)) cmd.field(name, value);
  });
  const changes = getField(body, "update")
    ? { filter: documentIn(body, "query"), collation: optionalDocument(body, "collation") }
    : undefined;
  return { ns, cmdName: "findAndModify", cmd: cmd.finish(), changes };
}

function queriesOfBulk(request: Request): Query[] {
  const namespaces = documentsOf(request, "nsInfo").map((info) => textIn(info, "ns"));
  const queries: Query[] = [];
  for (const operation of documentsOf(request, "ops")) {
    const [kind, position] = firstField(operation) ?? [];
    const ns = position && isNumeric(position) ? namespaces[asNumber(position)] : undefined;
    if (ns === undefined || (kind !== "update" && kind !== "delete")) continue;
    const collection = ns.slice(ns.indexOf(".") + 1);
    const statement = new DocumentWriter().document("q", documentIn(operation, "filter"));
    copy(operation, statement, "updateMods", "u");
    for (const name of ["multi", "upsert", "collation", "arrayFilters"])
      copy(operation, statement, name, name);
    if (kind === "update") queries.push(update(ns, collection, statement.finish()));
    else {
      const isMulti = isTruthy(getField(operation, "multi"));
      const q = documentIn(operation, "filter");
      const limited = new DocumentWriter().document("q", q).int32("limit", isMulti ? 0 : 1);
      copy(operation, limited, "collation", "collation");
      queries.push(remove(ns, collection, limited.finish()));
    }
  }
  return queries;
}

function copy(from: Uint8Array, to: DocumentWriter, name: string, as: string): void {
  const value = getField(from, name);
  if (value) to.field(as, value);
}

function textIn(document: Uint8Array, name: string): string {
  const value: RawValue | undefined = getField(document, name);
  return value?.type === BsonType.string ? asString(value) : "";
}

function optionalDocument(document: Uint8Array, name: string): Uint8Array | undefined {
  const value = getField(document, name);
  return value?.type === BsonType.object ? asDocument(value) : undefined;
}

function documentIn(document: Uint8Array, name: string): Uint8Array {
  return optionalDocument(document, name) ?? EMPTY_DOCUMENT;
}
