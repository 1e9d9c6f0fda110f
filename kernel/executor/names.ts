/**
 * Which cell a name means, for the compiler.
 *
 * Every cell is a module of its own to TypeScript, so any name may be declared
 * again, with another type. What earlier cells declared reaches it through a
 * few lines *behind* its text, where they move no position:
 *
 *     ++q; inc()                                            the cell
 *     import { inc } from "./__cell_1.mjs";                 ┐
 *     declare let q: typeof import("./__cell_2.mjs").q;     │ the suffix
 *     export {};                                            ┘
 *
 * A variable comes in as `declare let`, since an import can't be assigned; a
 * constant as `declare const`, so that assigning it gives the usual message;
 * everything else as an import, which brings value, type and namespace at once.
 * A cell's suffix stays as it was when the cell ran: declaring `q` again later
 * does not change what an earlier cell was checked against.
 */
import type { CellSource, DeclaredName, NameKind } from "./source.js";

interface Meaning {
  /** Module specifier of the cell that declares it. */
  readonly module: string;
  readonly kind: NameKind;
}

/** The names that are alive between two cells. */
export class Names {
  // A value and a pure type of one name may come from two cells.
  readonly #values = new Map<string, Meaning>();
  readonly #types = new Map<string, Meaning>();

  /** Names a new cell could use, for completion and hints. */
  all(): Set<string> {
    return new Set([...this.#values.keys(), ...this.#types.keys()]);
  }

  /** The lines to put behind a cell, with what it mentions and doesn't declare itself. */
  suffix(source: CellSource): string {
    const declared = new Map(source.declared.map(({ name, kind }) => [name, kind]));
    const lines = [exportLine(source.declared)];
    for (const name of source.mentioned) {
      const own = declared.get(name);
      const value = this.#values.get(name);
      const type = this.#types.get(name);
      if (own === undefined) {
        if (value) lines.push(valueLine(name, value));
        if (type && !carriesType(value)) lines.push(typeLine(name, type));
      } else if (type && (own === "constant" || own === "variable" || own === "function")) {
        // `interface Point` above, `const Point` here: the companion keeps its type.
        lines.push(typeLine(name, type));
      }
    }
    return `\n${lines.join("\n")}\n`;
  }

  /** The names of a suffix that live in the cells' scope at run time: all but ambient ones. */
  isAmbient(name: string): boolean {
    return this.#values.get(name)?.kind === "ambient";
  }

  /** Records what a cell declared once it has run. */
  commit(module: string, declared: readonly DeclaredName[]): void {
    for (const { name, kind } of declared) {
      const meaning = { module, kind };
      if (kind === "type") {
        this.#types.set(name, meaning);
        // A class of that name is gone; a plain value may stay beside the type.
        if (carriesType(this.#values.get(name))) this.#values.delete(name);
      } else {
        this.#values.set(name, meaning);
        if (carriesType(meaning)) this.#types.delete(name);
      }
    }
  }
}

function carriesType(meaning: Meaning | undefined): boolean {
  return meaning?.kind === "class" || meaning?.kind === "import";
}

function exportLine(declared: readonly DeclaredName[]): string {
  return `export { ${declared.map(({ name }) => name).join(", ")} };`;
}

function valueLine(name: string, { module, kind }: Meaning): string {
  switch (kind) {
    case "variable":
      return `declare let ${name}: typeof import("${module}").${name};`;
    case "constant":
    case "ambient":
      return `declare const ${name}: typeof import("${module}").${name};`;
    default:
      return `import { ${name} } from "${module}";`;
  }
}

function typeLine(name: string, { module }: Meaning): string {
  return `import type { ${name} } from "${module}";`;
}
