import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";

/** A program that we did not write and that a test drives. */
export interface Program {
  /** What the user would call it. */
  name: string;
  /** Where it is once it is installed. */
  path: string;
  /** What to type where it is missing. */
  install: string;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** This folder has a package.json of its own, so that nobody's `npm ci` installs a shell. */
const NPM = "npm ci --prefix test/clients";

export const chromium: Program = {
  name: "Chromium",
  path: "/usr/bin/chromium",
  install: "apt-get install chromium",
};
export const pymongo: Program = {
  name: "pymongo",
  path: "/usr/lib/python3/dist-packages/pymongo",
  install: "apt-get install python3-pymongo",
};
export const mongosh: Program = {
  name: "mongosh",
  path: here("node_modules/@mongosh/cli-repl/bin/mongosh.js"),
  install: NPM,
};
export const runner: Program = {
  name: "mongodb-runner",
  path: here("node_modules/mongodb-runner/bin/runner.js"),
  install: NPM,
};
export const memoryServer: Program = {
  name: "mongodb-memory-server",
  path: here("node_modules/mongodb-memory-server/index.js"),
  install: NPM,
};

/**
 * A `describe` that needs a program. Where it is missing the tests are skipped
 * and say what to install; with CI=true a missing program is a failure.
 */
export function describeWith(program: Program, title: string, tests: () => void): void {
  if (existsSync(program.path)) describe(title, tests);
  else if (process.env["CI"])
    describe(title, () => {
      throw new Error(`${program.name} is missing: ${program.install}`);
    });
  else describe.skip(`${title} [${program.name} is missing: ${program.install}]`, tests);
}
