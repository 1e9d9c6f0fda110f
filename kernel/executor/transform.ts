/**
 * What makes a cell's declarations live on: every reference to a top-level name
 * becomes a property of the cells' scope.
 *
 *     let q = 5;                         let q = 5; $$declare("q", q);
 *     function inc() { return ++q }  →   function inc() { return ++$$scope.q }   (declared first)
 *     inc()                              return { value: (0, $$scope.inc)() }
 *
 * So `inc` sees an assignment made in a later cell, and also a later declaration:
 * one name is one place, as in any notebook. Which identifier means which name is
 * the type checker's answer, not a guess by spelling, so shadowing just works.
 * Names can't collide with the globals that libraries use (`const URL = …` is fine).
 *
 * A class keeps referring to itself inside its own body (a static initialiser
 * runs before the name is declared), and so do enums and namespaces.
 */
import type {
  BindingElement,
  BindingName,
  CallExpression,
  EntityName,
  Expression,
  ExpressionStatement,
  Identifier,
  ImportDeclaration,
  ImportEqualsDeclaration,
  Node,
  NodeFactory,
  ObjectLiteralElementLike,
  PropertyName,
  ShorthandPropertyAssignment,
  SourceFile,
  Statement,
  Symbol as CompilerSymbol,
  TaggedTemplateExpression,
  TransformationContext,
  TransformerFactory,
  TypeChecker,
  VariableDeclaration,
  VariableDeclarationList,
  VariableStatement,
  VisitResult,
} from "typescript";
import { guard } from "./guard.js";
import { boundNames, importedNames, isAmbient } from "./source.js";
import { hoistedVars, isReference, isTypeSyntax, valueNames, withoutWrapping } from "./syntax.js";
import { ts } from "./typescript.js";

/** Parameters of the function that a cell is compiled to, in order. */
export const parameters = [
  "$$scope",
  "$$declare",
  "$$link",
  "$$import",
  "$$flag",
  "$$stop",
  "$$meta",
] as const;

/** What the transform needs to know beside the tree. */
export interface CellShape {
  /** Length of the cell's own text: what stands behind it is the suffix. */
  readonly length: number;
  /** Is a name of the suffix only promised to exist globally? */
  readonly isAmbient: (name: string) => boolean;
}

/** Gives the transformer for one checked cell. */
export function cellTransformer(checker: TypeChecker, shape: CellShape): TransformerFactory<SourceFile> {
  return (context) => (file) => new CellTransform(context, checker, file, shape).run();
}

/** Removes the `export {}` that the compiler puts at a module's end. */
export const withoutModuleMark: TransformerFactory<SourceFile> = (context) => (file) =>
  context.factory.updateSourceFile(
    file,
    file.statements.filter((statement) => !ts.isExportDeclaration(statement)),
  );

class CellTransform {
  readonly #context: TransformationContext;
  readonly #factory: NodeFactory;
  readonly #checker: TypeChecker;
  readonly #file: SourceFile;
  readonly #own: readonly Statement[];
  /** The symbols whose references become properties of the scope. */
  readonly #scoped = new Set<CompilerSymbol>();
  /** Classes, enums and namespaces that we are inside of. */
  readonly #inside: CompilerSymbol[] = [];

  constructor(context: TransformationContext, checker: TypeChecker, file: SourceFile, shape: CellShape) {
    this.#context = context;
    this.#factory = context.factory;
    this.#checker = checker;
    this.#file = file;
    this.#own = file.statements.filter((statement) => statement.getStart(file) < shape.length);
    for (const statement of file.statements) {
      const own = statement.getStart(file) < shape.length;
      for (const name of valueNames(statement, own)) {
        if (!own && shape.isAmbient(name.text)) continue;
        const symbol = checker.getSymbolAtLocation(name);
        if (symbol) this.#scoped.add(symbol);
      }
    }
  }

  run(): SourceFile {
    const hoisted: Statement[] = [];
    const imports: Statement[] = [];
    const body: Statement[] = [];
    const last = this.#own.at(-1);
    for (const statement of this.#own) {
      for (const name of hoistedVars(statement)) {
        hoisted.push(this.#declare(name.text, this.#factory.createVoidZero()));
      }
      if (ts.isFunctionDeclaration(statement) && statement.name && statement.body) {
        hoisted.push(this.#declare(statement.name.text, statement.name));
      }
      if (ts.isImportDeclaration(statement)) imports.push(...this.#import(statement));
      else if (statement === last && ts.isExpressionStatement(statement)) body.push(this.#result(statement));
      else body.push(...this.#statement(statement));
    }
    return this.#factory.updateSourceFile(this.#file, [...hoisted, ...imports, ...body]);
  }

  // ---- statements of the top level

  #statement(statement: Statement): Statement[] {
    if (ts.isVariableStatement(statement) && !isAmbient(statement)) return this.#variables(statement);
    if (ts.isImportEqualsDeclaration(statement)) return this.#importEquals(statement);
    const named =
      ts.isClassDeclaration(statement) ||
      ts.isEnumDeclaration(statement) ||
      ts.isModuleDeclaration(statement);
    if (named && statement.name && ts.isIdentifier(statement.name) && !isAmbient(statement)) {
      const symbol = this.#checker.getSymbolAtLocation(statement.name);
      if (symbol === undefined || !(symbol.flags & ts.SymbolFlags.Value)) return [statement];
      this.#inside.push(symbol);
      const visited = this.#visitStatement(statement);
      this.#inside.pop();
      return [
        ...visited,
        this.#declare(statement.name.text, this.#factory.createIdentifier(statement.name.text)),
      ];
    }
    return this.#visitStatement(statement);
  }

  #visitStatement(statement: Statement): Statement[] {
    const visited = ts.visitNode(statement, this.#visit);
    return visited === undefined ? [] : [visited as Statement];
  }

  /** `let a = 1, b = a` → one statement a variable, each followed by its declaration. */
  #variables(statement: VariableStatement): Statement[] {
    const { declarations, flags } = statement.declarationList;
    const isVar = (flags & ts.NodeFlags.BlockScoped) === 0;
    return declarations.flatMap((declaration) => {
      if (isVar && declaration.initializer === undefined) return [];
      const visited = ts.visitNode(declaration, this.#visitDeclaration) as VariableDeclaration;
      const list = this.#factory.createVariableDeclarationList([visited], flags & ts.NodeFlags.BlockScoped);
      const own = ts.setTextRange(this.#factory.createVariableStatement(undefined, list), declaration);
      const names = boundNames(declaration.name).map(({ text }) =>
        this.#declare(text, this.#factory.createIdentifier(text)),
      );
      return [own, ...names];
    });
  }

  readonly #visitDeclaration = (node: Node): Node => ts.visitEachChild(node, this.#visit, this.#context);

  /** `import a, { b as c } from "m"` → `await $$link("m", [["default", "a"], ["b", "c"]])`. */
  #import(declaration: ImportDeclaration): Statement[] {
    const clause = declaration.importClause;
    const names: [imported: string, local: string][] = [];
    if (clause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
    if (clause?.name) names.push(["default", clause.name.text]);
    const bindings = clause?.namedBindings;
    if (bindings && ts.isNamespaceImport(bindings)) names.push(["*", bindings.name.text]);
    if (bindings && ts.isNamedImports(bindings)) {
      for (const element of bindings.elements) {
        if (!element.isTypeOnly) names.push([(element.propertyName ?? element.name).text, element.name.text]);
      }
    }
    const locals = new Map(importedNames(declaration).map((name) => [name.text, name]));
    const values = names.filter(([, local]) => this.#isValue(locals.get(local)));
    if (clause !== undefined && values.length === 0 && locals.size > 0) return [];
    const f = this.#factory;
    const pairs = values.map((pair) =>
      f.createArrayLiteralExpression(pair.map((text) => f.createStringLiteral(text))),
    );
    const link = f.createCallExpression(f.createIdentifier("$$link"), undefined, [
      declaration.moduleSpecifier,
      f.createArrayLiteralExpression(pairs),
    ]);
    const statement = f.createExpressionStatement(
      f.createAwaitExpression(ts.setTextRange(link, declaration)),
    );
    return [ts.setTextRange(statement, declaration)];
  }

  /** An imported interface has no value at run time; what the checker can't resolve is taken for a value. */
  #isValue(name: Identifier | undefined): boolean {
    const symbol = name && this.#checker.getSymbolAtLocation(name);
    if (symbol === undefined || !(symbol.flags & ts.SymbolFlags.Alias)) return true;
    const target = this.#checker.getAliasedSymbol(symbol);
    return target.escapedName === "unknown" || (target.flags & ts.SymbolFlags.Value) !== 0;
  }

  /** `import x = require("m")` and `import y = Namespace.member`. */
  #importEquals(statement: ImportEqualsDeclaration): Statement[] {
    if (statement.isTypeOnly || !this.#isValue(statement.name)) return [];
    const f = this.#factory;
    const reference = statement.moduleReference;
    if (ts.isExternalModuleReference(reference)) {
      const call = f.createCallExpression(f.createIdentifier("require"), undefined, [reference.expression]);
      return [this.#declare(statement.name.text, ts.setTextRange(call, statement))];
    }
    const expression = (entity: EntityName): Expression =>
      ts.isIdentifier(entity)
        ? (this.#reference(entity) ?? entity)
        : f.createPropertyAccessExpression(expression(entity.left), entity.right);
    return [this.#declare(statement.name.text, expression(reference))];
  }

  #result(statement: ExpressionStatement): Statement {
    const value = ts.visitNode(statement.expression, this.#visit) as Expression;
    const f = this.#factory;
    const result = f.createObjectLiteralExpression([f.createPropertyAssignment("value", value)]);
    return ts.setTextRange(f.createReturnStatement(result), statement);
  }

  #declare(name: string, value: Expression): Statement {
    const f = this.#factory;
    const args = [f.createStringLiteral(name), value];
    return f.createExpressionStatement(
      f.createCallExpression(f.createIdentifier("$$declare"), undefined, args),
    );
  }

  // ---- everything below the top level

  readonly #visit = (node: Node): VisitResult<Node | undefined> => {
    if (isTypeSyntax(node)) return node;
    const f = this.#factory;
    if (ts.isIdentifier(node)) return this.#reference(node) ?? node;
    if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) {
      return f.createIdentifier("$$meta");
    }
    if (ts.isShorthandPropertyAssignment(node)) return this.#shorthand(node);
    if (ts.isVariableDeclarationList(node) && this.#isCellVar(node)) return this.#varList(node);
    if (ts.isVariableStatement(node) && this.#isCellVar(node.declarationList)) {
      return ts.setTextRange(f.createExpressionStatement(this.#varList(node.declarationList)), node);
    }
    const visited = ts.visitEachChild(node, this.#visit, this.#context);
    if (ts.isCallExpression(visited)) return this.#call(visited, node as CallExpression);
    if (ts.isTaggedTemplateExpression(visited)) {
      const tag = this.#withoutThis(visited.tag, (node as TaggedTemplateExpression).tag);
      return f.updateTaggedTemplateExpression(visited, tag, visited.typeArguments, visited.template);
    }
    return guard(visited, f);
  };

  #call(visited: CallExpression, original: CallExpression): Expression {
    const f = this.#factory;
    const callee =
      original.expression.kind === ts.SyntaxKind.ImportKeyword
        ? f.createIdentifier("$$import")
        : this.#withoutThis(visited.expression, original.expression);
    if (callee === visited.expression) return visited;
    return ts.isCallChain(visited)
      ? f.updateCallChain(visited, callee, visited.questionDotToken, visited.typeArguments, visited.arguments)
      : f.updateCallExpression(visited, callee, visited.typeArguments, visited.arguments);
  }

  /** `inc()` must not become a method call: `(0, $$scope.inc)()`. */
  #withoutThis(visited: Expression, original: Expression): Expression {
    const name = withoutWrapping(original);
    if (!ts.isIdentifier(name)) return visited;
    const reference = this.#reference(name);
    if (reference === undefined) return visited;
    const f = this.#factory;
    const comma = f.createComma(f.createNumericLiteral(0), reference);
    const callee = ts.setTextRange(f.createParenthesizedExpression(comma), original);
    // V8 puts such a call's position behind the callee; let that be the callee's own.
    return ts.setEmitFlags(callee, ts.EmitFlags.NoTrailingSourceMap | ts.EmitFlags.NoNestedSourceMaps);
  }

  /** The property that an identifier stands for, or undefined where it stands for itself. */
  #reference(identifier: Identifier): Expression | undefined {
    if (!isReference(identifier)) return undefined;
    const symbol = this.#checker.getSymbolAtLocation(identifier);
    return this.#property(identifier, symbol);
  }

  #property(identifier: Identifier, symbol: CompilerSymbol | undefined): Expression | undefined {
    if (symbol === undefined || !this.#scoped.has(symbol) || this.#inside.includes(symbol)) return undefined;
    const f = this.#factory;
    const property = f.createPropertyAccessExpression(f.createIdentifier("$$scope"), identifier.text);
    return ts.setTextRange(ts.setOriginalNode(property, identifier), identifier);
  }

  /** `{ q }` → `{ q: $$scope.q }`; as a pattern `{ q = 1 }` → `{ q: $$scope.q = 1 }`. */
  #shorthand(node: ShorthandPropertyAssignment): ObjectLiteralElementLike {
    const f = this.#factory;
    const property = this.#property(node.name, this.#checker.getShorthandAssignmentValueSymbol(node));
    const fallback = node.objectAssignmentInitializer;
    const visitedFallback = fallback && (ts.visitNode(fallback, this.#visit) as Expression);
    if (property === undefined) return f.updateShorthandPropertyAssignment(node, node.name, visitedFallback);
    const value = visitedFallback ? f.createAssignment(property, visitedFallback) : property;
    return ts.setTextRange(f.createPropertyAssignment(node.name.text, value), node);
  }

  // ---- `var` inside a block belongs to the cell: it turns into assignments

  #isCellVar(list: VariableDeclarationList): boolean {
    if ((list.flags & ts.NodeFlags.BlockScoped) !== 0) return false;
    const [first] = list.declarations.flatMap(({ name }) => boundNames(name));
    const symbol = first && this.#checker.getSymbolAtLocation(first);
    return symbol !== undefined && this.#scoped.has(symbol);
  }

  /** An expression where a list stood: for-initialisers, for-in/of heads and statements all take one. */
  #varList(list: VariableDeclarationList): Expression {
    const f = this.#factory;
    const isHead = ts.isForInStatement(list.parent) || ts.isForOfStatement(list.parent);
    const parts = list.declarations.flatMap(({ name, initializer }) => {
      if (isHead) return [this.#target(name)];
      if (initializer === undefined) return [];
      return [f.createAssignment(this.#target(name), ts.visitNode(initializer, this.#visit) as Expression)];
    });
    const [first = f.createVoidZero(), ...rest] = parts;
    const expression = rest.reduce<Expression>((left, right) => f.createComma(left, right), first);
    const isPattern = !isHead && list.declarations.some(({ name }) => !ts.isIdentifier(name));
    return isPattern ? f.createParenthesizedExpression(expression) : expression;
  }

  /** A binding pattern as an assignment pattern. */
  #target(name: BindingName): Expression {
    const f = this.#factory;
    if (ts.isIdentifier(name))
      return f.createPropertyAccessExpression(f.createIdentifier("$$scope"), name.text);
    const value = (element: BindingElement): Expression => {
      const target = this.#target(element.name);
      if (element.initializer === undefined) return target;
      return f.createAssignment(target, ts.visitNode(element.initializer, this.#visit) as Expression);
    };
    if (ts.isArrayBindingPattern(name)) {
      return f.createArrayLiteralExpression(
        name.elements.map((element) => {
          if (ts.isOmittedExpression(element)) return element;
          return element.dotDotDotToken ? f.createSpreadElement(value(element)) : value(element);
        }),
      );
    }
    return f.createObjectLiteralExpression(
      name.elements.map((element) => {
        if (element.dotDotDotToken) return f.createSpreadAssignment(value(element));
        const key = element.propertyName ?? (element.name as Identifier);
        const visited = ts.isComputedPropertyName(key)
          ? (ts.visitNode(key, this.#visit) as PropertyName)
          : key;
        const name = ts.isIdentifier(visited) ? f.createIdentifier(visited.text) : visited;
        return f.createPropertyAssignment(name, value(element));
      }),
    );
  }
}
