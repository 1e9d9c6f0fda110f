/** A notebook can't be run or written for a reason that its user can put right: `<cause>; <remedy>`, one line. */
export class RunnerError extends Error {
  override readonly name = "RunnerError";

  constructor(
    cause: string,
    readonly remedy: string,
  ) {
    super(`${cause}; ${remedy}`);
  }
}
