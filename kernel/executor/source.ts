/**
 * A cell's text before the compiler proper sees it: what it declares, what it
 * mentions, and the text with `export` blanked out.
 *
 * `export` means nothing in a cell (everything at the top level lives on), but
 * people paste code from modules. The keyword is replaced by as many spaces, so
 * that no position moves:
 *
 *     export const q = 5;        →         const q = 5;
 *     export default compute();  →                compute();
 *     export { a } from "./a.js" →  import { a } from "./a.js"
 */
import type {
  BindingName,
  DiagnosticWithLocation,
  HasModifiers,
  Identifier,
  ImportDeclaration,
  Node,
  SourceFile,
  Statement,
  VariableDeclarationList,
} from "typescript";
import { ts } from "./typescript.js";

/** What kind of thing a top-level name is; decides how later cells see it. */
export type NameKind =
  | "variable" // let, var: later cells may assign it
  | "constant"
  | "function"
  | "class" // class, enum, namespace: a value and a type at once
  | "type" // interface, type alias
  | "import"
  | "ambient"; // declare const …: promised to exist globally, nothing of ours

/** A top-level name of a cell. */
export interface DeclaredName {
  readonly name: string;
  readonly kind: NameKind;
}

/** A cell's text, prepared. */
export interface CellSource {
  /** Same length and lines as the original. */
  readonly text: string;
  readonly original: string;
  readonly declared: readonly DeclaredName[];
  /** Every identifier that occurs anywhere in the text. */
  readonly mentioned: ReadonlySet<string>;
  /** Errors of the parser; with any of these the rest is not to be relied on. */
  readonly syntaxErrors: readonly DiagnosticWithLocation[];
}

/** Prepares a cell's text. */
export function readCell(original: string): CellSource {
  const parsed = parse(original);
  const text = blankExports(original, parsed);
  const file = text === original ? parsed : parse(text);
  return {
    text,
    original,
    declared: declaredNames(file),
    mentioned: identifiers(file),
    // The compiler's public API gives these only through a whole program.
    syntaxErrors: (file as unknown as { parseDiagnostics: DiagnosticWithLocation[] }).parseDiagnostics,
  };
}

function parse(text: string): SourceFile {
  return ts.createSourceFile("cell.mts", text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
}

function blankExports(text: string, file: SourceFile): string {
  let result = text;
  const replace = (start: number, end: number, by = ""): void => {
    const blank = result.slice(start, end).replace(/[^\n\r]/g, " ");
    result = result.slice(0, start) + by + blank.slice(by.length) + result.slice(end);
  };
  for (const statement of file.statements) {
    if (ts.isExportAssignment(statement) && !statement.isExportEquals) {
      replace(statement.getStart(file), statement.expression.getStart(file));
    } else if (ts.isExportDeclaration(statement)) {
      const start = statement.getStart(file);
      if (statement.moduleSpecifier === undefined) replace(start, statement.end);
      else if (statement.exportClause !== undefined) replace(start, start + "export".length, "import");
    } else if (ts.canHaveModifiers(statement)) {
      for (const modifier of ts.getModifiers(statement) ?? []) {
        const { kind } = modifier;
        if (kind !== ts.SyntaxKind.ExportKeyword && kind !== ts.SyntaxKind.DefaultKeyword) continue;
        replace(modifier.getStart(file), modifier.end);
      }
    }
  }
  return result;
}

function declaredNames(file: SourceFile): DeclaredName[] {
  const kinds = new Map<string, NameKind>();
  const add = (name: string, kind: NameKind): void => {
    const known = kinds.get(name);
    // A type and a value of one name (interface Foo, const Foo) make both.
    const both = known !== undefined && known !== kind && (known === "type" || kind === "type");
    kinds.set(name, both ? "class" : kind);
  };
  for (const statement of file.statements) {
    if (ts.isVariableStatement(statement)) {
      const kind = isAmbient(statement) ? "ambient" : variableKind(statement.declarationList);
      for (const { name } of statement.declarationList.declarations) {
        for (const bound of boundNames(name)) add(bound.text, kind);
      }
    } else if (ts.isFunctionDeclaration(statement)) {
      if (statement.name) add(statement.name.text, isAmbient(statement) ? "ambient" : "function");
    } else if (ts.isClassDeclaration(statement)) {
      if (statement.name) add(statement.name.text, isAmbient(statement) ? "ambient" : "class");
    } else if (ts.isEnumDeclaration(statement)) {
      add(statement.name.text, isAmbient(statement) ? "ambient" : "class");
    } else if (ts.isModuleDeclaration(statement)) {
      if (ts.isIdentifier(statement.name) && statement.name.text !== "global") {
        add(statement.name.text, isAmbient(statement) ? "ambient" : "class");
      }
    } else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      add(statement.name.text, "type");
    } else if (ts.isImportEqualsDeclaration(statement)) {
      add(statement.name.text, "import");
    } else if (ts.isImportDeclaration(statement)) {
      for (const name of importedNames(statement)) add(name.text, "import");
    } else {
      for (const name of nestedVars(statement)) add(name.text, "variable");
    }
  }
  return [...kinds].map(([name, kind]) => ({ name, kind }));
}

function variableKind(list: VariableDeclarationList): NameKind {
  return (list.flags & ts.NodeFlags.BlockScoped) === 0 ||
    (list.flags & ts.NodeFlags.BlockScoped) === ts.NodeFlags.Let
    ? "variable"
    : "constant";
}

/** Does it carry `declare`? */
export function isAmbient(node: HasModifiers): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) ?? false;
}

/** The names an import declaration brings in. */
export function importedNames(declaration: ImportDeclaration): Identifier[] {
  const clause = declaration.importClause;
  if (clause === undefined) return [];
  const names = clause.name ? [clause.name] : [];
  if (clause.namedBindings === undefined) return names;
  if (ts.isNamespaceImport(clause.namedBindings)) return [...names, clause.namedBindings.name];
  return [...names, ...clause.namedBindings.elements.map(({ name }) => name)];
}

/** The names a binding pattern binds: `{ a, b: [c] }` → a, c. */
export function boundNames(name: BindingName): Identifier[] {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((element) =>
    ts.isOmittedExpression(element) ? [] : boundNames(element.name),
  );
}

/** `var` inside loops and blocks of the top level: it belongs to the whole cell. */
export function nestedVars(statement: Statement): Identifier[] {
  const found: Identifier[] = [];
  const walk = (node: Node): void => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isModuleDeclaration(node)) return;
    if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) === 0) {
      for (const { name } of node.declarations) found.push(...boundNames(name));
    }
    ts.forEachChild(node, walk);
  };
  walk(statement);
  return found;
}

function identifiers(file: SourceFile): Set<string> {
  const names = new Set<string>();
  const walk = (node: Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, walk);
  };
  walk(file);
  return names;
}
