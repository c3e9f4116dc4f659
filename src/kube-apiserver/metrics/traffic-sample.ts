/** Parses a kubelet's report of connections to Services (/stats/services). Pure. */
import type { RateSample } from './node-samples.ts';
import { listOf, objectOf, textOf } from './report-fields.ts';

export const trafficPath = '/stats/services';

export interface EndpointTraffic {
  readonly address: string;
  readonly port: number;
  /** Connections per second. */
  readonly perSecond: number;
}

export interface TrafficSample extends RateSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly windowMs: number;
  /** Endpoints with connections, by the key of their Service. */
  readonly services: ReadonlyMap<string, readonly EndpointTraffic[]>;
}

const amountOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= maxAmount ? value : undefined;
/** Amounts above this are no times and no rates. */
const maxAmount = 8.64e15;

/** Parses a report; parts of unknown form are left out, because a kubelet may send anything. */
export function trafficOf(report: unknown): TrafficSample {
  const { at, windowMs, endpoints } = objectOf(report);
  const [time, window] = [amountOf(at), amountOf(windowMs)];
  const services = new Map<string, EndpointTraffic[]>();
  for (const one of listOf(endpoints)) {
    const [port, perSecond] = [amountOf(one.port), amountOf(one.perSecond)];
    if (port === undefined || perSecond === undefined) continue;
    const key = `${textOf(one.namespace)}/${textOf(one.service)}`;
    const endpoint = { address: textOf(one.address), port, perSecond };
    const known = services.get(key);
    if (known) known.push(endpoint);
    else services.set(key, [endpoint]);
  }
  return { at: time ?? 0, windowMs: window ?? 0, services, lacksRates: window === undefined };
}
