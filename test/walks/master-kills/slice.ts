/** Some disturbances of one cluster under load, with a check of all answers and events of its clients. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { Servers } from './api-client.ts';
import { faultsOf, sharedName } from './check-history.ts';
import type { History } from './history.ts';
import { type Disturbance, type Kind, mostAtOnce, nextDisturbance } from './plan.ts';
import { Scene } from './scene.ts';
import { Watcher } from './watcher.ts';
import { namespace, path, Records, revisionOf, Writer } from './writer.ts';

const writers = 4;
/** A time without any acknowledged write that is a fault, unless a majority is disturbed. */
const silenceMs = 60_000;
const settleMs = 120_000;

export interface SliceOptions {
  readonly masters: number;
  readonly kills: number;
  readonly seed: number;
  readonly say: (line: string) => void;
  /** Folder for the history and the logs of a slice with faults. */
  readonly evidence: string;
}

export interface SliceResult {
  readonly seed: number;
  readonly masters: number;
  readonly kills: Readonly<Partial<Record<Kind, number>>>;
  readonly acknowledged: number;
  readonly unknown: number;
  readonly refused: number;
  readonly reads: number;
  /** Events that each watcher received. */
  readonly events: number;
  /** Connections of all watches. */
  readonly watches: number;
  readonly longestGapMs: number;
  readonly seconds: number;
  readonly faults: readonly string[];
}

class Slice {
  readonly #options: SliceOptions;
  readonly #random: SeededRandom;
  readonly #scene: Scene;
  readonly #servers: Servers;
  readonly #records = new Records();
  readonly #watchers: Watcher[] = [];
  readonly #counts: Partial<Record<Kind, number>> = {};
  readonly #faults: string[] = [];
  readonly #disturbed = new Set<number>();

  constructor(options: SliceOptions, scene: Scene) {
    this.#options = options;
    this.#scene = scene;
    this.#random = new SeededRandom(options.seed);
    // Clients use a random generator of their own, because their number of requests differs in each run.
    const { next } = new SeededRandom(options.seed + 1);
    this.#servers = new Servers(scene.clients, next);
  }

  async run(): Promise<SliceResult> {
    const began = performance.now();
    const from = await this.#prepare();
    const [watching, writing] = [new AbortController(), new AbortController()];
    const watches = this.#startWatches(from, watching.signal);
    this.#records.lastAt = performance.now();
    const { next } = new SeededRandom(this.#options.seed + 2);
    const writes = Array.from({ length: writers }, (_, index) =>
      new Writer(`w${index}`, this.#servers, this.#records, next).run(writing.signal),
    );
    await this.#disturbAll();
    await this.#alone();
    writing.abort();
    await Promise.all(writes);
    const { end, lists } = await this.#settle();
    watching.abort();
    await Promise.all(watches);
    const history: History = { ...this.#records, sights: this.#watchers, end, lists };
    this.#faults.push(...this.#records.odd, ...faultsOf(history));
    if (this.#faults.length > 0) this.#keepEvidence(history);
    return this.#result((performance.now() - began) / 1000);
  }

  /** Creates the objects that the writers need. Resolves to the revision at which the record begins. */
  async #prepare(): Promise<number> {
    const [client] = this.#scene.clients;
    const metadata = { name: namespace };
    await client?.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    const { body } = (await client?.send('GET', path)) ?? {};
    const from = Number((body as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
    await this.#writeAlone(sharedName, 'w.0');
    return from;
  }

  /** One watch stays with each master, and one changes to any other master. */
  #startWatches(from: number, signal: AbortSignal): readonly Promise<void>[] {
    const { odd } = this.#records;
    for (const [index, client] of this.#scene.clients.entries())
      this.#watchers.push(new Watcher(`watch of m${index + 1}`, from, () => client, odd));
    this.#watchers.push(new Watcher('watch of any', from, () => this.#servers.pick(), odd));
    return this.#watchers.map((watcher) => watcher.run(signal));
  }

  async #disturbAll(): Promise<void> {
    for (let n = 0; n < this.#options.kills && this.#faults.length === 0; n++) {
      const most = mostAtOnce(this.#random);
      await this.#until(() => this.#disturbed.size < most);
      const next = nextDisturbance(this.#random, this.#options.masters, this.#disturbed);
      this.#counts[next.kind] = (this.#counts[next.kind] ?? 0) + 1;
      this.#begin(n, next);
      await pause(next.restMs);
    }
  }

  #begin(n: number, next: Disturbance): void {
    const began = performance.now();
    const before = this.#records.acknowledged;
    this.#disturbed.add(next.master);
    const others = this.#disturbed.size - 1;
    this.#scene
      .disturb(next)
      .then(
        () => {
          const seconds = ((performance.now() - began) / 1000).toFixed(1);
          const acknowledged = this.#records.acknowledged - before;
          const beside = others > 0 ? ` beside ${others}` : '';
          this.#options.say(
            `${n} ${next.kind} m${next.master + 1}${beside}: ${seconds} s, ${acknowledged} writes`,
          );
        },
        (error: unknown) => void this.#faults.push(`${n} ${next.kind} m${next.master + 1}: ${String(error)}`),
      )
      .finally(() => this.#disturbed.delete(next.master));
  }

  /** Waits; ends with a fault when no write was acknowledged for long. */
  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo() && this.#faults.length === 0) {
      const silent = performance.now() - this.#records.lastAt;
      if (silent > silenceMs + this.#disturbed.size * silenceMs)
        this.#faults.push(`no write was acknowledged for ${Math.round(silent / 1000)} s`);
      await pause(20);
    }
  }

  async #alone(): Promise<void> {
    await waitFor('the end of every disturbance', () => this.#disturbed.size === 0, { timeoutMs: 300_000 });
  }

  /** Creates an object that no writer changes; resolves to its revision. */
  async #writeAlone(name: string, value: string): Promise<number> {
    return waitFor(`the object ${name}`, async () => {
      const sentAt = performance.now();
      const client = this.#servers.pick();
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } };
      const answer = await client.send('POST', path, map);
      if (answer.code !== 201) throw new Error(JSON.stringify(answer.body));
      const revision = revisionOf(answer.body as never);
      const answeredAt = performance.now();
      const outcome = 'acknowledged';
      this.#records.add({ verb: 'create', name, value, sentAt, answeredAt, outcome, revision });
      return revision;
    });
  }

  /** Waits until every watch has the last write, and lists the objects at each master. */
  async #settle(): Promise<Pick<History, 'end' | 'lists'>> {
    const end = await this.#writeAlone('last', 'w.last');
    for (const watcher of this.#watchers)
      await waitFor(watcher.watcher, () => watcher.last >= end, { timeoutMs: settleMs }).catch(() =>
        this.#faults.push(`${watcher.watcher} ends at ${watcher.last}, before ${end}`),
      );
    const lists = this.#scene.clients.map(async (client) => {
      const { body } = await client.send('GET', path);
      const { items } = body as { items: { metadata: { name: string }; data?: { value?: string } }[] };
      const named = items.map(({ metadata, data }) => [metadata.name, data?.value ?? ''] as const);
      return new Map(named.filter(([name]) => name !== 'kube-root-ca.crt'));
    });
    return { end, lists: await Promise.all(lists) };
  }

  #keepEvidence(history: History): void {
    const folder = join(this.#options.evidence, `seed-${this.#options.seed}`);
    mkdirSync(folder, { recursive: true });
    const plain = { ...history, lists: history.lists.map((list) => [...list]) };
    const sights = this.#watchers.map(({ watcher, from, events }) => ({ watcher, from, events }));
    writeFileSync(join(folder, 'history.json'), JSON.stringify({ ...plain, sights }));
    writeFileSync(join(folder, 'faults.txt'), `${this.#faults.join('\n')}\n`);
    for (const { name, role } of this.#scene.masters) writeFileSync(join(folder, `${name}.log`), role.log);
  }

  #result(seconds: number): SliceResult {
    const { seed, masters } = this.#options;
    const { writes, reads, acknowledged, longestGapMs } = this.#records;
    const count = (outcome: string) => writes.filter((write) => write.outcome === outcome).length;
    return {
      ...{ seed, masters, kills: this.#counts, acknowledged, unknown: count('unknown') },
      ...{ refused: count('refused'), reads: reads.length },
      events: Math.max(...this.#watchers.map(({ events }) => events.length)),
      watches: this.#watchers.reduce((sum, { connections }) => sum + connections, 0),
      ...{ longestGapMs: Math.round(longestGapMs), seconds: Math.round(seconds), faults: this.#faults },
    };
  }
}

/** Runs on a cluster of its own, which is removed at the end. A cluster that cannot be removed is a fault. */
export async function runSlice(options: SliceOptions): Promise<SliceResult> {
  const closers: (() => Promise<void>)[] = [];
  const faults: string[] = [];
  let result: SliceResult | undefined;
  try {
    const scene = await Scene.start({ after: (fn) => closers.push(fn) }, options.masters);
    closers.push(async () => scene.close());
    result = await new Slice(options, scene).run();
  } catch (error) {
    faults.push(String(error));
  }
  for (const close of closers.toReversed()) await close().catch((error) => faults.push(String(error)));
  return { ...(result ?? nothing(options)), faults: [...(result?.faults ?? []), ...faults] };
}

const nothing = ({ seed, masters }: SliceOptions): SliceResult => ({
  ...{ seed, masters, kills: {}, acknowledged: 0, unknown: 0, refused: 0, reads: 0, events: 0, watches: 0 },
  ...{ longestGapMs: 0, seconds: 0, faults: [] },
});
