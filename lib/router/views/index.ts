/** Views through the router: knowing them, resolving them, reading them. */
export { asAggregate, readView } from "./reading.js";
export { isAllOn, reachOf, type Reach } from "./reach.js";
export {
  isView,
  notACollection,
  resolveView,
  wholeView,
  wrongViewCollation,
  type ResolvedView,
} from "./resolve.js";
export { ViewCatalog, type ViewDefinition } from "./viewCatalog.js";
