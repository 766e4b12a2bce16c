// Wall clocks that jump by ten years while devices work: nothing may notice.

import { print } from "../measure.ts";
import { problem } from "./setting.ts";
import { tcpNetwork } from "./tcpNetwork.ts";

const TEN_YEARS_MILLISECONDS = 10 * 365.25 * 86_400_000;

export async function clockSteps(): Promise<boolean> {
  const steady = await runTo(() => 0);
  let steps = 0;
  const stepped = await runTo(() => {
    steps += 1;
    return steps % 2 === 0 ? TEN_YEARS_MILLISECONDS : -TEN_YEARS_MILLISECONDS;
  });
  const change = (100 * (stepped.objective - steady.objective)) / steady.objective;
  print("Wall clock stepped by +-10 years, ten devices over TCP", [
    ["steps", "rounds without", "rounds with", "links lost", "objective"],
    [String(steps), String(steady.rounds), String(stepped.rounds), String(stepped.lost), `${change.toFixed(4)} %`],
  ]);
  return stepped.isSettled && stepped.lost === 0 && Math.abs(change) < 0.1;
}

async function runTo(step: () => number) {
  const given = problem("iso", 2);
  const network = await tcpNetwork({ ...given, seed: 2 });
  const realNow = Date.now;
  let offset = 0;
  Date.now = () => realNow() + offset;
  const stepping = setInterval(() => {
    offset = step();
  }, 250);
  try {
    await Promise.all(given.datasets.map((_, i) => network.start(i)));
    const isSettled = await network.settled(60_000);
    const statuses = network.devices.map((device) => device.status());
    const rounds = statuses.reduce((sum, { round }) => sum + round, 0);
    const lost = statuses.flatMap(({ neighbours }) => neighbours).filter(({ isConnected }) => !isConnected).length;
    return { isSettled, rounds, lost, objective: network.objective() };
  } finally {
    clearInterval(stepping);
    Date.now = realNow;
    await network.close();
  }
}
