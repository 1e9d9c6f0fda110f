/** The stages that look at a document's neighbours: `$setWindowFields`, `$fill`, `$densify`. */
export { densify } from "./densify.js";
export { fill } from "./fill.js";
export { setWindowFields } from "./setWindowFields.js";
