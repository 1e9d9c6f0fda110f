import { parseCollation, type ExpressionOptions, type PipelineHost } from "../query/index.js";
import type { CommandContext } from "./command.js";
import type { Collection } from "./storage/collection.js";

/**
 * What filters, expressions and stages of a command see of it: its `let`, its collation (or else the
 * collection's), the clock and the random source.
 * @param parts the document that holds `let` and `collation`, when it is not the command itself (a statement of an
 *   update has its own collation)
 */
export function expressionOptions(
  { server, arguments: args }: CommandContext,
  collection: Pick<Collection, "collation"> | undefined,
  parts: { readonly collation?: Uint8Array | undefined } = {},
  host?: PipelineHost,
): ExpressionOptions {
  const { environment, parameters } = server;
  const variables = args.document("let");
  const given = parts.collation ?? args.document("collation");
  // An explicit {locale: "simple"} overrides the collection's own collation.
  const collation = given && given.length > 5 ? parseCollation(given) : collection?.collation;
  const diskUse = args.get("allowDiskUse");
  const allowDiskUse = diskUse ? args.boolean("allowDiskUse") : parameters.flag("allowDiskUseByDefault");
  return {
    now: environment.now,
    random: environment.random,
    ...(variables && { let: variables }),
    ...(collation && { collation }),
    ...(host && { host }),
    ...(!allowDiskUse && { allowDiskUse }),
  };
}
