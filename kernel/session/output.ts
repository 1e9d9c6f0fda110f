/** Outputs in the notebook format (nbformat 4.5), and how a cell's outputs add up. */
import type { CellError, CellOutput, Diagnostic, MimeBundle } from "../executor/index.js";

/** One output of a code cell, as it stands in an .ipynb file. */
export type Output =
  | { output_type: "stream"; name: "stdout" | "stderr"; text: string }
  | { output_type: "display_data"; data: MimeBundle; metadata: Record<string, unknown> }
  | {
      output_type: "execute_result";
      execution_count: number;
      data: MimeBundle;
      metadata: Record<string, unknown>;
    }
  | { output_type: "error"; ename: string; evalue: string; traceback: string[] };

/** The outputs of one session's cells, with the displays that later cells may update. */
export class OutputBook {
  readonly #displays = new Map<string, { data: MimeBundle }[]>();

  /** Adds what a cell put out to its list. Text joins the text before it. */
  add(list: Output[], output: CellOutput): void {
    switch (output.type) {
      case "stream": {
        const last = list.at(-1);
        if (last?.output_type === "stream" && last.name === output.name) last.text += output.text;
        else list.push({ output_type: "stream", name: output.name, text: output.text });
        return;
      }
      case "problem":
        list.push(errorOutput(output.error));
        return;
      case "display":
        this.#display(list, output);
    }
  }

  #display(list: Output[], { data, id, update }: Extract<CellOutput, { type: "display" }>): void {
    const shown = id === undefined ? undefined : this.#displays.get(id);
    if (shown !== undefined) for (const one of shown) one.data = data;
    // An update changes what is there; without anything there it is shown, so that nothing gets lost.
    if (update === true && shown !== undefined) return;
    const output: Output = { output_type: "display_data", data, metadata: {} };
    list.push(output);
    if (id !== undefined) this.#displays.set(id, [...(shown ?? []), output]);
  }
}

/** An error as an output. */
export function errorOutput(error: CellError): Output {
  return {
    output_type: "error",
    ename: error.name,
    evalue: error.message,
    traceback: error.text.split("\n"),
  };
}

/** The compiler's complaints about a cell as one error, which is how front ends show why a cell didn't run. */
export function diagnosticsError(diagnostics: readonly Diagnostic[]): CellError {
  const [first] = diagnostics;
  const more = diagnostics.length - 1;
  const message = first === undefined ? "" : `TS${first.code}: ${first.message}`;
  return {
    name: "TypeScriptError",
    message: more > 0 ? `${message} (and ${more} more)` : message,
    ...(first ? { cell: first.where, line: first.line, column: first.column } : {}),
    text: diagnostics.map(({ text }) => text).join("\n\n"),
  };
}
