/**
 * What the values of BSON need for `toEqual` and `toMatchObject`, which compare the fields of objects and not their
 * classes: MinKey and MaxKey have no fields, so to them they would be one and the same.
 */
import { expect } from "vitest";

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "_bsontype" in value ? value._bsontype : undefined;

const isEnd = (kind: unknown): boolean => kind === "MinKey" || kind === "MaxKey";

/** The ends of all values are equal to themselves only. */
function endsOfValues(a: unknown, b: unknown): boolean | undefined {
  const [one, other] = [kindOf(a), kindOf(b)];
  return isEnd(one) || isEnd(other) ? one === other : undefined;
}

// Test files that share a process share its matchers too.
const registry = globalThis as { shardlabEqualities?: boolean };
if (!registry.shardlabEqualities) expect.addEqualityTesters([endsOfValues]);
registry.shardlabEqualities = true;
