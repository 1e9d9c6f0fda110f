import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Folders of the engine: pure code in one process, whose test files may share it. */
const ENGINE = "test/{bson,protocol,query,mongod,router,golden}/**";
/** A file that puts spies in place of modules needs them for itself. */
const SPYING = "test/router/rawPath.test.ts";

/**
 * Three tiers of tests in one place:
 * `fast` and `hosts` are what `npm test` runs, `full` (`*.full.test.ts`) takes minutes,
 * `clients` drives programs that we did not write. `fast` is the engine, loaded
 * once for all its test files; `hosts` is everything with processes, ports and
 * cells, each file by itself.
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
    // The default leaves a processor free; with two there would be no parallel run.
    maxWorkers: "100%",
    setupFiles: ["test/equality.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          isolate: false,
          include: [`${ENGINE}/*.test.ts`],
          exclude: ["test/**/*.full.test.ts", SPYING],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "hosts",
          include: ["test/{bin,cluster,kernel,lab,net,notebooks}/**/*.test.ts", "test/*.test.ts", SPYING],
          exclude: ["test/**/*.full.test.ts"],
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
