import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { layerConfig } from "../eslint.config.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: true,
  overrideConfig: [{ files: ["**/*.ts"], languageOptions: { parser: tseslint.parser } }, ...layerConfig],
});

/** What the layer rules say of `source`, were it the text of the existing file `file`. */
async function complaints(file: string, source: string): Promise<string[]> {
  const [result] = await eslint.lintText(source, { filePath: `${root}${file}` });
  return result!.messages
    .filter((m) => m.ruleId === "shardlab/layers" || m.ruleId === "no-restricted-globals")
    .map((m) => m.message);
}

describe("layers point one way", () => {
  it("refuses an import from a layer above", async () => {
    expect(await complaints("lib/protocol/endpoint.ts", `export * from "../router/index.js";\n`)).toEqual([
      "lib/protocol must not import from lib/router: layers point one way (see ARCHITECTURE.md)",
    ]);
  });

  it("keeps router and mongod apart", async () => {
    const [message] = await complaints("lib/router/index.ts", `import "../mongod/index.js";\n`);
    expect(message).toMatch(/^lib\/router must not import from lib\/mongod/);
  });

  it("keeps Node out of the engine, by module, by global and by package", async () => {
    expect(await complaints("lib/router/index.ts", `import "node:net";\n`)).toHaveLength(1);
    expect(await complaints("lib/router/index.ts", `import "net";\n`)).toHaveLength(1);
    expect(
      await complaints("lib/router/index.ts", `export const load = () => import("mongodb");\n`),
    ).toHaveLength(1);
    expect(await complaints("lib/router/index.ts", `export const b = Buffer.from("a");\n`)).toHaveLength(1);
    expect(await complaints("lib/router/index.ts", `export const p = process.pid;\n`)).toHaveLength(1);
  });

  it("makes the kernel use lib through its public exports", async () => {
    const [message] = await complaints("kernel/cli/main.ts", `import "../../lib/index.js";\n`);
    expect(message).toBe(
      "kernel uses lib through its public exports: import from 'shardlab…' instead of ../../lib/index.js",
    );
    expect(await complaints("kernel/cli/main.ts", `import "shardlab";\n`)).toEqual([]);
  });

  it("lets a layer use the one below", async () => {
    expect(await complaints("lib/router/index.ts", `import "../bson/index.js";\n`)).toEqual([]);
  });
});
