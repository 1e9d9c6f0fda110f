/** What may define a view, checked when one is made or changed. */
import { firstField } from "../bson/index.js";
import { checkNamespace, CommandError, ErrorCode } from "../protocol/index.js";
import { parsePipeline } from "../query/index.js";
import type { Server } from "./command.js";
import { splitNamespace } from "./storage/catalog.js";
import type { CollectionOptions } from "./storage/collectionOptions.js";

/** Stages that read no collection: no view can begin with one. */
const INDEPENDENT: ReadonlySet<string> = new Set([
  "$changeStream",
  "$currentOp",
  "$documents",
  "$listLocalSessions",
  "$listSessions",
  "$queryStats",
]);

/**
 * Checks the stages of a view.
 * @returns the namespaces that they read, beside the one the view is on
 * @throws CommandError InvalidNamespace (73) for a bad `viewOn`, OptionNotSupportedOnView (167) for `$out`, `$merge`
 * and `$changeStream`, and whatever is wrong with a stage
 */
export function viewReads(server: Server, namespace: string, options: CollectionOptions): string[] {
  const { db, collection } = splitNamespace(namespace);
  const { view, collation } = options;
  if (!view) return [];
  if (collection.startsWith("system.")) {
    throw new CommandError(ErrorCode.InvalidNamespace, `Invalid system namespace: ${namespace}`);
  }
  checkNamespace(db, view.on);
  view.pipeline.forEach((stage, i) => checkStage(namespace, firstField(stage)?.[0] ?? "", i));
  const { now, random } = server.environment;
  const stages = parsePipeline(view.pipeline, { now, random, ...(collation && { collation }) });
  return stages.flatMap(({ reads }) =>
    (reads ?? []).map((source) => `${source.db ?? db}.${source.collection}`),
  );
}

function checkStage(namespace: string, name: string, index: number): void {
  if (name === "$out" || name === "$merge") {
    throw new CommandError(
      ErrorCode.OptionNotSupportedOnView,
      `The aggregation stage ${name} in location ${index} of the pipeline cannot be used in the view definition of ` +
        `${namespace} because it writes to disk`,
    );
  }
  if (name === "$changeStream") {
    throw new CommandError(
      ErrorCode.OptionNotSupportedOnView,
      "$changeStream cannot be used in a view definition",
    );
  }
  if (INDEPENDENT.has(name)) {
    throw new CommandError(ErrorCode.InvalidNamespace, `'${name}' cannot be used in a view definition`);
  }
}
