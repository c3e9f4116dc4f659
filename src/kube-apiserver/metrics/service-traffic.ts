/**
 * Computes the traffic of Services from the reports of all nodes: each node counts the connections that its
 * clients open.
 */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { type ServiceTraffic, serviceTrafficResource } from '../../api/traffic/v1/service-traffic.ts';
import { objectKey } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { MeasureQuery } from '../../apiserver/kind-behavior.ts';
import { rfc3339 } from '../../base/clock.ts';
import { headOf, type Reader, selected } from './measured-objects.ts';
import type { NodeSamples } from './node-samples.ts';
import type { EndpointTraffic, TrafficSample } from './traffic-sample.ts';

/**
 * Returns the traffic of the Services that the query selects. A list has the Services with connections; a
 * Service that is requested by its name may have none.
 */
export async function measureServices(
  server: Reader,
  samples: NodeSamples<TrafficSample>,
  query: MeasureQuery,
): Promise<ServiceTraffic[]> {
  const services = selected<Service>(server, serviceResource as ResourceDefinition, query);
  if (services.length === 0) return [];
  const nodes = selected<Node>(server, nodeResource as ResourceDefinition, everyNode);
  const known = [...(await samples.of(nodes.map(({ metadata }) => metadata.name))).values()];
  const measured = known.filter(({ lacksRates }) => !lacksRates);
  if (measured.length === 0) return [];
  const seconds = Math.round(Math.max(...measured.map(({ windowMs }) => windowMs)) / 1000);
  const at = Math.min(...measured.map((one) => one.at));
  return services.flatMap((service) => {
    const key = objectKey(service);
    const endpoints = together(measured.flatMap((sample) => sample.services.get(key) ?? []));
    if (endpoints.length === 0 && query.name === undefined) return [];
    return [
      {
        ...headOf(serviceTrafficResource, server, service.metadata),
        ...{ timestamp: rfc3339(at), window: `${Math.max(1, seconds)}s` },
        connectionsPerSecond: rateOf(endpoints.reduce((total, { perSecond }) => total + perSecond, 0)),
        endpoints: endpoints.map(({ address, port, perSecond }) => ({
          ...{ address, port, connectionsPerSecond: rateOf(perSecond) },
        })),
      } as ServiceTraffic,
    ];
  });
}

const everyNode: MeasureQuery = {
  ...{ namespace: '', name: undefined },
  ...{ labelSelector: { requirements: [] }, fieldSelector: [] },
};

/** Adds up what several nodes report of an endpoint. Returns the busiest endpoint first. */
function together(all: readonly EndpointTraffic[]): readonly EndpointTraffic[] {
  const byAddress = Map.groupBy(all, ({ address, port }) => `${address} ${port}`);
  return [...byAddress.values()]
    .flatMap(([first, ...more]) =>
      first
        ? [{ ...first, perSecond: more.reduce((total, one) => total + one.perSecond, first.perSecond) }]
        : [],
    )
    .sort((a, b) => b.perSecond - a.perSecond || (a.address < b.address ? -1 : 1));
}

/** Formats a rate as a quantity in thousandths, at least one of them. */
const rateOf = (perSecond: number): string =>
  perSecond === 0 ? '0' : `${Math.max(1, Math.round(perSecond * 1000))}m`;
