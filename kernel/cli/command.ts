/**
 * What a command of `shardlab` is.
 *
 * One file a command: `kernel/cli/run.ts` exports `command`, and `main.ts`
 * loads that file only when its command is asked for, so that `shardlab --help`
 * never starts a compiler or a cluster. A command file therefore imports what
 * is heavy inside `run`, not at its top.
 *
 * Two ways to fail: return an exit code after having said what happened, or
 * throw a {@link CliError}, which `main.ts` prints as one line on stderr:
 * `shardlab: <cause>; <remedy>`.
 */

/** One command of the command line. */
export interface Command {
  /** The word after `shardlab`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The help text of `shardlab NAME --help`: usage line, options with units and defaults, exit codes. */
  readonly usage: string;
  /**
   * Does it. `main.ts` has handled `--help` already.
   *
   * @param args the words after the command's name
   * @returns the exit code of the process
   * @throws {@link CliError} for anything the user can put right
   */
  run(args: string[]): Promise<number>;
}

/** Exit codes that mean the same in every command. */
export const ExitCode = {
  ok: 0,
  /** It ran, and what it ran failed: a cell threw, a file can't be written. */
  failed: 1,
  /** It was called in a way that can't work: unknown command, option, value. */
  usage: 2,
  /** 128 + SIGINT. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const;

/** A failure that the user can put right: one line that names the cause and what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  /** What the process exits with; {@link ExitCode.usage} unless told otherwise. */
  readonly exitCode: number;

  /**
   * @param message `<cause>; <remedy>`, without a line break, e.g.
   *   `no notebook at x.ipynb; check the path`
   * @param exitCode exit code of the process, never 0
   */
  constructor(message: string, exitCode: number = ExitCode.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * What Node's `parseArgs` complains about, as one line of ours.
 *
 * @param command the command's name
 * @param error what `parseArgs` has thrown
 */
export function wrongOptions(command: string, error: unknown): CliError {
  const { message } = error as Error;
  const ambiguous = /^Option '([^']*)' argument is ambiguous/.exec(message)?.[1];
  const cause =
    ambiguous === undefined
      ? message.split(/\.(?:\s|$)|\n/)[0]!
      : `what follows ${ambiguous} begins with a dash; if it is meant as its value, write ${ambiguous}=VALUE`;
  return new CliError(`${cause}; \`shardlab ${command} --help\` lists the options`);
}
