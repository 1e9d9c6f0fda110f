// Ratios, all taken in this one run: `npm run bench [-- NAME…]`.
// Absolute times depend on the machine; a ratio of two things measured side by
// side much less. Rounds of the two sides alternate, the median round counts.
import { readdir } from "node:fs/promises";

const folder = new URL(".", import.meta.url);
const names = (await readdir(folder))
  .filter((file) => file.endsWith(".bench.mjs"))
  .map((file) => file.replace(/\.bench\.mjs$/, ""))
  .sort();
const wanted = process.argv.slice(2);
for (const name of wanted) {
  if (!names.includes(name)) {
    console.error(`bench: no benchmark is called ${name}; there are ${names.join(", ")}`);
    process.exit(2);
  }
}
for (const name of wanted.length > 0 ? wanted : names) {
  console.log(`\n${name}`);
  const { run } = await import(new URL(`${name}.bench.mjs`, folder).href);
  await run();
}
