export { compileUpdate, UPDATE_OPERATORS, type Update, type UpdateOptions } from "./compile.js";
export type { UpdateContext } from "./context.js";
export { fillTimestamps } from "./replacement.js";
export { refuseExprInUpsert, upsertDocument, type UpsertContext } from "./upsert.js";
