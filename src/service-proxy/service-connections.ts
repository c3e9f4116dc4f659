/**
 * The connections per second of Services, read from the kernel on demand: without a client nothing is read.
 * Clients that ask within a few seconds share a reading.
 */
import type { ObjectKey } from '../apimachinery/meta.ts';
import { type Clock, nextTurn } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Exec } from '../os/exec.ts';
import {
  addCounts,
  type ConnectionCount,
  type CountedMap,
  connectionsBetween,
  countedMaps,
  type Reading,
} from './connection-counts.ts';

/** Connections of this node to one endpoint of a Service. */
export interface EndpointConnections {
  readonly namespace: string;
  readonly service: string;
  readonly address: string;
  readonly port: number;
  readonly perSecond: number;
}

export interface ServiceConnections {
  /** Time of the later reading, in milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds between the two readings; undefined before the second one. */
  readonly windowMs: number | undefined;
  /** Endpoints without connections are left out. */
  readonly endpoints: readonly EndpointConnections[];
}

export interface ConnectionReaderOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tables of the proxy, such as `ip minik8s-proxy`. */
  readonly tables: readonly string[];
  /** Returns the Service that owns an element of a map of Services or node ports. */
  readonly serviceOf: (map: CountedMap, key: string) => ObjectKey | undefined;
}

/** Age up to which a result is returned again. */
const sharedMs = 4_000;
/** Shortest time between the readings of a rate. */
const minWindowMs = 900;
/** Age from which an earlier reading is not compared any more. */
const maxWindowMs = 60_000;

interface TimedReading {
  readonly at: number;
  readonly counts: ReadonlyMap<CountedMap, Reading>;
}

export class ConnectionReader {
  readonly #options: ConnectionReaderOptions;
  #last: TimedReading | undefined;
  #result: { readonly at: number; readonly connections: ServiceConnections } | undefined;
  #running: Promise<ServiceConnections> | undefined;

  constructor(options: ConnectionReaderOptions) {
    this.#options = options;
  }

  /** Returns the connections since the reading before; a first call has none, and no window. */
  read(): Promise<ServiceConnections> {
    const now = this.#options.clock.monotonic();
    const result = this.#result;
    if (result && now - result.at < sharedMs) return Promise.resolve(result.connections);
    this.#running ??= this.#readAgain().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #readAgain(): Promise<ServiceConnections> {
    const { clock } = this.#options;
    const before = this.#last;
    const counts = new Map<CountedMap, Reading>();
    for (const map of countedMaps) counts.set(map, await this.#countsOf(map));
    const at = clock.monotonic();
    const age = before && at - before.at;
    if (age !== undefined && age < minWindowMs)
      return { at: clock.now(), windowMs: undefined, endpoints: [] };
    this.#last = { at, counts };
    if (!before || age === undefined || age > maxWindowMs)
      return { at: clock.now(), windowMs: undefined, endpoints: [] };
    const endpoints = countedMaps.flatMap((map) =>
      connectionsBetween(before.counts.get(map) ?? noCounts, counts.get(map) ?? noCounts).flatMap((one) =>
        this.#endpointOf(map, one, age / 1000),
      ),
    );
    const connections = { at: clock.now(), windowMs: age, endpoints };
    this.#result = { at, connections };
    return connections;
  }

  async #countsOf(map: CountedMap): Promise<Reading> {
    const { exec, clock, tables, log } = this.#options;
    const counts = new Map<string, ConnectionCount>();
    for (const table of tables)
      try {
        const { stdout } = await exec('nft', ['list', 'map', ...table.split(' '), map]);
        for (const _ of addCounts(counts, stdout)) await nextTurn(clock);
      } catch (error) {
        log.debug('the connections of Services were not read', { table, error: errorMessage(error) });
      }
    return counts;
  }

  #endpointOf(map: CountedMap, { key, target, count }: ConnectionCount, seconds: number) {
    const owner = this.#options.serviceOf(map, key);
    const [namespace = '', service = ''] = owner?.split('/') ?? [];
    const [address = '', port] = target.split(' . ');
    if (service === '') return [];
    return [{ namespace, service, address, port: Number(port), perSecond: count / seconds }];
  }
}

const noCounts: Reading = new Map();
