/** Services and their related objects, as the API server returns them. */
import type { Namespace } from '../../../src/api/core/v1/namespace.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import {
  type Endpoint,
  type EndpointSlice,
  endpointSliceResource,
  serviceNameLabel,
} from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';

const metadata = (name: string, namespace?: string) => ({
  name,
  ...(namespace && { namespace }),
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

export const makeNamespace = (name: string): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: metadata(name),
});

export const makeService = (name: string, spec: Partial<Service['spec']>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name, 'shop'),
  spec: { type: 'ClusterIP', sessionAffinity: 'None', ...spec },
});

export function makeEndpoint(ip: string, more: Partial<Endpoint> = {}): Endpoint {
  return { addresses: [ip], conditions: { ready: true }, ...more };
}

export const makeSlice = (
  service: string,
  endpoints: Endpoint[],
  ports: EndpointSlice['ports'] = [],
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { ...metadata(`${service}-1`, 'shop'), labels: { [serviceNameLabel]: service } },
  addressType: 'IPv4',
  endpoints,
  ports,
});

/** Creates the namespace `shop` with web (a cluster IP), db (headless), and two names for other Services. */
export function makeShop(): ScriptedInformers {
  const informers = new ScriptedInformers();
  informers.put(namespaceResource, makeNamespace('shop'));
  const services = [
    makeService('web', {
      clusterIP: '10.96.0.20',
      ports: [
        { name: 'http', protocol: 'TCP', port: 80 },
        { name: 'quic', protocol: 'UDP', port: 443 },
        { protocol: 'TCP', port: 9000 },
      ],
    }),
    makeService('db', { clusterIP: 'None', ports: [{ name: 'sql', protocol: 'TCP', port: 5432 }] }),
    makeService('away', { type: 'ExternalName', externalName: 'Www.Example.' }),
    makeService('near', { type: 'ExternalName', externalName: 'web.shop.svc.cluster.local' }),
    makeService('round', { type: 'ExternalName', externalName: 'round.shop.svc.cluster.local' }),
    makeService('long', { type: 'ExternalName', externalName: `${'a'.repeat(64)}.example` }),
    makeService('empty', { clusterIP: 'None' }),
  ];
  for (const service of services) informers.put(serviceResource, service);
  informers.put(
    endpointSliceResource,
    makeSlice(
      'db',
      [
        makeEndpoint('10.244.0.6', { hostname: 'db-1' }),
        makeEndpoint('10.244.0.5', { hostname: 'db-0' }),
        makeEndpoint('10.244.0.7'),
        makeEndpoint('10.244.0.8', { hostname: 'db-3', conditions: { ready: false } }),
      ],
      [{ name: 'sql', protocol: 'TCP', port: 15432 }],
    ),
  );
  informers.put(
    endpointSliceResource,
    makeSlice('web', [makeEndpoint('10.244.0.9')], [{ name: 'http', protocol: 'TCP', port: 8080 }]),
  );
  return informers;
}
