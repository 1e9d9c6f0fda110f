/**
 * `shardlab run`: executes notebooks without a front end.
 *
 * Progress goes to stderr, in place on a terminal and as lines elsewhere; stdout
 * carries nothing but the summary of --json. A signal ends everything and leaves
 * no file half-written.
 */
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { CellReport, Notebook, NotebookRun } from "../runner/index.js";
import { CliError, ExitCode, wrongOptions } from "./command.js";
import type { Command } from "./command.js";

const usage = `Usage: shardlab run FILE… [OPTIONS]

Executes notebooks from top to bottom, each in a process of its own, and writes
the executed copies. A cell that fails ends its notebook; the cells after it are
not run. The notebooks themselves are not changed.

Options
  --out DIR        where the executed copies go, under the notebooks' own names
                   (default out)
  --html           also write each notebook as a web page that opens offline
  --engine NAME    engine of the clusters that the notebooks start, as in
                   \`shardlab cluster\` (default: SHARDLAB_ENGINE, else embedded)
  --timeout S      seconds a cell may take; 0 sets no limit (default 300)
  --jobs N         notebooks to run at the same time (default 1)
  --allow-errors   go on after a cell that failed
  --json           print one line of JSON on stdout when done:
                   {"ok","notebooks":[{"file","status","ms","out","html","cells":[…]}]},
                   status ok, failed or stopped; each cell {"number","id","status","ms",
                   "error"}, status ok, error, timeout, killed or not-run

A cell with the tag raises-exception is expected to fail and counts as ok.

Exit codes: 0 every cell ran, 1 a cell failed or a file can't be read or written,
2 a wrong option, 130 ended by Ctrl-C, 143 by SIGTERM.
`;

interface Options {
  readonly out: string;
  readonly html: boolean;
  readonly engine: string | undefined;
  readonly timeoutMs: number;
  readonly jobs: number;
  readonly allowErrors: boolean;
  readonly json: boolean;
}

/** A notebook on its way from its file to its results. */
interface Job {
  readonly file: string;
  readonly notebook: Notebook;
  readonly out: string;
  run?: NotebookRun;
  html?: string;
  written?: boolean;
}

export const command: Command = {
  name: "run",
  summary: "execute notebooks and write the executed copies, also as web pages",
  usage,

  async run(args) {
    const { files, options } = readArguments(args);
    if (options.engine !== undefined) await checkEngine(options.engine);
    const runner = await import("../runner/index.js");
    const jobs: Job[] = [];
    for (const file of files)
      jobs.push({ file, notebook: await runner.readNotebook(file), out: targetOf(file, options.out) });
    checkTargets(jobs);
    // Last, so that a call which can't work leaves no empty folder.
    await runner.prepareFolder(
      options.out,
      jobs.flatMap(({ out }) => (options.html ? [out, pageOf(out)] : [out])),
    );

    const abort = new AbortController();
    let exitCode: number = ExitCode.ok;
    const onSignal = (signal: NodeJS.Signals): void => {
      exitCode = signal === "SIGINT" ? ExitCode.interrupted : ExitCode.terminated;
      abort.abort();
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    const progress = new Progress(jobs.length > 1);
    try {
      await inParallel(jobs, options.jobs, async (job) => {
        if (abort.signal.aborted) return;
        await runJob(job, options, abort.signal, progress);
      });
    } finally {
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    }
    if (exitCode !== ExitCode.ok) {
      progress.line(
        `shardlab: stopped by ${exitCode === ExitCode.interrupted ? "SIGINT" : "SIGTERM"}; what had finished is written, nothing else`,
      );
    }
    const isOk = jobs.every(({ run }) => run?.status === "ok");
    if (options.json) process.stdout.write(`${JSON.stringify(summary(jobs, isOk))}\n`);
    if (exitCode !== ExitCode.ok) return exitCode;
    return isOk ? ExitCode.ok : ExitCode.failed;
  },
};

async function runJob(job: Job, options: Options, signal: AbortSignal, progress: Progress): Promise<void> {
  const { runNotebook, serializeNotebook, writeFiles } = await import("../runner/index.js");
  const run = await runNotebook(job.file, job.notebook, {
    timeoutMs: options.timeoutMs,
    allowErrors: options.allowErrors,
    env: options.engine === undefined ? {} : { SHARDLAB_ENGINE: options.engine },
    signal,
    onProgress: (cell, total) => progress.cell(job.file, cell, total),
  });
  job.run = run;
  if (run.status === "stopped") return;
  const results = [{ path: job.out, content: serializeNotebook(run.executed) }];
  if (options.html) {
    // The highlighter is TypeScript's scanner: loaded only where a page is asked for.
    const { exportHtml } = await import("../runner/html/index.js");
    job.html = pageOf(job.out);
    results.push({ path: job.html, content: exportHtml(run.executed, basename(job.file, ".ipynb")) });
  }
  await writeFiles(results);
  job.written = true;
  progress.done(
    job.file,
    run,
    results.map(({ path }) => path),
  );
}

function readArguments(args: string[]): { files: string[]; options: Options } {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        out: { type: "string", default: "out" },
        html: { type: "boolean", default: false },
        engine: { type: "string" },
        timeout: { type: "string", default: "300" },
        jobs: { type: "string", default: "1" },
        "allow-errors": { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw wrongOptions("run", error);
  }
  const { values, positionals } = parsed;
  if (positionals.length === 0) throw new CliError("no notebook given; name one: shardlab run FILE.ipynb");
  const timeout = Number(values.timeout);
  if (!(timeout >= 0 && timeout <= 86_400) || values.timeout.trim() === "") {
    throw new CliError(`--timeout can't be "${values.timeout}"; give seconds per cell, 0 to 86400`);
  }
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) {
    throw new CliError(`--jobs can't be "${values.jobs}"; give a whole number from 1 to 64`);
  }
  if (values.out === "") throw new CliError("--out is empty; name a folder");
  const options = {
    out: values.out,
    html: values.html,
    engine: values.engine,
    timeoutMs: timeout * 1000,
    jobs,
    allowErrors: values["allow-errors"],
    json: values.json,
  };
  return { files: positionals, options };
}

/** Before anything runs, as the first cell of every lesson would fail. */
async function checkEngine(engine: string): Promise<void> {
  const { ClusterError, resolveOptions } = await import("shardlab/cluster");
  try {
    resolveOptions({}, { SHARDLAB_ENGINE: engine });
  } catch (error) {
    throw error instanceof ClusterError ? new CliError(error.message) : error;
  }
}

function targetOf(file: string, out: string): string {
  return join(out, `${basename(file, extname(file))}.ipynb`);
}

function pageOf(out: string): string {
  return out.replace(/\.ipynb$/, ".html");
}

function checkTargets(jobs: readonly Job[]): void {
  const seen = new Map<string, string>();
  for (const { file, out } of jobs) {
    if (resolve(out) === resolve(file)) {
      throw new CliError(`--out ${dirname(out)} would overwrite ${file} itself; choose another folder`);
    }
    const other = seen.get(resolve(out));
    if (other !== undefined)
      throw new CliError(
        `${other} and ${file} would both become ${out}; run them one by one with different --out`,
      );
    seen.set(resolve(out), file);
  }
}

async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}

function summary(jobs: readonly Job[], ok: boolean): object {
  return {
    ok,
    notebooks: jobs.map(({ file, run, out, html, written }) => ({
      file,
      status: run?.status ?? "stopped",
      ms: run?.ms ?? 0,
      ...(written ? { out, ...(html ? { html } : {}) } : {}),
      cells: run?.cells ?? [],
    })),
  };
}

/** What is going on, on stderr. */
class Progress {
  readonly #inPlace = process.stderr.isTTY && process.env.TERM !== "dumb";
  readonly #several: boolean;
  #open = false;

  constructor(several: boolean) {
    this.#several = several;
  }

  cell(file: string, cell: CellReport, total: number): void {
    const head = `${this.#prefix(file)}cell ${cell.number} of ${total}  ${cell.id}`;
    if (cell.status === "running") {
      if (this.#inPlace) this.#replace(`${head} …`);
    } else if (cell.status === "ok" && this.#inPlace) {
      this.#replace(`${head}  ${seconds(cell.ms)}`);
    } else if (cell.status === "ok" || cell.expected) {
      this.line(`${head}  ${seconds(cell.ms)}`);
    } else {
      this.line(`${head}  ${cell.status}`);
    }
  }

  done(file: string, run: NotebookRun, written: readonly string[]): void {
    const failed = run.cells.find(({ status, expected }) => status !== "ok" && !expected);
    const where = written.map((path) => relative("", path) || path).join(", ");
    if (failed === undefined) {
      const count = `${run.cells.length} cell${run.cells.length === 1 ? "" : "s"}`;
      return this.line(`${this.#prefix(file)}ok: ${count} in ${seconds(run.ms)}; written to ${where}`);
    }
    const cause = failed.error ?? failed.status;
    const name = `cell ${failed.number} (${failed.id})`;
    this.line(
      `shardlab: ${file}: ${name} failed: ${cause}; put the cell right (see ${where}), or go on with --allow-errors`,
    );
  }

  line(text: string): void {
    if (this.#open) process.stderr.write("\r\u001b[K");
    this.#open = false;
    process.stderr.write(`${text}\n`);
  }

  #replace(text: string): void {
    const width = (process.stderr.columns || 80) - 1;
    process.stderr.write(`\r\u001b[K${text.slice(0, width)}`);
    this.#open = true;
  }

  #prefix(file: string): string {
    return this.#several ? `${basename(file, ".ipynb")}: ` : "";
  }
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
