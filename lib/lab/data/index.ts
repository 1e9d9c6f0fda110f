/** Seeded data sets for lessons: `data.events(100_000)`. */
export { dataSet } from "./dataset.js";
export type { BatchOptions, DataSet } from "./dataset.js";
export { events } from "./events.js";
export type { EventOptions, SensorEvent } from "./events.js";
export { randomAt } from "./random.js";
