// An audit as one HTML page, for the file of a data officer.

import { whatNeighboursLearn } from "@fedkm/device";
import { escaped, htmlPage, htmlTable } from "@fedkm/pictures";
import { version } from "../../version.ts";
import { type Answer, figuresOf, heading } from "./words.ts";

export function auditPage(answer: Answer): string {
  const { study, privacy, minimum, epsilon, source, attacks, verdict, remaining } = answer;
  const title = `Privacy audit: ${study}`;
  const [attackName, ...figures] = heading;
  const found = attacks.map((attack) => [attack.title, attack.leak, ...figuresOf(attack)]);
  return htmlPage(
    title,
    `<h1>${escaped(title)}</h1>
<p>The mode is "${escaped(privacy)}" with ${epsilon === undefined ? `a minimum of ${minimum} rows` : `epsilon ${epsilon}`}. Attacked: ${escaped(source)}.</p>
<p>In this mode ${escaped(whatNeighboursLearn[privacy])}.</p>
<h2>Verdict</h2>
<p class="answer"><strong>${escaped(verdict)}</strong></p>
<h2>What attackers learnt</h2>
<p>Every attack sees only what its attackers would see. A judge who knows the rows counts what is right.</p>
${htmlTable({ heading: [attackName, "the worst that was learnt", ...figures], rows: found, names: 2 })}
<h2>What remains possible</h2>
<ul>
${remaining.map((line) => `<li>${escaped(line)}</li>`).join("\n")}
</ul>
<h2>The attacks</h2>
<ul>
${attacks.map((attack) => `<li><strong>${escaped(attack.title)}</strong>: ${escaped(attack.explanation)}</li>`).join("\n")}
</ul>
<footer>fedkm ${escaped(version())}, fedkm audit</footer>`,
  );
}
