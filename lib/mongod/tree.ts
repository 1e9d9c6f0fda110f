/** Replies as trees of values: the same for shard and router. */
export { encodeTree, treeReply } from "../protocol/index.js";
