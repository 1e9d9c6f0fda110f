/**
 * COUNT_SCAN told as an IXSCAN.
 *
 * A server that only counts the keys of one range uses COUNT_SCAN, which looks at no document and can't drop
 * orphans. A shard of a sharded collection therefore counts with an IXSCAN under a SHARDING_FILTER. Both walk the
 * same keys, so one can be told as the other:
 *
 *     COUNT_SCAN  {startKey: {a: 5, b: 1}, startKeyInclusive: true, endKey: {a: 5, b: 9}, endKeyInclusive: false}
 *     IXSCAN      {a: ["[5, 5]"], b: ["[1, 9)"]}
 *
 * A range of keys is one interval a field: points, then one true interval, then everything.
 */
import { Int32 } from "bson";
import { describeValue, getField, toDocument } from "../../bson/index.js";
import type { Tree } from "./planTree.js";
import { subtree } from "./planTree.js";

/** The fields of a stage that ran which tell how, not what. */
const COUNTS: readonly string[] = [
  "nReturned",
  "executionTimeMillisEstimate",
  "works",
  "advanced",
  "needTime",
  "needYield",
  "saveState",
  "restoreState",
  "isEOF",
];

/** A COUNT_SCAN stage, planned or run, as the IXSCAN that a sharded collection has instead. */
export function asIndexScan(scan: Tree): Tree {
  const { stage: _stage, keysExamined: _keys, indexBounds: _bounds, ...rest } = scan;
  const ran = "nReturned" in scan;
  const counts = Object.fromEntries(COUNTS.filter((name) => name in scan).map((name) => [name, scan[name]]));
  const index = Object.fromEntries(Object.entries(rest).filter(([name]) => !COUNTS.includes(name)));
  const zero = new Int32(0);
  return {
    stage: "IXSCAN",
    ...counts,
    ...index,
    direction: "forward",
    indexBounds: intervals(subtree(scan, "indexBounds") ?? {}),
    // COUNT_SCAN also counts the key that ends it.
    ...(ran && { keysExamined: scan.nReturned, seeks: new Int32(1), dupsTested: zero, dupsDropped: zero }),
  };
}

function intervals(bounds: Tree): Tree {
  const start = subtree(bounds, "startKey") ?? {};
  const end = subtree(bounds, "endKey") ?? {};
  const result: Tree = {};
  let open = false;
  for (const [name, value] of Object.entries(start)) {
    const from = text(value);
    const to = text(end[name]);
    if (open) {
      result[name] = ["[MinKey, MaxKey]"];
    } else if (from === to) {
      result[name] = [`[${from}, ${to}]`];
    } else {
      open = true;
      const left = bounds.startKeyInclusive === false ? "(" : "[";
      const right = bounds.endKeyInclusive === false ? ")" : "]";
      result[name] = [`${left}${from}, ${to}${right}`];
    }
  }
  return result;
}

function text(value: unknown): string {
  return describeValue(getField(toDocument({ value }), "value"));
}
