/** More of replica sets of three programs: what is kept, what comes back, what is left alone. */
import { describe, expect, it } from "vitest";
import { config, directly, kill, start, startSet } from "./support/members.js";

describe("a replica set of three programs", () => {
  it("keeps the database local to each member", async () => {
    const [one, two] = await startSet();
    for (const [port, name] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      await (await directly(port)).db("local").collection("notes").insertOne({ name });
    }
    const notes = await (await directly(two)).db("local").collection("notes").find().toArray();
    expect(notes.map(({ name }) => name as string)).toEqual(["two"]);
  });

  it("has its members again when they are killed: a follower follows, the primary has its documents", async () => {
    const [one, two] = await startSet();
    const first = (await directly(one)).db("library").collection("loans");
    await first.insertMany([{ a: 1 }, { a: 2 }]);
    await kill(two);
    await start("two", two);
    const follower = (await directly(two)).db("library").collection("loans");
    expect(await follower.countDocuments()).toBe(2);

    await kill(one);
    // Nobody takes over: there is no primary, and a follower has nothing to answer with.
    await expect(follower.countDocuments()).rejects.toMatchObject({ code: 13436 });
    await start("one", one);
    await expect.poll(() => follower.countDocuments(), { timeout: 5_000 }).toBe(2);
  });

  it("takes a member in by replSetReconfig", async () => {
    const [one, two, three] = await startSet();
    const four = await start("four");
    const admin = (await directly(one)).db("admin");
    await admin.command({ replSetReconfig: config([one, two, three, four], 2) });
    await (await directly(one)).db("library").collection("loans").insertOne({});
    const hello = await (await directly(four)).db("admin").command({ hello: 1 });
    expect(hello).toMatchObject({ setName: "rs", setVersion: 2, secondary: true });
    expect(await (await directly(four)).db("library").collection("loans").countDocuments()).toBe(1);
  });

  it("leaves a member alone that is in a set of that name already", async () => {
    const [one, two] = [await start("one"), await start("two")];
    for (const port of [one, two]) {
      const admin = (await directly(port)).db("admin");
      await admin.command({ replSetInitiate: config([port]) });
      await (await directly(port)).db("library").collection("loans").insertOne({ port });
    }
    const admin = (await directly(one)).db("admin");
    await admin.command({ replSetReconfig: config([one, two], 2) });
    // The other one has data of its own and goes on with it, as primary of its own set.
    const other = await directly(two);
    expect(await other.db("admin").command({ hello: 1 })).toMatchObject({ isWritablePrimary: true });
    expect(
      await other
        .db("library")
        .collection("loans")
        .findOne({}, { projection: { _id: 0 } }),
    ).toEqual({
      port: two,
    });
  });
});
