export { compileFilter, filterOf, type Filter } from "./compile.js";
export { filterDocument } from "./describe.js";
export { explainFailure } from "./failure.js";
export { implies, impliesExistence } from "./implies.js";
export { ALWAYS_FALSE, ALWAYS_TRUE, allOf, anyOf, type FilterNode, type PathNode } from "./node.js";
export { matchedPosition } from "./position.js";
export { compilePattern, type Pattern, type RegexMatch } from "./regex.js";
