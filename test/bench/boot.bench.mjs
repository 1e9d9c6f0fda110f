import { median, startCluster } from "./measure.mjs";

/** From starting the program to the line that says where to connect. */
export async function run() {
  const times = [];
  for (let i = 0; i < 5; i++) {
    const cluster = await startCluster();
    times.push(cluster.bootMs);
    await cluster.stop();
  }
  console.log(
    `  npx shardlab cluster --json: ${median(times).toFixed(0)} ms, median of ${times.length} (goal < 2,000)`,
  );
}
