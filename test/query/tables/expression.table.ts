/** What MongoDB documents for each expression operator. */
import { arrayRows } from "./expressionArrays.table.js";
import { dateRows } from "./expressionDates.table.js";
import { numberRows } from "./expressionNumbers.table.js";
import { textRows } from "./expressionText.table.js";
import type { ExpressionRow } from "./row.js";

export const rows: ExpressionRow[] = [...numberRows, ...arrayRows, ...textRows, ...dateRows];
