/**
 * Notebook files: Jupyter's format, nbformat 4.
 *
 * What isn't ours is carried through unchanged: ids, metadata, attachments and
 * fields nobody here has heard of. Only outputs and execution counts are written.
 */
import { readFile } from "node:fs/promises";
import type { Output } from "../session/index.js";
import { RunnerError } from "./error.js";

/** A notebook as it stands in its file. */
export interface Notebook {
  readonly nbformat: number;
  readonly nbformat_minor: number;
  readonly metadata: NotebookMetadata;
  readonly cells: readonly NotebookCell[];
}

/** The metadata that is looked at here; more may be there. */
export interface NotebookMetadata {
  readonly kernelspec?: {
    readonly name?: string;
    readonly display_name?: string;
    readonly language?: string;
  };
  readonly language_info?: { readonly name?: string };
  readonly title?: string;
}

/** A cell as it stands in its file. */
export interface NotebookCell {
  /** Absent before nbformat 4.5. */
  readonly id?: string;
  readonly cell_type: "markdown" | "code" | "raw";
  readonly metadata?: { readonly tags?: readonly string[] };
  readonly source: string | readonly string[];
  /** Markdown only: images by name, as MIME bundles. */
  readonly attachments?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Code only. */
  readonly execution_count?: number | null;
  readonly outputs?: readonly Output[];
}

/** A cell's text. */
export function sourceOf(cell: NotebookCell): string {
  return typeof cell.source === "string" ? cell.source : cell.source.join("");
}

/** Is there code to run in it? */
export function isRunnable(cell: NotebookCell): boolean {
  return cell.cell_type === "code" && sourceOf(cell).trim() !== "";
}

/**
 * Reads a notebook and makes sure that it is one, and one for this kernel.
 *
 * @throws RunnerError naming the file, what is wrong with it, and what to do
 */
export async function readNotebook(path: string): Promise<Notebook> {
  let content: unknown;
  try {
    // Some editors put a byte order mark in front.
    content = JSON.parse((await readFile(path, "utf8")).replace(/^\uFEFF/, ""));
  } catch (error) {
    throw unreadable(path, error);
  }
  const fault = faultOf(content);
  if (fault !== undefined)
    throw new RunnerError(
      `${path} is not a notebook: ${fault}`,
      "give a Jupyter notebook (.ipynb, nbformat 4)",
    );
  const notebook = content as Notebook;
  const language = languageOf(notebook.metadata);
  if (language !== undefined && language.toLowerCase() !== "typescript") {
    throw new RunnerError(
      `${path} is a notebook in ${language}, not in TypeScript`,
      'give one for the kernel "Shardlab (TypeScript)"',
    );
  }
  return notebook;
}

/** The notebook's file content: its own order of fields, indented as Jupyter does, with a newline at the end. */
export function serializeNotebook(notebook: Notebook): string {
  return `${JSON.stringify(notebook, undefined, 1)}\n`;
}

/** Outputs as Jupyter writes them: texts as arrays of lines, so that a difference is readable. */
export function outputsForFile(outputs: readonly Output[]): Output[] {
  return outputs.map((output) => {
    if (output.output_type === "stream") return { ...output, text: lines(output.text) as unknown as string };
    if (output.output_type === "error") return output;
    const data = Object.entries(output.data).map(([type, value]) => [
      type,
      typeof value === "string" && type.startsWith("text/") ? lines(value) : value,
    ]);
    return { ...output, data: Object.fromEntries(data) as Output extends { data: infer D } ? D : never };
  });
}

function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function unreadable(path: string, error: unknown): RunnerError {
  if (error instanceof SyntaxError) {
    return new RunnerError(
      `${path} is not JSON (${error.message})`,
      "give a notebook file, or restore this one",
    );
  }
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
    case "ENOTDIR":
      return new RunnerError(`there is no notebook at ${path}`, "check the path");
    case "EISDIR":
      return new RunnerError(
        `${path} is a folder`,
        `name the notebooks in it: ${path.replace(/\/$/, "")}/*.ipynb`,
      );
    case "EACCES":
    case "EPERM":
      return new RunnerError(`${path} may not be read`, "change its permissions");
    default:
      return new RunnerError(`${path} can't be read (${String(error)})`, "check the file and the disk");
  }
}

/** What keeps this from being a notebook. */
function faultOf(content: unknown): string | undefined {
  if (!isObject(content)) return "it holds no JSON object";
  if (typeof content.nbformat !== "number") return 'it has no "nbformat"';
  if (content.nbformat !== 4) return `its format is nbformat ${content.nbformat}`;
  if (!Array.isArray(content.cells)) return 'it has no list of "cells"';
  if (content.metadata !== undefined && !isObject(content.metadata)) return 'its "metadata" is no object';
  const cells: unknown[] = content.cells;
  for (const [index, cell] of cells.entries()) {
    const fault = cellFault(cell);
    if (fault !== undefined) return `cell ${index + 1} ${fault}`;
  }
  return undefined;
}

function cellFault(cell: unknown): string | undefined {
  if (!isObject(cell)) return "is no object";
  if (!["code", "markdown", "raw"].includes(String(cell.cell_type)))
    return 'has no "cell_type" that is known';
  const { source } = cell;
  const isText =
    typeof source === "string" || (Array.isArray(source) && source.every((line) => typeof line === "string"));
  return isText ? undefined : 'has no text as "source"';
}

function languageOf(metadata: NotebookMetadata | undefined): string | undefined {
  const language = metadata?.kernelspec?.language ?? metadata?.language_info?.name;
  return typeof language === "string" ? language : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
