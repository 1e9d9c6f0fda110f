/** From a lesson's source to the notebooks that students open. */
export { assemble, slug } from "./assemble.js";
export type { NotebookForm } from "./assemble.js";
export { buildNotebook, compiledChecks, findDrift, findLessons, writeIfChanged } from "./build.js";
export type { ChecksLoader, Drift, LessonFile } from "./build.js";
export { AuthoringError } from "./error.js";
export { NOTEBOOK_METADATA, serializeNotebook, sourceLines } from "./notebook.js";
export type { NbgraderMetadata, Notebook, NotebookCell } from "./notebook.js";
export { cellForms } from "./solution.js";
export { parseSource } from "./source.js";
export type { CellOptions, CodeCell, LessonSource, MarkdownCell, SourceCell } from "./source.js";
