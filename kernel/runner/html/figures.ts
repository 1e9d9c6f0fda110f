/**
 * Drawing figures in an exported page: one copy of Plotly, and the few lines that
 * hand it the figures' data.
 *
 * Both are inline, since a page opened from a disk can load nothing, and both are
 * named by their hash in the page's content security policy: they run, and nothing
 * else on the page does.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Plotly's source, from the installed package. */
export function plotlySource(): string {
  const url = import.meta.resolve("plotly.js-cartesian-dist-min/plotly-cartesian.min.js");
  // The one thing that could end the script element early.
  return readFileSync(fileURLToPath(url), "utf8").replace(/<\/(?=script)/gi, "<\\/");
}

/**
 * Runs in the browser. Figures take the page's colours, and take them again when the
 * reader's system changes between light and dark; tables open for printing.
 */
export const drawScript = `"use strict";
const colours = () => {
  const style = getComputedStyle(document.documentElement);
  return { "font.color": style.getPropertyValue("--text").trim(), paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
};
const drawn = [];
for (const source of document.querySelectorAll("script.plot-data")) {
  const place = document.getElementById(source.dataset.for);
  try {
    const figure = JSON.parse(source.textContent);
    const layout = { ...figure.layout, autosize: true };
    delete layout.width;
    layout.font = { ...layout.font, color: colours()["font.color"] };
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    Plotly.newPlot(place, figure.data, layout, { responsive: true, displayModeBar: false })
      .then(() => drawn.push(place), () => Plotly.purge(place));
  } catch {
    place.textContent = "";
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const place of drawn) Plotly.relayout(place, colours());
});
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("main details")) details.open = true;
});
`;
