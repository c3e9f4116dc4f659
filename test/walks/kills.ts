/**
 * `npm run walk:kills`: kills the node agent or its engine while a pod starts and ends; with --masters, kills
 * masters and members of etcd under load. Ends with status 1 after a fault.
 */
import { parseArgs } from 'node:util';
import { type Victim, victims } from '../e2e/harness/kill-walk.ts';
import { walkAgent } from './agent-kills.ts';
import { walkMasters } from './master-kills/main.ts';

const help = `usage: npm run walk:kills -- [--victim=NAME] [--from=N] [--to=N] [--every=N]
       npm run walk:kills -- --masters=N [--kills=N] [--seed=N] [--slice=N] [--record=FILE]
  --victim=NAME  ${victims.map((name) => `"${name}"`).join(', ')}; by default all, one after the other
  --from=N       number of the first call, counted from 0 (default 0)
  --to=N         number of the last call; by default the last call of the pod
  --every=N      kill only at each Nth call (default 1)
  --masters=N    masters with the embedded etcd that are killed, frozen, cut off and refilled: 3 or more
  --kills=N      number of kills, including those in the record (default 100)
  --seed=N       seed that determines the kills; by default drawn and printed
  --slice=N      kills of one cluster, after which its history is checked (default 100)
  --record=FILE  file with one line for each cluster (default dist/test-results/master-kills.jsonl)
`;
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    victim: { type: 'string' },
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: '1000' },
    every: { type: 'string', default: '1' },
    masters: { type: 'string' },
    kills: { type: 'string', default: '100' },
    seed: { type: 'string' },
    slice: { type: 'string', default: '100' },
    record: { type: 'string' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Exits with status 2 for a value that is no integer of at least `least`. */
function integer(text: string, least: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  process.stderr.write(help);
  process.exit(2);
}

async function walk(): Promise<boolean> {
  const { masters, seed, record, victim } = values;
  if (masters !== undefined)
    return walkMasters({
      ...{ masters: integer(masters, 3), kills: integer(values.kills, 1), slice: integer(values.slice, 1) },
      ...{ seed: seed === undefined ? undefined : integer(seed, 0), record, say },
    });
  const chosen: readonly Victim[] = victims.filter((name) => victim === undefined || name === victim);
  if (chosen.length === 0) integer('', 1);
  const [from, to] = [integer(values.from, 0), integer(values.to, 0)];
  return walkAgent({ chosen, from, to, every: integer(values.every, 1) });
}

process.exitCode = (await walk()) ? 0 : 1;
