/** Endpoints over TCP: any endpoint as a server, any server as an endpoint. */
export type { ConnectionCounts, ServeOptions, TcpServer, Traffic } from "./server.js";
export { ListenError, serve } from "./server.js";
export type { TcpEndpointOptions } from "./client.js";
export { TcpEndpoint } from "./client.js";
export { connectTo, ReplicaSetEndpoint } from "./replicaSet.js";
