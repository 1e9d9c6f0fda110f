/** Executed notebooks as self-contained web pages. */
export { exportHtml } from "./page.js";
