/** The language that all parts of the system speak: requests, replies, errors, and their bytes on the wire. */
export type {
  ClientInfo,
  Endpoint,
  Environment,
  KnownHashes,
  PoolStatistics,
  Reply,
  Request,
} from "./endpoint.js";
export { LogicalClock } from "./clock.js";
export { EndpointUnreachableError } from "./endpoint.js";
export {
  codeName,
  CommandError,
  ErrorCode,
  errorReply,
  notSimulated,
  okReply,
  wrongFieldType,
} from "./errors.js";
export {
  bodyField,
  checkDatabaseName,
  checkNamespace,
  collectionNamespace,
  documentsOf,
  failureOf,
  isOk,
  replyDocument,
  request,
  throwIfFailed,
} from "./command.js";
export type { ArgumentsDefinition } from "./arguments.js";
export { Arguments, isGeneric } from "./arguments.js";
export type { OperationKind, OperationResult } from "./bulkReplies.js";
export { BulkReplies } from "./bulkReplies.js";
export type { BulkOperation, BulkTarget, DeleteParts, UpdateParts } from "./bulkWrite.js";
export { deleteParts, readArrayFilters, readBulkOperations, updateParts } from "./bulkWrite.js";
export { isRawValue, writeErrorFields } from "./writeErrors.js";
export {
  checkBatch,
  checkBatchSize,
  checkObjectSize,
  checkRequest,
  checkSystemCollection,
  isReshardingName,
} from "./checks.js";
export type { CursorBatch } from "./cursor.js";
export { cursorReply, readCursorReply } from "./cursor.js";
export type { MessageHeader } from "./header.js";
export {
  FramingError,
  HEADER_BYTES,
  MAX_BSON_OBJECT_BYTES,
  MAX_INTERNAL_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_WRITE_BATCH,
  messageLength,
  OpCode,
  readHeader,
} from "./header.js";
export type { IncomingRequest } from "./message.js";
export { encodeReply, parseRequest } from "./message.js";
export { encodeMsgReply, encodeMsgRequest, parseMsgReply } from "./opMsg.js";
export { encodeQueryReply } from "./opQuery.js";
export type { RetryableNumber } from "./session.js";
export {
  incompatibleRetry,
  retryableNumber,
  sessionKey,
  statementIds,
  transactionTooOld,
} from "./session.js";
export type { ParameterDefinition, ParameterDetails } from "./parameters.js";
export * as parameters from "./parameters.js";
export { ParameterSet } from "./parameters.js";
export { getParameters, setParameters } from "./parameterCommands.js";
export { hostInfoReply } from "./hostInfoReply.js";
export { READ_FIELDS } from "./readFields.js";
export type {
  CommandLine,
  ConnectionCounts,
  HostInfo,
  MemoryUse,
  NetworkUse,
  ShutdownRequest,
} from "./process.js";
export type { NamespaceUse, OperationCounts, Use } from "./statistics.js";
export { ServerStatistics } from "./statistics.js";
export { encodeTree, treeReply } from "./tree.js";
export { SERVER_VERSION, WIRE_VERSIONS } from "./release.js";
