/**
 * `npm run walk:kills -- --masters=3`: kills, freezes, cuts off and refills masters and their etcd under
 * load, with several kills in each cluster. Each line of the record is one cluster, so that an
 * interrupted walk can continue.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { killsOf, recorded, summary } from './record.ts';
import { runSlice } from './slice.ts';

const results = join(import.meta.dirname, '../../../dist/test-results');

export interface MasterKillOptions {
  readonly masters: number;
  readonly kills: number;
  readonly seed: number | undefined;
  /** Number of kills of each cluster. */
  readonly slice: number;
  /** File with one line for each cluster. */
  readonly record: string | undefined;
  readonly say: (line: string) => void;
}

/** Resolves to true if there was no fault. */
export async function walkMasters(options: MasterKillOptions): Promise<boolean> {
  const { masters, kills, slice, say } = options;
  const seed = options.seed ?? Math.floor(Math.random() * 1e9);
  const record = options.record ?? join(results, 'master-kills.jsonl');
  mkdirSync(dirname(record), { recursive: true });
  const done = [...recorded(existsSync(record) ? readFileSync(record, 'utf8') : '', seed, masters)];
  say(
    `seed ${seed}; ${done.length} clusters are in ${record}; to go on after an interruption: --seed=${seed}`,
  );
  for (let left = kills - summary(done).kills; left > 0; left = kills - summary(done).kills) {
    // Each cluster has three generators with consecutive seeds.
    const own = seed + 10 * (done.length + 1);
    say(`cluster ${done.length + 1}, seed ${own}`);
    const options = { masters, kills: Math.min(slice, left), seed: own, say };
    const result = await runSlice({ ...options, evidence: join(results, 'master-kills') });
    appendFileSync(record, `${JSON.stringify({ walk: seed, ...result })}\n`);
    done.push(result);
    for (const fault of result.faults.slice(0, 20)) say(`FAULT ${fault}`);
    if (killsOf(result) === 0) break;
  }
  const total = summary(done);
  say(
    `${total.kills} kills in ${total.seconds} s: ${total.acknowledged} writes acknowledged, ` +
      `${total.unknown} without an outcome, ${total.reads} reads, ${total.events} events in each watch, ` +
      `${total.watches} watches; longest time without an acknowledged write ${total.longestGapMs} ms; ` +
      `${total.faults.length} faults`,
  );
  say(JSON.stringify(total));
  return total.faults.length === 0;
}
