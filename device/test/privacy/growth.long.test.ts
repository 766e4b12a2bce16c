// The growth of growth.test.ts to 1,500 rows, and 120 steps of churn.

import "./growth.test.ts";
