// Changing a key that turned out wrong.
/* global db:writable, sh, print */
db = db.getSiblingDB("shop");
const keyOf = (ns) => JSON.stringify(db.getSiblingDB("config").collections.findOne({ _id: ns }).key);

db.orders.createIndex({ customerId: 1 });
sh.shardCollection("shop.orders", { customerId: 1 });
sh.splitAt("shop.orders", { customerId: 1 });
try {
  sh.splitFind("shop.orders", { customerId: 0 });
  print("split");
} catch (error) {
  print("customer 0 alone can't be split:", error.code);
}
db.orders.createIndex({ customerId: 1, createdAt: 1 });
const refine = { refineCollectionShardKey: "shop.orders", key: { customerId: 1, createdAt: 1 } };
print("refineCollectionShardKey ok:", db.adminCommand(refine).ok, keyOf("shop.orders"));
const middle = { customerId: 0, createdAt: db.orders.findOne({ orderNo: 1500 }).createdAt };
print("now it can:", sh.splitAt("shop.orders", middle).ok);
print(
  "reshardCollection ok:",
  sh.reshardCollection("shop.orders", { customerId: "hashed" }).ok,
  keyOf("shop.orders"),
);
print("orders:", db.orders.countDocuments());
