/**
 * What running a cell gives: plain data, the same for every front end.
 *
 * Nobody parses text to learn how a cell went. A type error is a
 * {@link Diagnostic}, a thrown value is a {@link CellError}; both carry the
 * cell's own line and column, and both have a `text` to show to a person.
 */

/** An output by MIME type, as in the notebook format; `text/plain` is always present. */
export type MimeBundle = Record<string, unknown>;

/** One complaint of the compiler. Lines and columns count from 1. */
export interface Diagnostic {
  /** Name of the cell, or path of the local file, that it is about. */
  readonly where: string;
  readonly line: number;
  readonly column: number;
  /** TypeScript's number, e.g. 2322. */
  readonly code: number;
  readonly message: string;
  /** All of it for a person: position, message, the line and a caret under the fault. */
  readonly text: string;
}

/** What a cell threw. */
export interface CellError {
  /** Class of the error (`TypeError`), or `Error` for a thrown value that isn't one. */
  readonly name: string;
  readonly message: string;
  /** The error's own `code`, if it is a number or string (MongoDB's 11000, Node's ENOENT). */
  readonly code?: number | string;
  /** Where in a cell it happened: the innermost frame that belongs to a cell. Lines and columns count from 1. */
  readonly cell?: string;
  readonly line?: number;
  readonly column?: number;
  /** All of it for a person: message, the line with a caret, the cells' frames, library frames folded. */
  readonly text: string;
}

/** How a cell went. `ok` is false exactly if there are diagnostics or an error. */
export interface CellResult {
  readonly ok: boolean;
  /** The last expression's value, if there was one and it isn't `undefined`. */
  readonly value?: MimeBundle;
  readonly diagnostics: readonly Diagnostic[];
  readonly error?: CellError;
  /** Set when the cell ended because it was told to stop. */
  readonly interrupted?: boolean;
}

/** A cell to run. */
export interface Cell {
  /** What messages call it: "cell 3". */
  readonly name: string;
  readonly source: string;
}

/** Something a cell printed or displayed, in the order it happened. */
export type CellOutput =
  | { readonly type: "stream"; readonly name: "stdout" | "stderr"; readonly text: string }
  | { readonly type: "display"; readonly data: MimeBundle; readonly id?: string; readonly update?: boolean }
  /** A rejection nobody awaited, or an exception in a callback. */
  | { readonly type: "problem"; readonly error: CellError };
