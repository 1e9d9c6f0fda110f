/**
 * What tests of the kernel share: the compiled programs that child processes run,
 * folders that go away, and a notebook in a line.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { Session } from "../../kernel/session/index.js";
import type { CellOutcome, ExecuteOptions, SessionOptions } from "../../kernel/session/index.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Where the compiled package is; the test scripts compile it first. */
const dist = resolve(root, process.env.SHARDLAB_TEST_DIST ?? "dist");

/** The executor's process. */
export const executorProgram = join(dist, "kernel/executor/child.js");
/** The command line. */
export const cli = join(dist, "kernel/cli/main.js");

/** What the file's tests have opened: a test may do so at any moment, `afterAll` only counts up front. */
const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

/** An empty folder with files in it, removed after the tests of the file. */
export async function folderWith(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shardlab-kernel-"));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** A session that counts its cells, closed after the tests of the file. */
export class TestSession {
  readonly session: Session;
  #count = 0;

  constructor(options: Omit<SessionOptions, "program">) {
    this.session = new Session({ ...options, program: executorProgram });
    cleanUps.push(() => this.session.close());
  }

  /** Runs a cell, named by its number. */
  run(source: string, options: ExecuteOptions = {}): Promise<CellOutcome> {
    return this.session.execute({ name: `cell ${++this.#count}`, source }, options);
  }
}

/** What a cell printed on stdout. */
export function printed(outcome: CellOutcome): string {
  return outcome.outputs.map((output) => (output.output_type === "stream" ? output.text : "")).join("");
}

/** The text of a cell's result. */
export function result(outcome: CellOutcome): unknown {
  const shown = outcome.outputs.find((output) => output.output_type === "execute_result");
  return shown?.output_type === "execute_result" ? shown.data["text/plain"] : undefined;
}

/** How a cell ended, in one line: its result, or its error with its place. */
export function ending({ status, error, ...outcome }: CellOutcome): string {
  if (error === undefined) return String(result({ status, ...outcome }));
  const place = error.line === undefined ? "" : ` at ${error.cell}:${error.line}:${error.column}`;
  return `${error.name}: ${error.message}${place}`;
}

/** A notebook file's content: strings that begin with `#` are markdown, the others code. */
export function notebook(cells: readonly string[], metadata: object = {}): string {
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: "shardlab", display_name: "Shardlab (TypeScript)", language: "typescript" },
      ...metadata,
    },
    cells: cells.map((source, index) =>
      source.startsWith("#")
        ? { id: `text-${index}`, cell_type: "markdown", metadata: {}, source: [source] }
        : {
            id: `code-${index}`,
            cell_type: "code",
            metadata: { own: { kept: index } },
            source: [source],
            execution_count: null,
            outputs: [],
          },
    ),
  });
}

/** Does a process run? */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
