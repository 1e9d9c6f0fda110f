/**
 * The place where cells' top-level names live at run time.
 *
 * `$$scope.q` in compiled code is a plain property access on this object, as fast
 * as a field. A declaration puts a data property; an import puts an accessor that
 * reads the module's export each time, so that imported bindings stay live.
 */

/** Without a prototype, so that no name is there before it is declared. */
class CellScope {}
Object.setPrototypeOf(CellScope.prototype, null);
Reflect.deleteProperty(CellScope.prototype, "constructor");

/** The scope with its two ways of declaring. */
export class Scope {
  /** What compiled code calls `$$scope`. */
  readonly names: Record<string, unknown> = new CellScope() as Record<string, unknown>;
  readonly #accessors = new Set<string>();
  #declared = new Set<string>();

  /** Puts a name, whatever it was before. */
  readonly declare = (name: string, value: unknown): void => {
    this.#declared.add(name);
    if (this.#accessors.delete(name)) {
      Object.defineProperty(this.names, name, {
        value,
        writable: true,
        configurable: true,
        enumerable: true,
      });
    } else {
      this.names[name] = value;
    }
  };

  /** Puts an imported name. */
  import(name: string, get: () => unknown): void {
    this.#declared.add(name);
    this.#accessors.add(name);
    Object.defineProperty(this.names, name, { get, configurable: true, enumerable: true });
  }

  /** The names declared since the last call: what a cell that threw had got to. */
  takeDeclared(): Set<string> {
    const declared = this.#declared;
    this.#declared = new Set();
    return declared;
  }
}
