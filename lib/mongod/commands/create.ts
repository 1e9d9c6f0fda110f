/** create: makes a collection before its first document, or a view. */
import { BsonType, compareDocuments } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command, CommandContext } from "../command.js";
import type { CollectionOptions } from "../storage/collectionOptions.js";
import { CREATE_FIELDS, parseCollectionOptions } from "../storage/collectionOptions.js";
import { treeReply } from "../tree.js";
import { checkValidatorNamespace, describeExisting } from "../collectionRules.js";
import { viewReads } from "../viewDefinition.js";

export const create: Command = {
  name: "create",
  ...CREATE_FIELDS,
  writes: true,
  help: "explicitly creates a collection or view",
  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const { environment } = server;
    const options = parseCollectionOptions(args.body, environment);
    checkAutoIndexId(context);
    if (options.validator) checkValidatorNamespace(namespace);
    if (!isThere(context, namespace, options)) {
      if (options.view) server.catalog.createView(namespace, options, viewReads(server, namespace, options));
      else server.catalog.create(namespace, options);
    }
    if (!args.boolean("autoIndexId")) return okReply();
    return treeReply({
      note: "The autoIndexId option is deprecated and will be removed in a future release",
    });
  },
};

/** Every collection has its index on `_id`; only local ones could once do without. */
function checkAutoIndexId({ arguments: args }: CommandContext): void {
  const value = args.get("autoIndexId");
  if (value?.type !== BsonType.bool || args.boolean("autoIndexId")) return;
  throw new CommandError(
    ErrorCode.InvalidOptions,
    "The autoIndexId option is not allowed to be false for collections in non-'local' databases",
  );
}

/**
 * Whether the same collection or view exists already: asking again is no error.
 * @throws CommandError NamespaceExists (48) for another one of that name
 */
function isThere({ server }: CommandContext, namespace: string, wanted: CollectionOptions): boolean {
  const view = server.catalog.findView(namespace);
  const collection = server.catalog.find(namespace);
  const existing = view ?? collection;
  if (!existing) return false;
  const { raw } = view?.options ?? collection!.settings;
  if (compareDocuments(raw, wanted.raw) === 0) return true;
  throw new CommandError(ErrorCode.NamespaceExists, describeExisting(namespace, existing, wanted));
}
