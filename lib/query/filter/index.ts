export { compileFilter, filterOf, type Filter } from "./compile.js";
export { filterDocument } from "./describe.js";
export { ALWAYS_FALSE, ALWAYS_TRUE, allOf, anyOf, type FilterNode, type PathNode } from "./node.js";
export type { Pattern } from "./regex.js";
