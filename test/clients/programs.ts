import { existsSync } from "node:fs";
import { describe } from "vitest";

/** A program that we did not write and that a test drives. */
export interface Program {
  /** What the user would call it. */
  name: string;
  /** Where Debian puts it. */
  path: string;
  /** Debian packages to install where it is missing. */
  packages: string;
}

export const chromium: Program = { name: "Chromium", path: "/usr/bin/chromium", packages: "chromium" };
export const pymongo: Program = {
  name: "pymongo",
  path: "/usr/lib/python3/dist-packages/pymongo",
  packages: "python3-pymongo",
};

/**
 * A `describe` that needs a program. Where it is missing the tests are skipped
 * and say what to install; with CI=true a missing program is a failure.
 */
export function describeWith(program: Program, title: string, tests: () => void): void {
  if (existsSync(program.path)) describe(title, tests);
  else if (process.env["CI"])
    describe(title, () => {
      throw new Error(`${program.name} is missing: apt-get install ${program.packages}`);
    });
  else describe.skip(`${title} [${program.name} is missing: apt-get install ${program.packages}]`, tests);
}
