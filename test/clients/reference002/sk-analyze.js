// Cardinality, frequency and monotonicity of candidate keys of an order system.
/* global db:writable, print */
db = db.getSiblingDB("shop");
const statuses = ["cancelled", "delivered", "paid", "pending", "returned", "shipped"];
const N = 3000;
const orders = [];
for (let i = 0; i < N; i++) {
  orders.push({
    orderNo: i,
    status: statuses[i % 6],
    shipping: { country: "C" + String.fromCharCode(65 + (i % 15)) },
    customerId: i % 10 === 0 ? 0 : (i * 7) % 500,
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 60000),
  });
}
db.orders.insertMany(orders);

function analyze(field) {
  const [row] = db.orders
    .aggregate([
      { $group: { _id: "$" + field, n: { $sum: 1 } } },
      { $group: { _id: null, distinct: { $sum: 1 }, maxFreq: { $max: "$n" } } },
    ])
    .toArray();
  return { field, distinctValues: row.distinct, topValueSharePct: +((100 * row.maxFreq) / N).toFixed(2) };
}
for (const field of ["status", "shipping.country", "customerId", "orderNo"])
  print(JSON.stringify(analyze(field)));

const times = db.orders
  .find({}, { createdAt: 1 })
  .sort({ $natural: 1 })
  .limit(2000)
  .map((order) => order.createdAt.getTime())
  .toArray();
const increases = times.filter((time, i) => i > 0 && time >= times[i - 1]).length;
print("createdAt increases:", ((100 * increases) / (times.length - 1)).toFixed(1) + "%");
