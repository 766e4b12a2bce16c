// The same with many problems: npm run test:long.

import "./gaussianBudget.test.ts";
