import { median, report, startCluster } from "./measure.mjs";

const ROUNDS = 5;
const ENGINES = ["embedded", "process"];

/** From starting the program to the line that says where to connect; two shards and a config server. */
export async function run() {
  const times = Object.fromEntries(ENGINES.map((engine) => [engine, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const engine of ENGINES) {
      const cluster = await startCluster(["--engine", engine], "ignore");
      times[engine].push(cluster.bootMs);
      await cluster.stop();
    }
  }
  const [embedded, programs] = ENGINES.map((engine) => median(times[engine]));
  console.log(`  npx shardlab cluster --json: ${embedded.toFixed(0)} ms, median of ${ROUNDS} (goal < 2,000)`);
  console.log(`  … --engine process: ${programs.toFixed(0)} ms, three mongod programs on the way`);
  report("boot of engine process / embedded", programs / embedded);
}
