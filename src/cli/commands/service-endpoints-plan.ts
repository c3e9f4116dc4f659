/** The endpoints of a Service, for its description. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { recordsAt, textAt, valueAt } from '../objects/objects.ts';

/**
 * Returns the addresses and ports that the Service's connections go to, such as
 * `10.244.0.7:8080, 10.244.0.9:8080`, or `<none>` with the reason. `slices` are the Service's EndpointSlices.
 */
export function endpointsText(service: JsonObject, slices: readonly JsonObject[]): string {
  if (textAt(service, 'spec', 'type') === 'ExternalName') return '<none>';
  const all = slices.flatMap((slice) =>
    recordsAt(slice, 'endpoints').map((endpoint) => ({ slice, endpoint })),
  );
  const ready = all.filter(({ endpoint }) => valueAt(endpoint, 'conditions', 'ready') !== false);
  const targets = ready.flatMap(({ slice, endpoint }) => {
    const ports = recordsAt(slice, 'ports').map(({ port }) => port);
    return addressesOf(endpoint).flatMap((address) =>
      ports.length === 0 ? [address] : ports.map((port) => `${bracketed(address)}:${String(port)}`),
    );
  });
  if (targets.length > 0) return [...new Set(targets)].sort().join(', ');
  if (all.length > 0) return `<none> (pods that the selector matches: ${all.length}, ready: 0)`;
  const selector = valueAt(service, 'spec', 'selector');
  const labels = Object.entries(isRecord(selector) ? selector : {});
  if (labels.length === 0) return '<none>';
  return `<none> (no running pod has the labels ${labels.map(([key, value]) => `${key}=${String(value)}`).join(',')})`;
}

function addressesOf(endpoint: JsonObject): string[] {
  const { addresses } = endpoint;
  return Array.isArray(addresses) ? addresses.filter((address) => typeof address === 'string') : [];
}

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);
