/**
 * collMod: changes what may be changed of a collection, an index or a view.
 *
 *     {collMod: "loans", index: {name: "due_1", expireAfterSeconds: 60}}
 *       → {expireAfterSeconds_old: 3600, expireAfterSeconds_new: 60, ok: 1}
 *
 * All of it is checked before anything is changed.
 */
import type { Reply } from "../../protocol/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { modifyIndex, planIndexChange } from "../collectionIndexChange.js";
import { checkValidatorNamespace } from "../collectionRules.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Arguments, Command, CommandContext } from "../command.js";
import type { View } from "../storage/catalog.js";
import type { Collection } from "../storage/collection.js";
import type { OptionChanges } from "../storage/collectionOptions.js";
import {
  changedOptions,
  readCappedMax,
  readCappedSize,
  readPipeline,
  readValidation,
} from "../storage/collectionOptions.js";
import { treeReply } from "../tree.js";
import { viewReads } from "../viewDefinition.js";

/** Options of collections, that views have not. */
const NOT_ON_VIEWS = ["index", "validator", "validationLevel", "validationAction", "cappedSize", "cappedMax"];
/** Options of views, that collections have not. */
const ON_VIEWS = ["pipeline", "viewOn"];

export const collMod: Command = {
  name: "collMod",
  fields: [...NOT_ON_VIEWS, ...ON_VIEWS, "dryRun", "collectionUUID"],
  refused: {
    changeStreamPreAndPostImages: "changeStreamPreAndPostImages",
    expireAfterSeconds: "clustered collections",
    prepareConstraintValidationLevel: "prepareConstraintValidationLevel",
    recordIdsReplicated: "recordIdsReplicated",
    timeseries: "time series collections",
    timeseriesBucketsMayHaveMixedSchemaData: "time series collections",
  },
  writes: true,
  help: "Sets collection options.",
  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const dryRun = args.boolean("dryRun");
    if (dryRun) checkDryRun(args);
    const view = server.catalog.findView(namespace);
    if (view) return modifyView(context, view);
    const collection = server.catalog.find(namespace);
    checkCollectionUuid(server.catalog, namespace, args);
    if (!collection) throw new CommandError(ErrorCode.NamespaceNotFound, "ns does not exist");
    return modifyCollection(context, collection, dryRun);
  },
};

/** @throws CommandError InvalidOptions (72) for a dry run of anything but `unique: true` */
function checkDryRun(args: Arguments): void {
  if (!args.get("index")) throw invalid("dry run mode requires an valid index modification.");
}

function modifyCollection(
  { server, arguments: args, interrupt }: CommandContext,
  collection: Collection,
  dryRun: boolean,
): Reply {
  for (const name of ON_VIEWS) if (args.get(name)) throw invalid(`option only supported on a view: ${name}`);
  const capped = cappedChange(args, collection);
  const change = planIndexChange(args, collection, otherChanges(args), dryRun, interrupt);
  const changes = optionChanges(args, collection, capped);
  const settings =
    Object.keys(changes).length > 0
      ? changedOptions(collection.settings, changes, server.environment)
      : undefined;
  if (dryRun) return okReply();
  const reply = change ? modifyIndex(collection, change) : {};
  if (settings) {
    collection.settings = settings;
    collection.redefined();
  }
  return treeReply(reply);
}

/** How many options beside `index` are to change. */
function otherChanges(args: Arguments): number {
  return NOT_ON_VIEWS.filter((name) => name !== "index" && args.get(name)).length;
}

function cappedChange(args: Arguments, { settings }: Collection): OptionChanges["capped"] {
  const size = readCappedSize(args, "cappedSize");
  const max = readCappedMax(args, "cappedMax");
  if (size === undefined && max === undefined) return undefined;
  if (!settings.capped) throw invalid("Collection must be capped.");
  const newMax = max ?? settings.capped.max;
  return { size: size ?? settings.capped.size, ...(newMax !== undefined && { max: newMax }) };
}

function optionChanges(
  args: Arguments,
  { namespace }: Collection,
  capped: OptionChanges["capped"],
): OptionChanges {
  const validator = args.document("validator");
  if (validator && validator.length > 5) checkValidatorNamespace(namespace);
  return { ...(capped && { capped }), ...(validator && { validator }), ...readValidation(args) };
}

function modifyView({ server, arguments: args }: CommandContext, view: View): Reply {
  for (const name of NOT_ON_VIEWS) {
    if (args.get(name)) throw invalid(`option not supported on a view: ${name}`);
  }
  const on = args.string("viewOn") ?? view.options.view?.on ?? "";
  if (on === "") throw new CommandError(ErrorCode.BadValue, "'viewOn' cannot be empty");
  const pipeline = readPipeline(args) ?? view.pipeline;
  const options = changedOptions(view.options, { view: { on, pipeline } }, server.environment);
  server.catalog.replaceView(view.namespace, options, viewReads(server, view.namespace, options));
  return okReply();
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidOptions, message);
}
