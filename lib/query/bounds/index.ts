export { equalityValues, pinnedValue } from "./equality.js";
export {
  boundsContain,
  complement,
  describeInterval,
  FULL_RANGE,
  intersect,
  isFullRange,
  isPoint,
  point,
  unite,
  type FieldBounds,
  type Interval,
} from "./intervals.js";
export {
  keyBounds,
  keyBoundsBranches,
  type KeyBounds,
  type KeyBoundsOptions,
  type KeyField,
} from "./keyBounds.js";
