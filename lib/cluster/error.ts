/**
 * A cluster could not be started, reached or asked.
 *
 * The message is one line, `<cause>; <remedy>`, fit for a notebook and for the
 * command line. `code` is for programs: it never changes with the wording.
 */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  /** One of {@link ClusterErrorCode}, or the system's code for a port (`EADDRINUSE`, …). */
  readonly code: string;
  /** What to do about it. */
  readonly remedy: string;

  constructor(code: string, cause: string, remedy: string, options?: { cause?: unknown }) {
    super(`${cause}; ${remedy}`, options);
    this.code = code;
    this.remedy = remedy;
  }

  /** The same error on the other side of a process boundary. */
  static from(told: { message: string; code: string; remedy: string }): ClusterError {
    const suffix = `; ${told.remedy}`;
    const cause = told.message.endsWith(suffix) ? told.message.slice(0, -suffix.length) : told.message;
    return new ClusterError(told.code, cause, told.remedy);
  }
}

/** Codes of {@link ClusterError}, each with what it means. */
export const ClusterErrorCode = {
  /** An option has a value that can't work. */
  badOption: "bad-option",
  /** No engine of that name exists. */
  unknownEngine: "unknown-engine",
  /** The engine exists in the design and not in this version. */
  engineUnavailable: "engine-unavailable",
  /** A part of the cluster did not come up. */
  startFailed: "start-failed",
  /** The lab host process is gone or could not be started. */
  hostGone: "host-gone",
  /** No lab of that number is open in the host. */
  unknownLab: "unknown-lab",
} as const;
