/** Three programs `lib/bin/mongod` as one replica set: a primary with the data, and two members that follow it. */
import { describe, expect, it } from "vitest";
import { config, connect, directly, start, startSet } from "./support/members.js";

describe("a replica set of three programs", () => {
  it("shows one primary and two secondaries, and secondaries answer what the primary has at once", async () => {
    const [one, two, three] = await startSet();
    const client = await connect("replicaSet=rs", two);
    const { members, set } = await client.db("admin").command({ replSetGetStatus: 1 });
    expect(set).toBe("rs");
    expect(
      (members as { name: string; stateStr: string }[]).map(({ name, stateStr }) => [name, stateStr]),
    ).toEqual([
      [`127.0.0.1:${one}`, "PRIMARY"],
      [`127.0.0.1:${two}`, "SECONDARY"],
      [`127.0.0.1:${three}`, "SECONDARY"],
    ]);
    const loans = client.db("library").collection<{ _id: number }>("loans");
    const documents = Array.from({ length: 300 }, (_, _id) => ({ _id }));
    // All three have it: w: 3 is satisfied; a fourth is not there.
    await loans.insertMany(documents, { writeConcern: { w: 3 } });
    await expect(loans.insertOne({ _id: 300 }, { writeConcern: { w: 4 } })).rejects.toMatchObject({
      code: 100,
    });
    // Several batches: getMore goes where the cursor is.
    const found = await loans.find({}, { readPreference: "secondary", batchSize: 100 }).toArray();
    expect(found).toHaveLength(301);

    const follower = (await directly(three)).db("library");
    expect(await follower.admin().command({ hello: 1 })).toMatchObject({
      isWritablePrimary: false,
      secondary: true,
      primary: `127.0.0.1:${one}`,
      me: `127.0.0.1:${three}`,
      hosts: [`127.0.0.1:${one}`],
      passives: [`127.0.0.1:${two}`, `127.0.0.1:${three}`],
    });
    await expect(follower.collection("loans").insertOne({})).rejects.toMatchObject({ code: 10107 });
    expect(await follower.collection("loans").countDocuments()).toBe(301);
    // A command without a read preference is meant for a primary.
    const plain = await connect("replicaSet=rs", one);
    expect(await plain.db("library").collection("loans").countDocuments()).toBe(301);
  });

  it("is refused where a member does not answer, and where two are the same", async () => {
    const one = await start("one");
    const admin = (await directly(one)).db("admin");
    await expect(admin.command({ replSetInitiate: config([one, 1]) })).rejects.toMatchObject({
      code: 74,
      message: expect.stringContaining(
        "replSetInitiate quorum check failed because not all proposed set members responded affirmatively: 127.0.0.1:1 ",
      ) as string,
    });
    const member = { host: `127.0.0.1:${one}` };
    const twice = {
      _id: "rs",
      members: [
        { _id: 0, ...member },
        { _id: 1, ...member },
      ],
    };
    await expect(admin.command({ replSetInitiate: twice })).rejects.toMatchObject({ code: 93 });
    const arbiter = {
      _id: "rs",
      members: [
        { _id: 0, ...member },
        { _id: 1, host: "127.0.0.1:2", arbiterOnly: true },
      ],
    };
    await expect(admin.command({ replSetInitiate: arbiter })).rejects.toMatchObject({ code: 74 });
  });
});
