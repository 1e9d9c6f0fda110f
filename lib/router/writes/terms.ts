/** What a write command says beside its statements, read once for all of them. */
import type { Request } from "../../protocol/index.js";
import { bodyField } from "../../protocol/index.js";
import type { ExpressionOptions } from "../../query/index.js";
import type { RouterContext } from "../context.js";
import { expressionOptions, flag, optionalDocument, optionalField } from "../context.js";
import type { HasDefaultCollation } from "../support/collations.js";
import { effectiveCollation } from "../support/collations.js";
import type { ConcernErrors } from "./concernErrors.js";
import type { CarefulTerms } from "./singleDocument.js";

/** A command's options, as its statements see them. */
export interface CommandTerms extends CarefulTerms {
  /** The command's `let`, for the shards. */
  readonly variables: Uint8Array | undefined;
}

/**
 * Reads them.
 * @param statements how many the command has
 * @param concernErrors receives what shards say about the write concern
 * @throws CommandError TypeMismatch (14)
 */
export function commandTerms(
  context: RouterContext,
  request: Request,
  concernErrors: ConcernErrors,
  statements = 1,
): CommandTerms {
  return {
    expressions: expressionOptions(context, request),
    variables: optionalDocument(request, "let"),
    bypassDocumentValidation: flag(request, "bypassDocumentValidation"),
    bypassEmptyTsReplacement: flag(request, "bypassEmptyTsReplacement"),
    retryable: bodyField(request, "txnNumber") !== undefined,
    onlyStatement: statements === 1,
    writeConcern: optionalField(request, "writeConcern"),
    concernErrors,
  };
}

/** What the filter and the update of one statement see: its own collation, else the collection's. */
export function expressionsOf(
  { expressions }: CommandTerms,
  collection: HasDefaultCollation | undefined,
  collation: Uint8Array | undefined,
): ExpressionOptions {
  const own = effectiveCollation(collection, collation);
  return own ? { ...expressions, collation: own } : expressions;
}
