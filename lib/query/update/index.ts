export { compileUpdate, type Update, type UpdateOptions } from "./compile.js";
export type { UpdateContext } from "./context.js";
export { upsertDocument, type UpsertContext } from "./upsert.js";
