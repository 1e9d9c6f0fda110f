import { planProperties } from "./plannerProperties.js";

planProperties(60);
