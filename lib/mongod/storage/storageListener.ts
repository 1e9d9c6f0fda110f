/** Who wants to know what changes in a server's storage: the journal that keeps it on disk. */
import type { View } from "./catalog.js";
import type { Collection } from "./collection.js";

/** Told of every change after it has happened. */
export interface StorageListener {
  /** A collection came into being, or its name, options or indexes are others now. */
  defined(collection: Collection): void;
  dropped(collection: Collection): void;
  viewDefined(view: View): void;
  viewDropped(namespace: string): void;
  /** A record has a document: a new one, or another than before. */
  stored(collection: Collection, id: number): void;
  deleted(collection: Collection, id: number): void;
}
