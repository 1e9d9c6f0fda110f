/** A notebook's running state, for every front end. */
export { notRun, Session } from "./session.js";
export type { CellOutcome, CellStatus, ExecuteOptions, SessionCell, SessionOptions } from "./session.js";
export type { Output } from "./output.js";
