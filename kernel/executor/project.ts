/**
 * The TypeScript side of a notebook: one LanguageService over virtual files
 * `__cell_N.mts` that stand in the notebook's folder.
 *
 * The current cell is the only root; it pulls in the earlier cells it needs by
 * the imports of its suffix. Imports resolve as at run time: from the notebook's
 * folder first, and for packages then from Shardlab's own installation, so that
 * `shardlab` and `mongodb` can be imported from a notebook anywhere.
 *
 * The types promise what Node 20 has: ES2023, Node's own, and disposables (which
 * Node's types bring and the compiler lowers). `Object.groupBy` is not among them.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type {
  CompilerOptions,
  Diagnostic,
  LanguageService,
  LanguageServiceHost,
  ModuleResolutionHost,
  Program,
  ResolutionMode,
  ResolvedModuleWithFailedLookupLocations,
  ResolvedProjectReference,
  SourceFile,
  StringLiteralLike,
} from "typescript";
import { ts } from "./typescript.js";

const compilerOptions: CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  strict: true,
  skipLibCheck: true,
  types: [],
  allowJs: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  preserveConstEnums: true,
  removeComments: true,
  sourceMap: true,
};

/** Running cells needs no documentation, and parsing that of all libraries is a tenth of the start. */
const documentation = ts.JSDocParsingMode.ParseForTypeErrors;

/**
 * Complaints that don't apply to cells: an untyped package (it is `any`), a JSON
 * import without attribute (the loader needs none), `<T>(x: T) => x` and `<T>x`,
 * which are reserved in .mts files only to be told from JSX.
 */
const ignored = new Set([7016, 1543, 7059, 7060]);

/** Folder of the installed `shardlab` package, which holds package.json. */
export const installation = dirname(createRequire(import.meta.url).resolve("shardlab/package.json"));

/** What the compiler says about a file. */
export interface Check {
  readonly program: Program;
  readonly file: SourceFile;
  /** Complaints about the file itself, then about local files it imports. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The compiler's view of one notebook. */
export class Project {
  readonly #folder: string;
  readonly #cells = new Map<string, string>();
  readonly #nodeTypes = nodeTypes();
  readonly #libraryResolutions = new Map<string, ResolvedModuleWithFailedLookupLocations>();
  /** Local files by the version in which they were found free of errors. */
  readonly #checkedLocals = new Map<string, string>();
  readonly #service: LanguageService;
  #root: string | undefined;

  /** @param folder absolute path of the notebook's folder */
  constructor(folder: string) {
    this.#folder = slashes(folder);
    this.#service = ts.createLanguageService(
      this.#host(),
      ts.createDocumentRegistry(ts.sys.useCaseSensitiveFileNames, this.#folder, documentation),
    );
  }

  /** Path of the virtual file of the n-th executed cell. */
  cellPath(n: number): string {
    return `${this.#folder}/__cell_${n}.mts`;
  }

  /** How another cell's suffix imports it. */
  cellModule(n: number): string {
    return `./__cell_${n}.mjs`;
  }

  /** Type-checks a cell's text under its virtual path. */
  check(path: string, text: string): Check {
    this.#cells.set(path, text);
    this.#root = path;
    const program = this.#service.getProgram();
    const file = program?.getSourceFile(path);
    if (program === undefined || file === undefined) throw new Error(`the compiler lost ${path}`);
    const own = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    const diagnostics = [...own, ...this.#checkLocals(program)].filter(isRelevant);
    return { program, file, diagnostics };
  }

  /** Forgets a cell that is not to be seen by later ones. */
  drop(path: string): void {
    this.#cells.delete(path);
  }

  /** Loads the compiler's libraries and the types every lesson uses, so that the first cell needn't wait. */
  prewarm(): void {
    const path = `${this.#folder}/__prewarm.mts`;
    const text = `import { MongoClient } from "mongodb"; import { startLab } from "shardlab"; [MongoClient, startLab];\n`;
    this.check(path, text);
    this.drop(path);
  }

  #checkLocals(program: Program): Diagnostic[] {
    const found: Diagnostic[] = [];
    for (const file of program.getSourceFiles()) {
      const path = file.fileName;
      if (file.isDeclarationFile || this.#cells.has(path) || path.includes("/node_modules/")) continue;
      if (path.endsWith(".json") || program.isSourceFileFromExternalLibrary(file)) continue;
      const version = fileVersion(path);
      if (this.#checkedLocals.get(path) === version) continue;
      const complaints = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
      if (complaints.some(isRelevant)) found.push(...complaints);
      else this.#checkedLocals.set(path, version);
    }
    return found;
  }

  #host(): LanguageServiceHost {
    const cells = this.#cells;
    const folder = this.#folder;
    const host: LanguageServiceHost = {
      getCompilationSettings: () => compilerOptions,
      jsDocParsingMode: documentation,
      getScriptFileNames: () => [this.#nodeTypes, ...(this.#root ? [this.#root] : [])],
      // A cell's text never changes under its name; library files don't change while a notebook runs.
      getScriptVersion: (path) => {
        const cell = cells.get(path);
        if (cell !== undefined) return `${cell.length}:${cell}`;
        return path.includes("/node_modules/") ? "1" : fileVersion(path);
      },
      getScriptSnapshot: (path) => {
        const text = cells.get(path) ?? ts.sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
      fileExists: (path) => cells.has(path) || ts.sys.fileExists(path),
      readFile: (path) => cells.get(path) ?? ts.sys.readFile(path),
      directoryExists: (path) => path === folder || ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
      realpath: (path) => (cells.has(path) ? path : (ts.sys.realpath?.(path) ?? path)),
      useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
      resolveModuleNameLiterals: (literals, from, redirect, options, file) =>
        literals.map((literal) =>
          this.#resolve(literal.text, from, redirect, options, modeOf(literal, file, options), host),
        ),
    };
    return host;
  }

  #resolve(
    specifier: string,
    from: string,
    redirect: ResolvedProjectReference | undefined,
    options: CompilerOptions,
    mode: ResolutionMode,
    host: ModuleResolutionHost,
  ): ResolvedModuleWithFailedLookupLocations {
    const resolve = (containing: string) =>
      ts.resolveModuleName(specifier, containing, options, host, undefined, redirect, mode);
    if (from.includes("/node_modules/")) {
      const key = `${mode}\0${specifier}\0${from}`;
      const known = this.#libraryResolutions.get(key) ?? resolve(from);
      this.#libraryResolutions.set(key, known);
      return known;
    }
    const found = resolve(from);
    if (found.resolvedModule !== undefined || isPath(specifier)) return found;
    const own = resolve(join(installation, "__cell.mts"));
    return own.resolvedModule === undefined ? found : own;
  }
}

/** Is it a path rather than a package's name? */
export function isPath(specifier: string): boolean {
  return /^(\.{0,2}\/|\.{1,2}$|file:|[a-zA-Z]:[\\/])/.test(specifier);
}

/** Forward slashes, as the compiler wants its paths. */
export function slashes(path: string): string {
  return path.replaceAll("\\", "/");
}

function isRelevant(diagnostic: Diagnostic): boolean {
  return diagnostic.category === ts.DiagnosticCategory.Error && !ignored.has(diagnostic.code);
}

function modeOf(literal: StringLiteralLike, file: SourceFile, options: CompilerOptions): ResolutionMode {
  return ts.getModeForUsageLocation(file, literal, options);
}

function fileVersion(path: string): string {
  return String(ts.sys.getModifiedTime?.(path)?.getTime() ?? 1);
}

function nodeTypes(): string {
  const manifest = createRequire(join(installation, "package.json")).resolve("@types/node/package.json");
  return slashes(join(dirname(manifest), "index.d.ts"));
}
