// The entry of the dashboard.

import "../palette.css";
import "../page.css";
import { mount } from "svelte";
import Dashboard from "./Dashboard.svelte";

mount(Dashboard, { target: document.getElementById("page") as HTMLElement });
