/**
 * Runs TypeScript cells: text → diagnostics → JavaScript → result.
 *
 *     source.ts       what a cell declares and mentions; `export` blanked out
 *     names.ts        what earlier cells declared, put behind the text
 *     project.ts      the compiler's check, in the notebook's folder
 *     transform.ts    top-level names → properties of the cells' scope; guard.ts
 *     here            run it, as the body of an async function in this realm
 *     stack.ts        errors in terms of the cells; mime.ts values as outputs
 *
 * A cell that doesn't compile doesn't run. A cell that throws keeps what it had
 * declared up to there, and its other names stay unknown to later cells.
 */
import { createRequire } from "node:module";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import type { Diagnostic as CompilerDiagnostic } from "typescript";
import { Scope } from "./cellScope.js";
import { readDiagnostic, reservedName } from "./diagnostics.js";
import type { KnownFile } from "./diagnostics.js";
import { CellInterrupted } from "./interrupt.js";
import type { CellRun, Interrupts } from "./interrupt.js";
import { bundleOf } from "./mime.js";
import { Modules } from "./modules.js";
import { Names } from "./names.js";
import { isPath, Project, slashes } from "./project.js";
import type { Cell, CellResult, Diagnostic } from "./result.js";
import { readCell } from "./source.js";
import type { CellSource, NameKind } from "./source.js";
import { compiledFile, readError, register } from "./stack.js";
import { cellTransformer, parameters, withoutModuleMark } from "./transform.js";
import { ts } from "./typescript.js";

/** What `code` became, or why it didn't. */
type Compiled =
  | { readonly code: (...args: unknown[]) => Promise<{ value: unknown } | undefined> }
  | { readonly diagnostics: readonly Diagnostic[] };

const cannotFindModule = 2307;
const cannotFindName = new Set([2304, 2552, 2503, 2749]);

/** The cells of one notebook, in one process. */
export class Executor {
  readonly #folder: string;
  readonly #project: Project;
  readonly #names = new Names();
  readonly #scope = new Scope();
  readonly #modules: Modules;
  readonly #interrupts: Interrupts;
  /** Names that a cell would have declared, had it finished. */
  readonly #unfinished = new Map<string, string>();
  /** Is an import of the running cell still on its way? */
  #linking = false;

  /**
   * @param folder absolute path of the notebook's folder: where imports start
   * @param interrupts the requests to stop
   */
  constructor(folder: string, interrupts: Interrupts) {
    this.#folder = folder;
    this.#interrupts = interrupts;
    this.#project = new Project(folder);
    this.#modules = new Modules(folder, { flag: interrupts.shared, stop: interrupts.stop });
  }

  /** Loads the compiler's libraries while nothing else is to do. */
  prewarm(): void {
    this.#project.prewarm();
  }

  /**
   * Compiles and runs a cell. Never rejects: whatever the cell does is in the result.
   *
   * @param run the context it runs in; its number must be new, and higher than those before
   * @param onStart told when it is compiled and begins to run
   */
  async run(cell: Cell, run: CellRun, onStart?: () => void): Promise<CellResult> {
    const source = readCell(cell.source);
    const compiled = this.#compile(cell, source, run.number);
    if ("diagnostics" in compiled) {
      this.#remember(cell, source);
      return { ok: false, diagnostics: compiled.diagnostics };
    }
    this.#scope.takeDeclared();
    this.#linking = false;
    onStart?.();
    try {
      const result = await this.#interrupts.run(run, () => compiled.code(...this.#arguments()));
      this.#commit(source, run.number, () => true);
      const value = bundleOf(result?.value);
      return { ok: true, diagnostics: [], ...(value ? { value } : {}) };
    } catch (error) {
      const declared = this.#scope.takeDeclared();
      this.#remember(cell, source);
      // Imports come first: whatever threw behind them found all of them done, the type-only ones too.
      const imported = !this.#linking;
      this.#commit(source, run.number, (name, kind) => declared.has(name) || (kind === "import" && imported));
      return {
        ok: false,
        diagnostics: [],
        error: readError(error),
        interrupted: error instanceof CellInterrupted,
      };
    }
  }

  #compile(cell: Cell, source: CellSource, number: number): Compiled {
    const path = this.#project.cellPath(number);
    const file = { where: cell.name, isCell: true, text: cell.source, map: "{}" };
    register(path, file);
    const explain = (all: readonly CompilerDiagnostic[]): Compiled => ({
      diagnostics: all.map((one) => readDiagnostic(one, this.#knownFile, this.#hint)),
    });
    if (source.syntaxErrors.length > 0) {
      const where = { where: cell.name, text: cell.source };
      return { diagnostics: source.syntaxErrors.map((one) => readDiagnostic(one, () => where)) };
    }
    const reserved = parameters.find((name) => source.declared.some((own) => own.name === name));
    if (reserved !== undefined) {
      return { diagnostics: [reservedName(reserved, { where: cell.name, text: cell.source })] };
    }
    const text = source.text + this.#names.suffix(source);
    const { program, file: checked, diagnostics } = this.#project.check(path, text);
    // The suffix is ours. What the parser stumbles over there is a cell that ends too early: `const a = await`.
    const syntax = new Set<CompilerDiagnostic>(program.getSyntacticDiagnostics(checked));
    const relevant = diagnostics.filter(
      (one) => one.file !== checked || (one.start ?? 0) < source.text.length || syntax.has(one),
    );
    if (relevant.length > 0) {
      this.#project.drop(path);
      return explain(relevant);
    }
    let js = "";
    let map = "{}";
    const shape = { length: source.text.length, isAmbient: (name: string) => this.#names.isAmbient(name) };
    const write = (name: string, output: string): void => {
      if (name.endsWith(".map")) map = output;
      else js = output.replace(/^#!.*/, "").replace(/\/\/# sourceMappingURL=.*\s*$/, "");
    };
    program.emit(checked, write, undefined, undefined, {
      before: [cellTransformer(program.getTypeChecker(), shape)],
      after: [withoutModuleMark],
    });
    register(path, { ...file, map });
    const names = [...parameters, "require", "__filename", "__dirname"].join(", ");
    // The block lets a cell declare `require` or `__filename` itself, as modules do.
    const script = new vm.Script(`(async function (${names}) { "use strict"; {\n${js}\n}})`, {
      filename: path,
      lineOffset: -1,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const code = script.runInThisContext() as Exclude<Compiled, { diagnostics: unknown }>["code"];
    return { code: (...args) => code.call(undefined, ...args) };
  }

  /** In the order of `parameters` (transform.ts), then what a CommonJS file has. */
  #arguments(): unknown[] {
    const filename = `${this.#folder}/notebook.mts`;
    const require = createRequire(filename);
    const meta = { url: pathToFileURL(filename).href, filename, dirname: this.#folder };
    const load = (specifier: string, options?: ImportCallOptions) =>
      this.#modules.load(String(specifier), this.#folder, options);
    const { names, declare } = this.#scope;
    const { shared, stop } = this.#interrupts;
    return [names, declare, this.#link, load, shared, stop, meta, require, filename, this.#folder];
  }

  /** A static import: loads the module and puts live bindings into the scope. */
  readonly #link = async (
    specifier: string,
    names: readonly (readonly [string, string])[],
  ): Promise<void> => {
    this.#linking = true;
    const attributes = specifier.endsWith(".json") ? { with: { type: "json" } } : undefined;
    const module = await this.#modules.load(specifier, this.#folder, attributes);
    for (const [imported, local] of names) {
      if (imported === "*") {
        this.#scope.import(local, () => module);
      } else if (imported in module) {
        this.#scope.import(local, () => module[imported]);
      } else {
        throw new SyntaxError(`The module '${specifier}' does not export '${imported}'`);
      }
    }
    this.#linking = false;
  };

  #commit(source: CellSource, number: number, isThere: (name: string, kind: NameKind) => boolean): void {
    const alive = source.declared.filter(
      ({ name, kind }) => kind === "type" || kind === "ambient" || isThere(name, kind),
    );
    for (const { name } of alive) this.#unfinished.delete(name);
    this.#names.commit(this.#project.cellModule(number), alive);
  }

  #remember(cell: Cell, source: CellSource): void {
    for (const { name } of source.declared) this.#unfinished.set(name, cell.name);
  }

  /** A local file that was only checked is known by its path from the notebook. */
  readonly #knownFile = (path: string): KnownFile | undefined => {
    const known = compiledFile(path);
    if (known !== undefined) return known;
    const text = ts.sys.readFile(path);
    return text === undefined ? undefined : { where: slashes(relative(this.#folder, path)), text };
  };

  /** "Cannot find name" mostly means that the cell above failed. */
  readonly #hint = (diagnostic: CompilerDiagnostic): string | undefined => {
    const start = diagnostic.start ?? 0;
    const name = diagnostic.file?.text.slice(start, start + (diagnostic.length ?? 0)) ?? "";
    if (diagnostic.code === cannotFindModule && !isPath(name.slice(1))) {
      return `Is the package installed? \`npm install ${name.slice(1, -1)}\` in the notebook's folder adds it.`;
    }
    if (!cannotFindName.has(diagnostic.code)) return undefined;
    const cell = this.#unfinished.get(name);
    return cell && `It is declared in ${cell}, which did not finish.`;
  };
}
