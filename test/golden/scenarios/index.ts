/** All scenarios, in the order in which they are best read. */
import type { Scenario } from "../scenario.js";
import { aggregation } from "./aggregation.js";
import { arraysAndDottedFields } from "./arraysAndDottedFields.js";
import { collations } from "./collation.js";
import { compoundHashedKey } from "./compoundHashedKey.js";
import { compoundKey } from "./compoundKey.js";
import { countsAndDistinct } from "./countsAndDistinct.js";
import { hashedKey } from "./hashedKey.js";
import { inserts } from "./inserts.js";
import { joins } from "./joins.js";
import { keyChanges } from "./keyChanges.js";
import { merging } from "./merging.js";
import { multiWrites } from "./multiWrites.js";
import { nullAndMissing } from "./nullAndMissing.js";
import { OLDER_RULES } from "./olderRules.js";
import { rangedKey } from "./rangedKey.js";
import { singleWrites } from "./singleWrites.js";
import { unsharded } from "./unsharded.js";
import { upserts } from "./upserts.js";

export const SCENARIOS: readonly Scenario[] = [
  rangedKey,
  hashedKey,
  compoundKey,
  compoundHashedKey,
  nullAndMissing,
  arraysAndDottedFields,
  inserts,
  singleWrites,
  multiWrites,
  upserts,
  keyChanges,
  merging,
  countsAndDistinct,
  aggregation,
  joins,
  unsharded,
  collations,
  ...OLDER_RULES,
];
