/**
 * Pipelines inside pipelines: what each level reads must have been fetched, whatever is around it. Compared with the
 * same pipeline over the unsharded copies, which one shard runs by itself.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import { loadJoined } from "./support/joined.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await loadJoined(cluster);
});

const all = (coll: string, pipeline: object[], options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { aggregate: coll, pipeline, cursor: {}, ...options });

describe("joins at any depth answer as on one server", () => {
  const shapes: [what: string, make: (orders: string, items: string, staff: string) => object[]][] = [
    [
      "a union inside a join with variables",
      (_orders, items, staff) => [
        {
          $lookup: {
            from: items,
            let: { s: "$sku" },
            pipeline: [
              { $match: { price: { $gt: 5 } } },
              {
                $unionWith: { coll: staff, pipeline: [{ $match: { name: "bob" } }, { $set: { of: "$$s" } }] },
              },
              { $sort: { _id: 1 } },
            ],
            as: "u",
          },
        },
      ],
    ],
    [
      "a join without variables inside one with",
      (orders, items, staff) => [
        {
          $lookup: {
            from: items,
            let: { s: "$sku" },
            pipeline: [
              { $match: { $expr: { $eq: ["$sku", "$$s"] } } },
              { $lookup: { from: staff, pipeline: [{ $match: { boss: null } }], as: "top" } },
              {
                $lookup: {
                  from: orders,
                  let: { p: "$price" },
                  pipeline: [{ $set: { p: "$$p", s: "$$s" } }, { $sort: { x: 1 } }],
                  as: "o",
                },
              },
            ],
            as: "i",
          },
        },
      ],
    ],
    [
      "a walk inside a join inside a facet",
      (_orders, items, staff) => [
        {
          $facet: {
            a: [
              { $sort: { x: 1 } },
              {
                $lookup: {
                  from: staff,
                  localField: "none",
                  foreignField: "none",
                  pipeline: [
                    {
                      $graphLookup: {
                        from: staff,
                        startWith: "$boss",
                        connectFromField: "boss",
                        connectToField: "name",
                        as: "up",
                      },
                    },
                    { $project: { name: 1, n: { $size: "$up" } } },
                    { $sort: { name: 1 } },
                  ],
                  as: "s",
                },
              },
            ],
            b: [{ $unionWith: items }, { $count: "n" }],
          },
        },
      ],
    ],
    [
      "a union of a union with a join",
      (orders, items) => [
        {
          $unionWith: {
            coll: items,
            pipeline: [
              { $unionWith: { coll: orders, pipeline: [{ $match: { x: { $gt: 50 } } }] } },
              {
                $lookup: {
                  from: orders,
                  localField: "sku",
                  foreignField: "sku",
                  pipeline: [{ $sort: { x: 1 } }],
                  as: "o",
                },
              },
            ],
          },
        },
        { $sort: { _id: 1, price: 1 } },
      ],
    ],
    [
      "a view with a join in it as the other side",
      (orders, items) => [
        {
          $lookup: {
            from: items === "items" ? "joinedView" : "plainJoinedView",
            let: { s: "$sku" },
            pipeline: [
              { $match: { $expr: { $eq: ["$sku", "$$s"] } } },
              { $unionWith: orders },
              { $sort: { _id: 1 } },
            ],
            as: "v",
          },
        },
      ],
    ],
  ];

  beforeAll(async () => {
    for (const [view, on, from] of [
      ["joinedView", "items", "orders"],
      ["plainJoinedView", "plainItems", "plainOrders"],
    ] as const) {
      const lookup = {
        from,
        localField: "sku",
        foreignField: "sku",
        pipeline: [{ $sort: { x: 1 } }],
        as: "o",
      };
      await cluster.ok("test", { create: view, viewOn: on, pipeline: [{ $lookup: lookup }] });
    }
  });

  test.each(shapes)("%s", async (_what, make) => {
    const ordered = [{ $sort: { _id: 1 } }];
    const plain = await all("plainOrders", [...make("plainOrders", "plainItems", "plainStaff"), ...ordered]);
    expect(plain.length).toBeGreaterThan(0);
    const sides: [string, string, string, string][] = [
      ["orders", "orders", "items", "staff"],
      ["orders", "plainOrders", "plainItems", "staff"],
      ["plainOrders", "orders", "items", "plainStaff"],
    ];
    for (const [source, ...names] of sides) {
      expect(await all(source, [...make(...(names as [string, string, string])), ...ordered])).toEqual(plain);
    }
  });
});
