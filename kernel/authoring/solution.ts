/**
 * Solutions and stubs. An exercise's cell holds its solution between two marker lines:
 *
 * ```ts
 * const hot = await plot.distribution("library.readings");
 * // BEGIN SOLUTION
 * const answer = Math.max(...hot.shards.map((s) => s.documents));
 * // STUB: const answer: number = 0;
 * // END SOLUTION
 * ```
 *
 * The student gets `// YOUR CODE HERE` and the stub in its place, so that the notebook
 * compiles and runs to its end before anything is answered. A stub is written as
 * `// STUB:` lines inside the region, or as `:stub:` options of a cell with one region.
 */
import { AuthoringError } from "./error.js";
import type { CodeCell } from "./source.js";

/** A code cell in its two forms. */
export interface CellForms {
  student: string;
  solved: string;
  /** The solutions, one text a region, without their stub lines. */
  solutions: string[];
}

const BEGIN = /^(\s*)\/\/ BEGIN SOLUTION\s*$/;
const END = /^\s*\/\/ END SOLUTION\s*$/;
const STUB = /^\s*\/\/ STUB:(?: (.*))?$/;

/** Splits a cell into what the student gets and what the solved notebook has. */
export function cellForms(cell: CodeCell, file: string): CellForms {
  const student: string[] = [];
  const solved: string[] = [];
  const solutions: string[] = [];
  let region: { line: number; indent: string; lines: string[]; stub: string[] } | undefined;
  cell.code.split("\n").forEach((text, n) => {
    const line = cell.line + n;
    const begin = BEGIN.exec(text);
    if (begin) {
      if (region)
        throw new AuthoringError(file, line, `BEGIN SOLUTION inside the solution of line ${region.line}`);
      region = { line, indent: begin[1] ?? "", lines: [], stub: [] };
    } else if (END.test(text)) {
      if (!region) throw new AuthoringError(file, line, "END SOLUTION without BEGIN SOLUTION");
      const stub = region.stub.length > 0 ? region.stub : cell.options.stub;
      const { indent } = region;
      student.push(...["// YOUR CODE HERE", ...stub].map((code) => indent + code));
      solved.push(...region.lines);
      solutions.push(region.lines.join("\n"));
      region = undefined;
    } else if (region) {
      const stub = STUB.exec(text);
      if (stub) region.stub.push(stub[1] ?? "");
      else region.lines.push(text);
    } else if (/\b(BEGIN|END) SOLUTION\b/.test(text) || STUB.test(text)) {
      throw new AuthoringError(
        file,
        line,
        "a marker stands alone on its line: // BEGIN SOLUTION … // STUB: … // END SOLUTION",
      );
    } else {
      student.push(text);
      solved.push(text);
    }
  });
  if (region)
    throw new AuthoringError(
      file,
      (region as { line: number }).line,
      "this BEGIN SOLUTION has no END SOLUTION",
    );
  if (cell.options.stub.length > 0 && solutions.length !== 1) {
    throw new AuthoringError(
      file,
      cell.line,
      `:stub: needs exactly one solution in its cell, here are ${solutions.length}`,
    );
  }
  return { student: student.join("\n"), solved: solved.join("\n"), solutions };
}
