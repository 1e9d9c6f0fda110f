// Measuring a candidate.
/* global db:writable, print */
db = db.getSiblingDB("library");
const batch = [];
for (let i = 0; i < 20000; i++) batch.push({ ts: i, deviceId: "dev-" + (i % 5000) });
db.candidates.insertMany(batch);
for (const key of [{ ts: 1 }, { deviceId: 1 }]) {
  db.candidates.createIndex(key);
  const { keyCharacteristics: k } = db.candidates.analyzeShardKey(key, { readWriteDistribution: false });
  print(
    JSON.stringify(key),
    "documents",
    Number(k.numDocsTotal),
    "distinct",
    Number(k.numDistinctValues),
    "most common",
    Number(k.mostCommonValues[0].frequency),
    k.monotonicity.type,
  );
}
