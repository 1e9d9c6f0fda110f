/**
 * Imports of cells at run time.
 *
 * Three kinds of specifier, resolved as the type checker does (project.ts):
 *
 * - a path (`./bounds.ts`, `../data/zones.json`): a local file, see localModules.ts;
 * - a package or `node:` module: Node's own loader, asked as if the notebook's
 *   folder imported it, and if no package of that name is found there, as if
 *   Shardlab's installation did.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { LocalModules } from "./localModules.js";
import type { LocalRuntime } from "./localModules.js";
import { installation, isPath } from "./project.js";

/** A module's exports by name. */
export type Namespace = Record<string, unknown>;

type Importer = (specifier: string, options?: ImportCallOptions) => Promise<Namespace>;

/** Loads modules for the code of one notebook. */
export class Modules {
  readonly #folder: string;
  readonly #local: LocalModules;
  readonly #importers = new Map<string, Importer>();

  /** @param folder absolute path of the notebook's folder */
  constructor(folder: string, runtime: LocalRuntime) {
    this.#folder = folder;
    this.#local = new LocalModules(folder, runtime, (specifier, from) => this.load(specifier, from));
  }

  /**
   * Loads what a specifier means in a folder.
   *
   * @param from folder of the importing file; the notebook's own by default
   * @throws what Node throws: ERR_MODULE_NOT_FOUND, the module's own error, …
   */
  async load(
    specifier: string,
    from: string = this.#folder,
    options?: ImportCallOptions,
  ): Promise<Namespace> {
    if (isPath(specifier)) {
      const path = specifier.startsWith("file:") ? fileURLToPath(specifier) : specifier;
      const local = await this.#local.load(path, from);
      if (local !== undefined) return local;
    }
    try {
      return await this.#importer(from)(specifier, options);
    } catch (error) {
      if (isPath(specifier) || !isNoSuchPackage(error, from)) throw error;
      return await this.#importer(installation)(specifier, options).catch((second: unknown) => {
        throw isNoSuchPackage(second, installation) ? noSuchPackage(specifier) : second;
      });
    }
  }

  /** An `import()` that Node resolves from a folder: it goes by the file name of the script that holds it. */
  #importer(folder: string): Importer {
    let importer = this.#importers.get(folder);
    if (importer === undefined) {
      importer = new vm.Script("(specifier, options) => import(specifier, options)", {
        filename: importerPath(folder),
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      }).runInThisContext() as Importer;
      this.#importers.set(folder, importer);
    }
    return importer;
  }
}

function importerPath(folder: string): string {
  return join(folder, "__import.mjs");
}

/** Did Node look for the package itself in vain, rather than for something that the package imports? */
function isNoSuchPackage(error: unknown, folder: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ERR_MODULE_NOT_FOUND" && message.includes(importerPath(folder));
}

/** Node's own message names a file that the notebook's author has never seen. */
function noSuchPackage(specifier: string): Error {
  const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  const message = `Cannot find package '${name}'; \`npm install ${name}\` in the notebook's folder adds it`;
  return Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" });
}
