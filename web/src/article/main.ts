// The entry of the article. Addresses of the playground from before it had a page of its own lead there.

import "../palette.css";
import "../page.css";
import "./article.css";
import { mount } from "svelte";
import Article from "./Article.svelte";

if (location.hash.includes("=")) location.replace(`playground.html${location.hash}`);
else mount(Article, { target: document.getElementById("page") as HTMLElement });
