/** The executor: TypeScript cells in, results out. Its process is `child.ts`; `kernel/session` runs it. */
export type { Cell, CellError, CellOutput, CellResult, Diagnostic, MimeBundle } from "./result.js";
export { requestLine } from "./interrupt.js";
export type { StopRequest } from "./interrupt.js";
export { controlPipe } from "./messages.js";
export type { Order, Report } from "./messages.js";
