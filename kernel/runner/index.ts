/** Headless runs of notebooks, and their export as web pages. */
export { RunnerError } from "./error.js";
export { prepareFolder, writeFiles } from "./files.js";
export type { ResultFile } from "./files.js";
export { readNotebook, serializeNotebook } from "./notebook.js";
export type { Notebook, NotebookCell } from "./notebook.js";
export { runNotebook } from "./run.js";
export type { CellReport, NotebookRun, RunOptions } from "./run.js";
