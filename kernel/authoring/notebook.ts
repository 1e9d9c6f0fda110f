/**
 * The file format: Jupyter notebooks, nbformat 4.5, written as Jupyter itself writes
 * them (keys sorted, one space of indent, sources as arrays of lines), so that saving
 * in Jupyter changes nothing but what the student typed.
 */

/** A notebook without outputs. */
export interface Notebook {
  nbformat: 4;
  nbformat_minor: 5;
  metadata: Record<string, unknown>;
  cells: NotebookCell[];
}

/** One cell. */
export interface NotebookCell {
  /** 1–64 characters of `[A-Za-z0-9_-]`, unique in the notebook. */
  id: string;
  cell_type: "markdown" | "code";
  metadata: Record<string, unknown>;
  source: string[];
  execution_count?: null;
  outputs?: never[];
}

/** nbgrader's metadata, schema 3. */
export interface NbgraderMetadata {
  schema_version: 3;
  grade_id: string;
  grade: boolean;
  solution: boolean;
  locked: boolean;
  task: boolean;
  points?: number;
}

/** Metadata of every Shardlab notebook but its own `shardlab` field. */
export const NOTEBOOK_METADATA = {
  kernelspec: { name: "shardlab", display_name: "Shardlab (TypeScript)", language: "typescript" },
  language_info: {
    name: "typescript",
    file_extension: ".ts",
    mimetype: "text/typescript",
    pygments_lexer: "typescript",
    codemirror_mode: { name: "javascript", typescript: true },
  },
} as const;

/** A text as nbformat's array of lines. */
export function sourceLines(text: string): string[] {
  const lines = text.split("\n");
  return lines.map((line, n) => (n < lines.length - 1 ? `${line}\n` : line)).filter((line) => line !== "");
}

/** The file's content: stable for equal notebooks, ends in a newline. */
export function serializeNotebook(notebook: Notebook): string {
  return `${JSON.stringify(sorted(notebook), undefined, 1)}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]),
  );
}
