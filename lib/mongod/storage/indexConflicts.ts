/**
 * When a wanted index clashes with those that exist.
 *
 * An index is identified twice: by its name, and by what it is (key pattern,
 * `unique`, `sparse`, collation, partial filter). Asking for what exists
 * already is no error:
 *
 *     | name  | what it is | other options |                              |
 *     | same  | same       | same          | exists already               |
 *     | same  | same       | other         | IndexOptionsConflict (85)    |
 *     | same  | other      |               | IndexKeySpecsConflict (86)   |
 *     | other | same       | any           | IndexOptionsConflict (85)    |
 *     | other | other      |               | free to be built             |
 */
import { describeDocument } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { IndexSpec } from "./indexSpec.js";
import { compareSpecs, describeInCatalog } from "./indexSpec.js";

/** Most indexes of a collection. */
const MAX_INDEXES = 64;

/**
 * Compares a wanted index with the existing ones.
 * @returns true when it exists already exactly so
 * @throws CommandError IndexOptionsConflict (85), IndexKeySpecsConflict (86), CannotCreateIndex (67) for the 65th
 */
export function alreadyExists(namespace: string, wanted: IndexSpec, existing: readonly IndexSpec[]): boolean {
  const both = (other: IndexSpec): string =>
    `Requested index: ${describeDocument(describeInCatalog(wanted))}, existing index: ${describeDocument(describeInCatalog(other))}`;
  const namesake = existing.find((other) => other.name === wanted.name);
  if (namesake) {
    const comparison = compareSpecs(wanted, namesake);
    if (comparison === "identical") return true;
    if (comparison === "equivalent") {
      throw new CommandError(
        ErrorCode.IndexOptionsConflict,
        `An equivalent index already exists with the same name but different options. ${both(namesake)}`,
      );
    }
    throw new CommandError(
      ErrorCode.IndexKeySpecsConflict,
      `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. ${both(namesake)}`,
    );
  }
  for (const other of existing) {
    const comparison = compareSpecs(wanted, other);
    if (comparison === "different") continue;
    throw new CommandError(
      ErrorCode.IndexOptionsConflict,
      comparison === "identical"
        ? `Index already exists with a different name: ${other.name}`
        : `An equivalent index already exists with a different name and options. ${both(other)}`,
    );
  }
  if (existing.length >= MAX_INDEXES) {
    throw new CommandError(
      ErrorCode.CannotCreateIndex,
      `add index fails, too many indexes for ${namespace} key:${describeDocument(wanted.keyPattern)}`,
    );
  }
  return false;
}
