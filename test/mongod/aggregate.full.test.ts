import { describe, it } from "vitest";
import { checkExpressionJoin, checkGroups, checkPipelines } from "./aggregateProperties.js";

describe("an index never changes what a pipeline gives", () => {
  it(
    "nor does the moving of $match, nor a hash table in the place of an index",
    () => checkPipelines(1500),
    300_000,
  );
  it("nor do covered plans and those that count keys", () => checkGroups(3000), 300_000);
  it("nor does the joining of a pipeline by the field it compares", () => checkExpressionJoin(400), 300_000);
});
