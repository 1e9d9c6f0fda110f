// A server that acknowledges inserts and keeps nothing.
import { serve } from "../../dist/lib/net/index.js";
import { documentsOf, okReply } from "../../dist/lib/protocol/index.js";

const hello = {
  isWritablePrimary: true,
  ismaster: true,
  helloOk: true,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 27,
};
const server = await serve({
  run: async (request) =>
    okReply(request.command === "insert" ? { n: documentsOf(request, "documents").length } : hello),
});
process.send?.({ uri: `mongodb://${server.address}/?directConnection=true` });
process.on("disconnect", () => process.exit());
