/** The connections per second of Services, from the items of a list of ServiceTraffic. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../../../apimachinery/fields.ts';
import { tryParseQuantity } from '../../../../../apimachinery/quantity.ts';

export interface Traffic {
  /** Connections per second to all endpoints of a Service; 0 if nothing is known of it. */
  ofService(service: JsonObject): number;
  /** Connections per second that a Service leads to pods. */
  toPods(service: JsonObject, pods: readonly JsonObject[]): number;
}

export function trafficOf(items: readonly JsonObject[]): Traffic {
  const byService = new Map(items.map((item) => [keyOf(item), item]));
  return {
    ofService: (service) => rateOf(byService.get(keyOf(service))),
    toPods(service, pods) {
      const endpoints = recordsAt(byService.get(keyOf(service)), 'endpoints');
      if (endpoints.length === 0) return 0;
      const addresses = new Set(pods.flatMap(addressesOf));
      return endpoints
        .filter((endpoint) => addresses.has(textAt(endpoint, 'address')))
        .reduce((sum, endpoint) => sum + rateOf(endpoint), 0);
    },
  };
}

const keyOf = (object: JsonObject) => `${metadataOf(object).namespace}/${metadataOf(object).name}`;

const addressesOf = (pod: JsonObject): readonly string[] =>
  [
    textAt(pod, 'status', 'podIP'),
    ...recordsAt(pod, 'status', 'podIPs').map((one) => textAt(one, 'ip')),
  ].filter((address) => address !== '');

/** Returns a rate; 0 for a text that is no quantity. */
function rateOf(object: JsonObject | undefined): number {
  const quantity = tryParseQuantity(textAt(object, 'connectionsPerSecond'));
  return quantity ? Number(quantity.nano) / 1e9 : 0;
}

/** Returns the width of an edge in pixels: one more for each ten times as many connections. */
export const edgeWidth = (perSecond: number): number => 2 + Math.min(4, Math.log10(1 + perSecond));
