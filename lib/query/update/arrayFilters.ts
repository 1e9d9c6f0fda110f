/**
 * `arrayFilters`: which elements `$[identifier]` stands for.
 *
 *     update { $inc: { "grades.$[low].score": 5 } }, arrayFilters [{ "low.score": { $lt: 50 } }]
 *
 * An element is tested as if it were a document with the identifier as its
 * only field.
 */
import { BsonType, DocumentWriter, asDocument, elements, fields, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { documentTest } from "../filter/match.js";
import { parseFilter } from "../filter/parse.js";
import { isArrayPlaceholder } from "./paths.js";

type ElementTest = (element: RawValue) => boolean;

const PARSING = "Error parsing array filter :: caused by :: ";

export class ArrayFilters {
  readonly #tests = new Map<string, ElementTest>();
  readonly #unused = new Set<string>();

  /**
   * @throws CommandError 9 (FailedToParse) for a filter without or with several identifiers or an identifier that
   *   comes twice, 2 (BadValue) for a bad identifier, and what the filters throw
   */
  constructor(filters: readonly Uint8Array[], options: ExpressionOptions = {}) {
    for (const filter of filters) {
      const identifier = identifierIn(filter);
      const node = parse(filter, options);
      if (this.#tests.has(identifier)) {
        throw failed(`Found multiple array filters with the same top-level field name ${identifier}`);
      }
      const test = documentTest(node);
      this.#tests.set(identifier, (element) =>
        test(new DocumentWriter().field(identifier, element).finish()),
      );
      this.#unused.add(identifier);
    }
  }

  /** Notes the identifiers of a path. @throws CommandError 2 (BadValue) for one without a filter */
  use(path: string, parts: readonly string[]): void {
    for (const part of parts) {
      const identifier = identifierOf(part);
      if (identifier === "") continue;
      if (!this.#tests.has(identifier)) {
        throw new CommandError(
          ErrorCode.BadValue,
          `No array filter found for identifier '${identifier}' in path '${path}'`,
        );
      }
      this.#unused.delete(identifier);
    }
  }

  /** Refuses filters that no path uses. @param update the update as text, for the message */
  checkAllUsed(update: () => string): void {
    for (const identifier of this.#unused)
      throw failed(`The array filter for identifier '${identifier}' was not used in the update ${update()}`);
  }

  /** The test of `$[]` (everything) or `$[identifier]`. */
  test(part: string): ElementTest {
    const identifier = identifierOf(part);
    return identifier === "" ? () => true : this.#tests.get(identifier)!;
  }
}

function failed(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

function identifierOf(part: string): string {
  return isArrayPlaceholder(part) ? part.slice(2, -1) : "";
}

function parse(filter: Uint8Array, options: ExpressionOptions): ReturnType<typeof parseFilter> {
  try {
    return parseFilter(filter, options);
  } catch (error) {
    if (error instanceof CommandError) error.message = PARSING + error.message;
    throw error;
  }
}

/** The one name that all conditions of a filter begin with. */
function identifierIn(filter: Uint8Array): string {
  const identifiers = new Set<string>();
  collectIdentifiers(filter, identifiers, 0);
  const [identifier, second] = identifiers;
  if (identifier === undefined)
    throw failed("Cannot use an expression without a top-level field name in arrayFilters");
  if (second !== undefined)
    throw failed(`${PARSING}Expected a single top-level field name, found '${identifier}' and '${second}'`);
  if (/^[a-z][a-zA-Z0-9]*$/.test(identifier)) return identifier;
  throw new CommandError(
    ErrorCode.BadValue,
    `${PARSING}The top-level field name must be an alphanumeric string beginning with a lowercase letter, ` +
      `found '${identifier}'`,
  );
}

/** Deeper than any filter that the parser takes. */
const MAX_DEPTH = 101;

function collectIdentifiers(filter: Uint8Array, found: Set<string>, depth: number): void {
  if (depth > MAX_DEPTH) return;
  for (const [name, value] of fields(filter)) {
    if (!name.startsWith("$")) {
      found.add(name.split(".", 1)[0]!);
    } else if (value.type === BsonType.array) {
      for (const branch of elements(asDocument(value))) {
        if (branch.type === BsonType.object) collectIdentifiers(asDocument(branch), found, depth + 1);
      }
    }
  }
}
