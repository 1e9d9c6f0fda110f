// Measuring a candidate.
/* global db:writable, print */
db = db.getSiblingDB("shop");
db.orders.createIndex({ customerId: 1 });
const { keyCharacteristics: k } = db.orders.analyzeShardKey(
  { customerId: 1 },
  { readWriteDistribution: false },
);
print(
  "analyzeShardKey",
  Number(k.numDocsTotal),
  Number(k.numDistinctValues),
  JSON.stringify(k.mostCommonValues[0].value),
  Number(k.mostCommonValues[0].frequency),
);
