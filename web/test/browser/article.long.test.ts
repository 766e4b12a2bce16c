// The same, in all colours and widths.

import "./article.test.ts";
