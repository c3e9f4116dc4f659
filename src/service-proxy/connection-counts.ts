/**
 * Connections that the kernel has opened to the endpoints of Services, from the counters of the maps of
 * endpoints. A connection counts at its first packet, whether the endpoint accepts it or not. Pure.
 */
import type { ElementName } from './elements.ts';

/** Maps with counters. */
export const countedMaps = ['endpoints', 'node-port-endpoints'] as const satisfies readonly ElementName[];
export type CountedMap = (typeof countedMaps)[number];

/** Number of connections since the element was added. */
export interface ConnectionCount {
  /** Key of the Service port, as in the map of Services or of node ports, such as `10.96.0.9 . tcp . 80`. */
  readonly key: string;
  /** The endpoint, such as `10.244.0.7 . 8080`. */
  readonly target: string;
  readonly count: number;
}

const element = /([^\s,{][^,{]*?) \. 0x[0-9a-f]+ counter packets ([1-9]\d*) bytes \d+ : (\S+ \. \d+)/g;

/** Returns the counts in the output of `nft list map`, without endpoints that got no connection. */
export const countsIn = (text: string): readonly ConnectionCount[] =>
  [...text.matchAll(element)].map(([, key = '', count, target = '']) => ({
    ...{ key, target },
    count: Number(count),
  }));

/** Counts of one reading, by the element. Several slots may lead to one endpoint. */
export type Reading = ReadonlyMap<string, ConnectionCount>;

export function readingOf(counts: readonly ConnectionCount[]): Reading {
  const reading = new Map<string, ConnectionCount>();
  for (const one of counts) {
    const id = `${one.key} ${one.target}`;
    reading.set(id, { ...one, count: one.count + (reading.get(id)?.count ?? 0) });
  }
  return reading;
}

/**
 * Returns the connections between two readings. A count that has become smaller belongs to an element that
 * was added again in between, whose connections all count.
 */
export const connectionsBetween = (before: Reading, after: Reading): readonly ConnectionCount[] =>
  [...after].flatMap(([id, one]) => {
    const old = before.get(id)?.count ?? 0;
    const count = one.count < old ? one.count : one.count - old;
    return count > 0 ? [{ ...one, count }] : [];
  });
