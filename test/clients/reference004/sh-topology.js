// The pieces of a sharded cluster.
/* global db, sh, print, printjson */
printjson(db.getSiblingDB("config").shards.find({}, { host: 1 }).sort({ _id: 1 }).toArray());
print("balancer enabled:", sh.getBalancerState(), "| mode:", db.adminCommand({ balancerStatus: 1 }).mode);
