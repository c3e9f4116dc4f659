/**
 * Reads reports of rates, such as resource usage, from kubelets on demand: a kubelet measures only while
 * requests arrive and for a while after, so nothing is measured without a client. Requests within two seconds
 * share a result.
 */
import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { NodeConnection } from '../node-connection.ts';

/** A report of rates. */
export interface RateSample {
  /** True if the next answer will contain more: rates need two readings. */
  readonly lacksRates: boolean;
}

export interface NodeSamplesOptions<Sample extends RateSample> {
  /** Path of the report on the kubelet's server. */
  readonly path: string;
  /** Parses a report of any form. */
  readonly parse: (report: unknown) => Sample;
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

interface Asked<Sample> {
  readonly at: number;
  readonly sample: Promise<Sample | undefined>;
}

export class NodeSamples<Sample extends RateSample> {
  readonly #options: NodeSamplesOptions<Sample>;
  readonly #asked = new Map<string, Asked<Sample>>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: NodeSamplesOptions<Sample>) {
    this.#options = options;
  }

  /** Returns samples by the node's name, without nodes that do not answer. */
  async of(nodes: Iterable<string>): Promise<ReadonlyMap<string, Sample>> {
    const names = [...new Set(nodes)];
    const samples = await Promise.all(names.map((name) => this.#sample(name)));
    return new Map(
      names.flatMap((name, index) => {
        const sample = samples[index];
        return sample ? [[name, sample] as const] : [];
      }),
    );
  }

  #sample(name: string): Promise<Sample | undefined> {
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
   * Reads a node's report, twice if the first answer has no rates because the kubelet had not been asked
   * before.
   */
  async #ask(name: string): Promise<Sample | undefined> {
    const { clock, log, path } = this.#options;
    try {
      const first = await this.#read(name);
      if (!first.lacksRates) return first;
      await sleep(clock, rateMs);
      return await this.#read(name);
    } catch (error) {
      log.debug('cannot read a report of a node', { node: name, path, error: errorMessage(error) });
      return undefined;
    }
  }

  async #read(name: string): Promise<Sample> {
    const { clock, connection, path, parse } = this.#options;
    if (!connection) throw new Error('this server has no connection to nodes');
    const late = new AbortController();
    const timer = clock.after(patienceMs, () => late.abort(new Error(`no answer for ${patienceMs} ms`)));
    try {
      const answer = await connection(name, path, late.signal);
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      return parse(JSON.parse(await textOf(answer)));
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
