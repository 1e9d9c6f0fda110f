// Targeted or scatter-gather, in explain.
/* global db:writable, sh, print */
db = db.getSiblingDB("library");
db.events.drop();
sh.shardCollection("library.events", { deviceId: "hashed" });
for (let from = 0; from < 100000; from += 10000) {
  const batch = [];
  for (let i = from; i < from + 10000; i++) batch.push({ deviceId: "dev-" + (i % 5000), i });
  db.events.insertMany(batch, { ordered: false });
}
function route(label, query) {
  const plan = db.events.find(query).explain().queryPlanner.winningPlan;
  print(
    label,
    plan.stage,
    plan.shards
      .map((s) => s.shardName)
      .sort()
      .join(","),
  );
}
route("equality", { deviceId: "dev-42" });
route("other field", { i: 42 });
route("range", { deviceId: { $gte: "dev-1", $lt: "dev-2" } });
