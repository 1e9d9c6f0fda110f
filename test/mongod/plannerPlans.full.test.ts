import { planProperties } from "./plannerProperties.js";

planProperties(1500);
