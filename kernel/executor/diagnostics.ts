/**
 * The compiler's complaints as a person reads them:
 *
 *     cell 3:2:7 - error TS2322: Type 'string' is not assignable to type 'number'.
 *     2 | const n: number = "x";
 *       |       ^
 */
import type { Diagnostic as CompilerDiagnostic } from "typescript";
import type { Diagnostic } from "./result.js";
import { ts } from "./typescript.js";

/** A file the complaint may be about, as the user knows it. */
export interface KnownFile {
  /** "cell 3", or the path of a local file. */
  readonly where: string;
  /** Its text as the user wrote it. */
  readonly text: string;
}

/**
 * Turns a complaint into plain data.
 *
 * @param fileOf what the user calls the file, and its text
 * @param hint a sentence to put behind the message, if there is one to give
 */
export function readDiagnostic(
  diagnostic: CompilerDiagnostic,
  fileOf: (path: string) => KnownFile | undefined,
  hint?: (diagnostic: CompilerDiagnostic) => string | undefined,
): Diagnostic {
  const path = diagnostic.file?.fileName ?? "";
  const { where, text } = fileOf(path) ?? { where: path, text: diagnostic.file?.text ?? "" };
  // An unclosed bracket is found behind the cell's end; point at its last character.
  const start = Math.min(diagnostic.start ?? 0, text.trimEnd().length);
  const { line, column } = positionAt(text, start);
  const added = hint?.(diagnostic);
  const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n") + (added ? ` ${added}` : "");
  const head = `${where}:${line}:${column} - error TS${diagnostic.code}: ${message}`;
  const shown = excerpt(text, line, column, diagnostic.length ?? 1);
  return { where, line, column, code: diagnostic.code, message, text: `${head}\n${shown}` };
}

/** The complaint about a cell that declares a name which compiled cells use themselves. */
export function reservedName(name: string, { where, text }: KnownFile): Diagnostic {
  const { line, column } = positionAt(text, Math.max(0, text.indexOf(name)));
  const message = `'${name}' is reserved in notebooks; choose another name.`;
  const head = `${where}:${line}:${column} - error TS2457: ${message}`;
  const shown = excerpt(text, line, column, name.length);
  return { where, line, column, code: 2457, message, text: `${head}\n${shown}` };
}

/** Line and column of an offset, from 1. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|[\n\r\u2028\u2029]/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/**
 * One line of a text with carets under a part of it. Tabs stay tabs in the
 * caret's line, so that it lines up however wide they are shown.
 *
 * @param line from 1
 * @param column from 1
 * @param length characters to underline; cut at the line's end
 */
export function excerpt(text: string, line: number, column: number, length = 1): string {
  const source = text.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1] ?? "";
  const gutter = String(line);
  const indent = source.slice(0, column - 1).replace(/[^\t]/g, " ");
  const carets = "^".repeat(Math.max(1, Math.min(length, source.length - column + 1)));
  return `${gutter} | ${source}\n${" ".repeat(gutter.length)} | ${indent}${carets}`;
}
