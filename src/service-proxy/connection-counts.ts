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

/** One element of a map, without the text of the map before it. */
const element = /([^\s{]\S* \. [^{]*) \. 0x[0-9a-f]+ counter packets (\d+) bytes \d+ : (\S+ \. \d+)/;

/** Counts of one reading, by the element. Several slots may lead to one endpoint. */
export type Reading = ReadonlyMap<string, ConnectionCount>;

/** Number of elements that are read in one turn of the event loop: a map may have a hundred thousand. */
const atOnce = 2_000;

/**
 * Adds the counts in the output of `nft list map` to a reading, without endpoints that got no connection.
 * Yields from time to time, so that the caller can wait for the next turn.
 */
export function* addCounts(reading: Map<string, ConnectionCount>, text: string): Generator<void> {
  let elements = 0;
  for (let from = 0, end = 0; end !== -1; from = end + 1) {
    end = text.indexOf(',', from);
    const one = text.slice(from, end === -1 ? text.length : end);
    if (!one.includes(' packets 0 ')) addElement(reading, one);
    if (++elements % atOnce === 0) yield;
  }
}

function addElement(reading: Map<string, ConnectionCount>, text: string): void {
  const [, key = '', packets, target = ''] = element.exec(text) ?? [];
  if (packets === undefined) return;
  const one = { key, target, count: Number(packets) };
  const id = `${key} ${target}`;
  const known = reading.get(id);
  reading.set(id, known ? { ...one, count: one.count + known.count } : one);
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
