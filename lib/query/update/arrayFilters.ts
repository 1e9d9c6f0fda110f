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
import { documentTest } from "../filter/match.js";
import { parseFilter } from "../filter/parse.js";
import { isArrayPlaceholder } from "./paths.js";

type ElementTest = (element: RawValue) => boolean;

export class ArrayFilters {
  readonly #tests = new Map<string, ElementTest>();

  /** @throws CommandError 9 (FailedToParse) for a filter without or with several identifiers */
  constructor(filters: readonly Uint8Array[]) {
    for (const filter of filters) {
      const identifiers = new Set<string>();
      collectIdentifiers(filter, identifiers);
      const [identifier, second] = identifiers;
      if (identifier === undefined) {
        throw failed("Cannot use an expression without a top-level field name in arrayFilters");
      }
      if (second !== undefined) {
        throw failed(
          `Error parsing array filter :: caused by :: Expected a single top-level field name, found '${identifier}' and '${second}'`,
        );
      }
      if (!/^[a-z][a-zA-Z0-9]*$/.test(identifier)) {
        throw new CommandError(
          ErrorCode.BadValue,
          `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning ` +
            `with a lowercase letter, found '${identifier}'`,
        );
      }
      if (this.#tests.has(identifier)) {
        throw failed(`Found multiple array filters with the same top-level field name ${identifier}`);
      }
      const test = documentTest(parseFilter(filter, { depth: 0 }));
      this.#tests.set(identifier, (element) =>
        test(new DocumentWriter().field(identifier, element).finish()),
      );
    }
  }

  /** Refuses paths whose identifier has no filter, and filters that no path uses. */
  check(paths: readonly string[]): void {
    const unused = new Set(this.#tests.keys());
    for (const path of paths) {
      for (const part of path.split(".")) {
        const identifier = identifierOf(part);
        if (identifier === "") continue;
        if (!this.#tests.has(identifier)) {
          throw new CommandError(
            ErrorCode.BadValue,
            `No array filter found for identifier '${identifier}' in path '${path}'`,
          );
        }
        unused.delete(identifier);
      }
    }
    const [identifier] = unused;
    if (identifier !== undefined) {
      throw failed(`The array filter for identifier '${identifier}' was not used in the update`);
    }
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

function collectIdentifiers(filter: Uint8Array, found: Set<string>): void {
  for (const [name, value] of fields(filter)) {
    if (!name.startsWith("$")) {
      found.add(name.split(".")[0]!);
    } else if (value.type === BsonType.array) {
      for (const branch of elements(asDocument(value))) {
        if (branch.type === BsonType.object) collectIdentifiers(asDocument(branch), found);
      }
    }
  }
}
