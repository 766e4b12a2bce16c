// The entry of the playground.

import "../palette.css";
import "../page.css";
import { mount } from "svelte";
import Playground from "./Playground.svelte";

mount(Playground, { target: document.getElementById("page") as HTMLElement });
