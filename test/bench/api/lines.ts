/** The lines that are measured with both servers. */
import type { Work } from './clients.ts';
import { filled } from './objects.ts';

export interface Line {
  readonly what: string;
  readonly work: Work;
  readonly inFlight: number;
  readonly ms: number;
}

export interface Amounts {
  readonly pods: number;
  readonly watchers: number;
  /** Milliseconds for each line of requests. */
  readonly ms: number;
  readonly listMs: number;
  readonly events: number;
}

export const usual: Amounts = { pods: 10_000, watchers: 1000, ms: 1500, listMs: 4000, events: 500 };
/** Amounts that only show that the benchmark works; the numbers are not meaningful. */
export const quick: Amounts = { pods: 500, watchers: 100, ms: 400, listMs: 500, events: 100 };

const widths = [1, 16, 64];
const everyMs = 10;

export function linesOf({ pods, watchers, ms, listMs, events }: Amounts): readonly Line[] {
  const read = (path: string): Work => ({ type: 'read', path, pods });
  const requests: readonly [string, Work][] = [
    ['create', { type: 'create' }],
    ['get', read(`${filled}/*`)],
    ['get at resourceVersion=0', read(`${filled}/*?resourceVersion=0`)],
    ['update', { type: 'update' }],
    ['merge patch', { type: 'patch' }],
  ];
  return [
    ...requests.flatMap(([what, work]) =>
      widths.map((inFlight) => ({ what: `${what} × ${inFlight}`, work, inFlight, ms })),
    ),
    ...[1, 4].map((inFlight) => ({
      what: `list of ${pods} pods × ${inFlight}`,
      work: read(filled),
      inFlight,
      ms: listMs,
    })),
    {
      what: `events to ${watchers} watchers, ${1000 / everyMs} changes/s`,
      work: { type: 'watch', watchers, events, everyMs },
      inFlight: 1,
      ms: 0,
    },
  ];
}
