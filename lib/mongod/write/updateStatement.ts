/**
 * One update: a statement of the command `update`, an update of `bulkWrite`,
 * or what `findAndModify` does. They spell their parts differently and mean
 * the same; each reads its own spelling into an {@link UpdateSpec}.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, BsonType, getField } from "../../bson/index.js";
import type { UpdateParts } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Update } from "../../query/index.js";
import { compileUpdate, refuseExprInUpsert } from "../../query/index.js";
import type { CommandContext } from "../command.js";
import { expressionOptions } from "../expressionOptions.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";
import { applyUpdate, makeUpsert, type UpdateRun } from "./applyUpdate.js";
import { execute } from "./execution.js";
import { idsOf } from "./matching.js";
import { checkDocument, type Checks } from "./validation.js";

/** The parts of an update, as they came. */
export interface UpdateSpec extends UpdateParts {
  readonly projection?: Uint8Array | undefined;
  readonly bypassEmptyTsReplacement: boolean;
}

/** An update, compiled. */
export interface UpdateStatement {
  readonly namespace: string;
  /** Undefined where it does not exist yet. */
  readonly collection: Collection | undefined;
  readonly query: Query;
  readonly update: Update;
  readonly upsert: boolean;
  readonly supplied: Uint8Array | undefined;
}

/** What one update did. */
export interface UpdateResult {
  readonly matched: number;
  readonly modified: number;
  readonly upsertedId?: RawValue;
}

/**
 * Compiles an update.
 * @throws CommandError FailedToParse (9) for options that exclude each other, QueryFeatureNotAllowed (224) for an
 *   upsert with `$expr`, CommandNotSupportedOnView (166), and what filter and update throw
 */
export function compileStatement(
  context: CommandContext,
  namespace: string,
  spec: UpdateSpec,
): UpdateStatement {
  const { multi, upsert } = spec;
  if (multi && spec.sort) throw failed("Cannot specify sort with multi=true");
  const supplied = suppliedDocument(spec);
  const collection = context.server.catalog.findCollection(namespace);
  const options = expressionOptions(context, collection, { collation: spec.collation });
  const update = compileUpdate(spec.update, {
    ...options,
    arrayFilters: spec.arrayFilters,
    constants: spec.constants,
    bypassEmptyTsReplacement: spec.bypassEmptyTsReplacement,
  });
  if (multi && update.kind === "replacement")
    throw failed("multi update is not supported for replacement-style update");
  if (upsert) refuseExprInUpsert(spec.filter);
  const query = compileQuery(
    {
      filter: spec.filter,
      sort: spec.sort,
      projection: spec.projection,
      hint: spec.hint,
      limit: multi ? 0 : 1,
      forWrite: true,
    },
    options,
  );
  return { namespace, collection, query, update, upsert, supplied };
}

function suppliedDocument({ upsert, upsertSupplied, constants }: UpdateSpec): Uint8Array | undefined {
  if (!upsertSupplied) return undefined;
  if (!upsert) throw failed("cannot specify 'upsertSupplied: true' for a non-upsert operation");
  const document = constants && getField(constants, "new");
  if (document?.type === BsonType.object) return asDocument(document);
  throw failed("the parameter 'upsertSupplied' is set to 'true', but no document was supplied");
}

function failed(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

/**
 * Runs an update: all its matches are found before the first is changed.
 * @throws CommandError what {@link applyUpdate} throws; documents changed before it stay changed
 */
export function runUpdate(context: CommandContext, statement: UpdateStatement, checks: Checks): UpdateResult {
  const { collection, query, upsert } = statement;
  const plan = planQuery(collection, query, context.interrupt);
  return execute("update", () => {
    const ids = idsOf(plan);
    if (ids.length === 0 || !collection) {
      if (!upsert) return { matched: 0, modified: 0 };
      const document = insertUpsert(context, statement, checks);
      return { matched: 0, modified: 0, upsertedId: getField(document, "_id") as RawValue };
    }
    const run = updateRun(context, statement, collection, checks);
    let modified = 0;
    for (const id of ids) {
      context.interrupt.step();
      const { before, after } = applyUpdate(run, id);
      if (after !== before) modified++;
    }
    return { matched: ids.length, modified };
  });
}

/** What the update of each record needs. */
export function updateRun(
  { server }: CommandContext,
  { update, query }: UpdateStatement,
  collection: Collection,
  checks: Checks,
): UpdateRun {
  return {
    server,
    collection,
    update,
    filter: query.filter.node,
    checks,
    now: server.environment.now(),
    indexes: update.kind === "operators" ? collection.indexesOn(update.paths) : undefined,
  };
}

/** Inserts what an upsert makes where nothing matched, and returns it. */
export function insertUpsert(
  { server }: CommandContext,
  { namespace, query, update, supplied }: UpdateStatement,
  checks: Checks,
): Uint8Array {
  const document = makeUpsert(server, update, query.filter.node, supplied);
  const collection = server.catalog.findOrCreate(namespace);
  checkDocument(server, collection, document, checks);
  collection.insert(document);
  return document;
}
