import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Three tiers of tests in one place:
 * `fast` is what `npm test` runs, `full` (`*.full.test.ts`) takes minutes,
 * `clients` drives programs that we did not write.
 * Inside the tests the package's own name means its source, so that a test
 * never sees a stale build; child processes run `dist/`, which every test
 * script compiles first.
 */
export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^shardlab$/, replacement: `${root}lib/index.ts` },
      { find: /^shardlab\/checks$/, replacement: `${root}lib/lab/checks/index.ts` },
      { find: /^shardlab\/([a-z]+)$/, replacement: `${root}lib/$1/index.ts` },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.full.test.ts", "test/clients/**"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "full",
          include: ["test/**/*.full.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "clients",
          include: ["test/clients/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
