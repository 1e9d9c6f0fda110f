/** A fault in a lesson's source: says where, what, and what to write instead. */
export class AuthoringError extends Error {
  override readonly name = "AuthoringError";
  /** The source file, as the author named it. */
  readonly file: string;
  /** Line in it, from 1. */
  readonly line: number;

  constructor(file: string, line: number, text: string) {
    super(`${file}:${line}: ${text}`);
    this.file = file;
    this.line = line;
  }
}
