/**
 * Reads resource usage from kubelets on demand: a kubelet measures only while requests arrive and for a while
 * after, so nothing is measured without a client. Requests within two seconds share a result.
 */
import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { NodeConnection } from '../node-connection.ts';
import { type NodeSample, sampleOf } from './sample.ts';

export interface NodeSamplesOptions {
  readonly connection: NodeConnection | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const freshMs = 2_000;
/** Timeout in milliseconds of a kubelet. */
const patienceMs = 5_000;
/** Milliseconds between two readings from which a rate is computed. */
const rateMs = 1_000;
/** Maximum number of concurrent requests to kubelets. */
const atOnce = 32;
/**
 * Maximum size in bytes: 110 pods of a few containers are 100 KB. Parsing an answer delays other requests.
 */
const maxAnswerLength = 4 * 2 ** 20;
const path = '/stats/summary?only_cpu_and_memory=true';

interface Asked {
  readonly at: number;
  readonly sample: Promise<NodeSample | undefined>;
}

export class NodeSamples {
  readonly #options: NodeSamplesOptions;
  readonly #asked = new Map<string, Asked>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: NodeSamplesOptions) {
    this.#options = options;
  }

  /** Returns samples by the node's name, without nodes that do not answer. */
  async of(nodes: Iterable<string>): Promise<ReadonlyMap<string, NodeSample>> {
    const names = [...new Set(nodes)];
    const samples = await Promise.all(names.map((name) => this.#sample(name)));
    return new Map(
      names.flatMap((name, index) => {
        const sample = samples[index];
        return sample ? [[name, sample] as const] : [];
      }),
    );
  }

  #sample(name: string): Promise<NodeSample | undefined> {
    const now = this.#options.clock.monotonic();
    const known = this.#asked.get(name);
    if (known && now - known.at < freshMs) return known.sample;
    for (const [other, { at }] of this.#asked) if (now - at >= freshMs) this.#asked.delete(other);
    const sample = this.#inTurn(() => this.#ask(name));
    this.#asked.set(name, { at: now, sample });
    return sample;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /**
   * Reads a node's usage, twice if the first answer has no rates because the kubelet had not been asked
   * before.
   */
  async #ask(name: string): Promise<NodeSample | undefined> {
    const { clock, log } = this.#options;
    try {
      const first = await this.#read(name);
      if (!first.lacksRates) return first;
      await sleep(clock, rateMs);
      return await this.#read(name);
    } catch (error) {
      log.debug('cannot read the resource usage of a node', { node: name, error: errorMessage(error) });
      return undefined;
    }
  }

  async #read(name: string): Promise<NodeSample> {
    const { clock, connection } = this.#options;
    if (!connection) throw new Error('this server has no connection to nodes');
    const late = new AbortController();
    const timer = clock.after(patienceMs, () => late.abort(new Error(`no answer for ${patienceMs} ms`)));
    try {
      const answer = await connection(name, path, late.signal);
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      return sampleOf(JSON.parse(await textOf(answer)));
    } finally {
      timer.cancel();
    }
  }
}

async function textOf(answer: Response): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    length += part.length;
    if (length > maxAnswerLength) throw new Error(`it answered more than ${maxAnswerLength} bytes`);
    parts.push(Buffer.from(part));
  }
  return Buffer.concat(parts).toString();
}
