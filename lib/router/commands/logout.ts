/** `logout`: nobody is logged in, so everybody can log out. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const logout: Command = {
  name: "logout",
  fields: [],
  help: "de-authenticate",
  run: () => okReply(),
};
