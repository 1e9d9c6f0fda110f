import { existsSync } from "node:fs";
import path from "node:path";
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

/**
 * The layers of the system: a folder may import only from the folders listed
 * for it (and from itself). `pure` folders must be able to run in a browser
 * worker: no `node:` modules, no packages but those listed, no Buffer, no
 * process. As every folder that a pure one may import is pure too, the rule
 * holds transitively; a re-export can't smuggle anything in, because the file
 * that would have to import it is refused itself.
 */
export const layers = {
  "lib/bson": { pure: true, imports: [], packages: ["bson"] },
  "lib/protocol": { pure: true, imports: ["lib/bson"], packages: ["bson"] },
  "lib/query": { pure: true, imports: ["lib/bson", "lib/protocol"], packages: ["bson", "re2js"] },
  "lib/mongod": { pure: true, imports: ["lib/bson", "lib/protocol", "lib/query"], packages: ["bson"] },
  "lib/router": { pure: true, imports: ["lib/bson", "lib/protocol", "lib/query"], packages: ["bson"] },
  "lib/net": { imports: ["lib/bson", "lib/protocol"] },
  "lib/cluster": {
    imports: ["lib/bson", "lib/protocol", "lib/query", "lib/mongod", "lib/router", "lib/net"],
  },
  "lib/lab": {
    imports: ["lib/bson", "lib/protocol", "lib/query", "lib/router", "lib/net", "lib/cluster"],
  },
  "lib/bin": { imports: ["lib/bson", "lib/protocol", "lib/mongod", "lib/router", "lib/net", "lib/cluster"] },
  lib: { imports: ["lib/lab", "lib/cluster"] },
  kernel: { imports: [] },
  notebooks: { imports: [] },
};

const root = import.meta.dirname;
/** The folder of the table above that a file (relative to the root) belongs to. */
const layerOf = (file) =>
  Object.keys(layers)
    .sort((a, b) => b.length - a.length)
    .find((layer) => file === layer || file.startsWith(`${layer}/`));

const layersRule = {
  meta: {
    type: "problem",
    docs: { description: "layers point one way; the engine's layers stay free of Node" },
    messages: {
      upward: "{{from}} must not import from {{to}}: layers point one way (see ARCHITECTURE.md)",
      node: "{{from}} runs in a browser too: it must not import {{specifier}}",
      byName:
        "{{from}} uses lib through its public exports: import from 'shardlab…' instead of {{specifier}}",
      missing: "{{specifier}} does not exist",
    },
    schema: [],
  },
  create(context) {
    const file = path.relative(root, context.filename).split(path.sep).join("/");
    const from = layerOf(file);
    if (from === undefined) return {};
    const rule = layers[from];
    const check = (node) => {
      const specifier = node?.value;
      if (typeof specifier !== "string") return;
      if (specifier.startsWith(".")) {
        const target = path.join(path.dirname(file), specifier).split(path.sep).join("/");
        const source = target.replace(/\.js$/, ".ts");
        if (!existsSync(path.join(root, source)) && !existsSync(path.join(root, target)))
          context.report({ node, messageId: "missing", data: { specifier } });
        const to = layerOf(target);
        if (to === from) return;
        if (from === "kernel" || from === "notebooks")
          context.report({ node, messageId: "byName", data: { from, specifier } });
        else if (to === undefined || !rule.imports.includes(to))
          context.report({ node, messageId: "upward", data: { from, to: to ?? target } });
      } else if (specifier === "shardlab" || specifier.startsWith("shardlab/")) {
        if (from.startsWith("lib"))
          context.report({ node, messageId: "upward", data: { from, to: specifier } });
      } else if (rule.pure && !rule.packages.includes(specifier)) {
        context.report({ node, messageId: "node", data: { from, specifier } });
      }
    };
    return {
      ImportDeclaration: (node) => check(node.source),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
      TSImportType: (node) => check(node.source ?? node.argument?.literal),
    };
  },
};

const pureFolders = Object.entries(layers)
  .filter(([, rule]) => rule.pure)
  .map(([folder]) => `${folder}/**/*.ts`);

/** Names of the host that the engine's layers must get injected instead. */
const hostGlobals = ["Buffer", "process", "global", "require", "__dirname", "__filename", "setImmediate"].map(
  (name) => ({ name, message: "the engine's layers run in a browser too: inject what you need" }),
);

/** The layer rules alone; `test/layers.test.ts` shows that they bite. */
export const layerConfig = defineConfig(
  {
    files: ["lib/**/*.ts", "kernel/**/*.ts", "notebooks/**/*.ts"],
    plugins: { shardlab: { rules: { layers: layersRule } } },
    rules: { "shardlab/layers": "error" },
  },
  {
    files: pureFolders,
    rules: { "no-restricted-globals": ["error", ...hostGlobals] },
  },
);

export default defineConfig(
  globalIgnores(["dist/", "out/", "node_modules/", "test/clients/node_modules/"]),
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommended, tseslint.configs.stylistic],
    languageOptions: {
      parserOptions: { project: ["test/tsconfig.json"], tsconfigRootDir: root },
    },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { arguments: false } }],
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" },
      ],
      "@typescript-eslint/array-type": "off",
      "@typescript-eslint/consistent-type-definitions": "off",
      "@typescript-eslint/no-empty-function": "off",
      "@typescript-eslint/prefer-for-of": "off", // hot loops count their index on purpose
      "@typescript-eslint/no-non-null-assertion": "off", // noUncheckedIndexedAccess makes them the honest way to say "checked above"
      "no-console": "off",
      eqeqeq: "error",
    },
  },
  layerConfig,
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: {
      globals: { process: "readonly", console: "readonly", URL: "readonly", performance: "readonly" },
    },
  },
);
