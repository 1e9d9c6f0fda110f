/**
 * Local files that a notebook imports: TypeScript or JavaScript beside it.
 *
 * Node 20 can't load TypeScript and never loads a file twice, so these files are
 * compiled here and loaded again when they, or a file they import, have changed.
 * Each becomes the body of an async function with `require` and `exports`
 * (TypeScript's CommonJS output), whose imports were awaited before it runs.
 * Through `exports` the bindings stay live, and cycles work as in CommonJS: the
 * file that closes a cycle sees what the other has exported so far.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import type { Node, SourceFile, TransformerFactory } from "typescript";
import { guard } from "./guard.js";
import type { Namespace } from "./modules.js";
import { slashes } from "./project.js";
import { register } from "./stack.js";
import { ts } from "./typescript.js";

/** What compiled code calls to find out whether it should stop. */
export interface LocalRuntime {
  readonly flag: Int32Array;
  readonly stop: () => void;
}

interface LocalModule {
  readonly path: string;
  readonly version: string;
  readonly exports: Namespace;
  readonly imports: Set<LocalModule>;
  ready: Promise<Namespace>;
}

/** Source files that may stand where an import names another extension, as TypeScript has it. */
const sources: Record<string, readonly string[]> = {
  ".js": [".js", ".ts"],
  ".mjs": [".mjs", ".mts"],
  ".ts": [".ts"],
  ".mts": [".mts"],
};

/** The local modules of one notebook. */
export class LocalModules {
  readonly #folder: string;
  readonly #runtime: LocalRuntime;
  readonly #loadAny: (specifier: string, from: string) => Promise<Namespace>;
  readonly #modules = new Map<string, LocalModule>();

  constructor(
    folder: string,
    runtime: LocalRuntime,
    loadAny: (specifier: string, from: string) => Promise<Namespace>,
  ) {
    this.#folder = folder;
    this.#runtime = runtime;
    this.#loadAny = loadAny;
  }

  /**
   * Loads a local file, or gives undefined for what Node should load itself.
   *
   * @param path as written in the import, relative to `from` or absolute
   */
  async load(path: string, from: string): Promise<Namespace | undefined> {
    return this.#load(path, from, []);
  }

  async #load(path: string, from: string, importers: LocalModule[]): Promise<Namespace | undefined> {
    const found = findSource(resolve(from, path));
    if (found === undefined) return undefined;
    if (found.endsWith(".json")) return { default: JSON.parse(readFileSync(found, "utf8")) as unknown };
    let module = this.#modules.get(found);
    if (module === undefined || (!importers.includes(module) && !this.#isFresh(module, new Set()))) {
      module = this.#start(found, importers);
    }
    importers.at(-1)?.imports.add(module);
    // In a cycle nobody may wait for a file that waits for it.
    return importers.includes(module) ? module.exports : module.ready;
  }

  #isFresh(module: LocalModule, seen: Set<LocalModule>): boolean {
    if (seen.has(module)) return true;
    seen.add(module);
    return (
      version(module.path) === module.version && [...module.imports].every((one) => this.#isFresh(one, seen))
    );
  }

  #start(path: string, importers: LocalModule[]): LocalModule {
    const exports: Namespace = Object.defineProperty({}, "__esModule", { value: true });
    const module: LocalModule = {
      path,
      version: version(path),
      exports,
      imports: new Set(),
      ready: Promise.resolve(exports),
    };
    this.#modules.set(path, module);
    module.ready = this.#evaluate(module, importers).catch((error: unknown) => {
      this.#modules.delete(path); // the next import tries again
      throw error;
    });
    return module;
  }

  async #evaluate(module: LocalModule, importers: LocalModule[]): Promise<Namespace> {
    const { path, exports } = module;
    const folder = dirname(path);
    const text = readFileSync(path, "utf8");
    const compiled = compile(path, text);
    register(path, { where: slashes(relative(this.#folder, path)), isCell: false, text, map: compiled.map });
    const load = async (specifier: string): Promise<Namespace> => {
      const local =
        /^\.{0,2}\//.test(specifier) && (await this.#load(specifier, folder, [...importers, module]));
      return local || asRequired(await this.#loadAny(specifier, folder));
    };
    // An import of which only types are used was dropped by the compiler; failing to load it is no fault.
    const loaded = new Map<string, { value?: Namespace; error?: unknown }>();
    for (const specifier of compiled.imports) {
      loaded.set(
        specifier,
        await load(specifier).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        ),
      );
    }
    const require = (specifier: string): unknown => {
      const known = loaded.get(specifier);
      if (known === undefined) return createRequire(path)(specifier) as unknown;
      if (known.value === undefined) throw known.error;
      return known.value;
    };
    const meta = { url: pathToFileURL(path).href, filename: path, dirname: folder };
    const script = new vm.Script(
      `(async function (exports, require, $$import, $$meta, $$flag, $$stop) {\n${compiled.js}\n})`,
      {
        filename: path,
        lineOffset: -1,
      },
    );
    const body = script.runInThisContext() as (...args: unknown[]) => Promise<void>;
    await body.call(undefined, exports, require, load, meta, this.#runtime.flag, this.#runtime.stop);
    return exports;
  }
}

function findSource(path: string): string | undefined {
  const extension = extname(path);
  if (extension === ".json") return existsSync(path) ? path : undefined;
  const stem = path.slice(0, path.length - extension.length);
  return sources[extension]?.map((candidate) => stem + candidate).find((candidate) => existsSync(candidate));
}

function version(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "gone" : `${stats.mtimeMs}:${stats.size}`;
}

/** A namespace of Node's loader in the shape that compiled `require` calls expect. */
function asRequired(namespace: Namespace): Namespace {
  if (namespace.__esModule === true) return namespace;
  const facade: Namespace = Object.defineProperty({}, "__esModule", { value: true });
  for (const name of Object.keys(namespace)) {
    Object.defineProperty(facade, name, { get: () => namespace[name], enumerable: true });
  }
  return facade;
}

function compile(path: string, text: string): { js: string; map: string; imports: string[] } {
  const imports: string[] = [];
  const before: TransformerFactory<SourceFile> = (context) => (file) => {
    for (const statement of file.statements) {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
      const { moduleSpecifier } = statement;
      if (moduleSpecifier && ts.isStringLiteral(moduleSpecifier)) imports.push(moduleSpecifier.text);
    }
    const f = context.factory;
    const visit = (node: Node): Node => {
      if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword)
        return f.createIdentifier("$$meta");
      const visited = ts.visitEachChild(node, visit, context);
      if (ts.isCallExpression(visited) && visited.expression.kind === ts.SyntaxKind.ImportKeyword) {
        return f.updateCallExpression(visited, f.createIdentifier("$$import"), undefined, visited.arguments);
      }
      return guard(visited, f);
    };
    return ts.visitNode(file, visit) as SourceFile;
  };
  // The .ts name makes the compiler treat every file alike, whatever package.json says about .js and .mts.
  const output = ts.transpileModule(text, {
    fileName: join(dirname(path), "module.ts"),
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.CommonJS,
      ignoreDeprecations: "6.0",
      esModuleInterop: true,
      sourceMap: true,
      removeComments: true,
    },
    transformers: { before: [before] },
  });
  return {
    js: output.outputText.replace(/\/\/# sourceMappingURL=.*\s*$/, ""),
    map: output.sourceMapText ?? "{}",
    imports,
  };
}
