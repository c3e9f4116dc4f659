/** Health check ports of Services: what they answer a load balancer in front of the nodes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';

let informers: ScriptedInformers;
let stop: AbortController;
let running: Promise<void>;
let events: string[];
let port: number;
beforeEach(async () => {
  informers = new ScriptedInformers();
  stop = new AbortController();
  events = [];
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  ({ port } = probe.address() as AddressInfo);
  probe.close();
  const proxier = createProxier({
    rules: undefined,
    informers,
    nodeInformers: informers,
    exec: () => Promise.resolve({ stdout: '', stderr: '' }),
    events: { event: (_, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    nodeName: 'here',
    nodeIP: '127.0.0.1',
    serviceCIDR: '10.96.0.0/16',
    clusterCIDR: '10.244.0.0/16',
    clock: systemClock,
    log: new RecordingLogger(),
  });
  running = proxier.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
  await says(/closed/);
});

const meta = (extra: object = {}) => ({
  ...{ name: 'web', namespace: 'default', uid: 'web', resourceVersion: '1' },
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...extra,
});
const offer = (spec: object = {}) =>
  informers.put(serviceResource, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(),
    spec: {
      ...{ type: 'LoadBalancer', clusterIP: '10.96.0.2', externalTrafficPolicy: 'Local' },
      ports: [{ protocol: 'TCP', port: 80, targetPort: 8080 }],
      healthCheckNodePort: port,
      ...spec,
    },
    status: { loadBalancer: {} },
  } as unknown as Service);
const putPods = (...nodes: readonly string[]) =>
  informers.put(endpointSliceResource, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta({ labels: { 'kubernetes.io/service-name': 'web' } }),
    addressType: 'IPv4',
    endpoints: nodes.map((nodeName, index) => ({
      ...{ addresses: [`10.244.0.${index + 2}`], nodeName },
      conditions: { ready: nodeName !== 'unready' },
    })),
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
  } as unknown as EndpointSlice);

async function answer(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  if (!response) return 'closed';
  const weight = response.headers.get('x-load-balancing-endpoint-weight');
  return `${response.status} ${weight} ${await response.text()}`;
}
const says = (expected: RegExp) =>
  waitFor(String(expected), async () => {
    const found = await answer();
    if (!expected.test(found)) throw new Error(found);
    return true;
  });

test('a node answers whether it has a ready pod of the Service, and stops when the Service is deleted', async () => {
  offer();
  putPods('here', 'there', 'here', 'unready');
  await says(/^200 2 /);
  assert.deepEqual(JSON.parse((await answer()).replace(/^200 2 /, '')), {
    service: { namespace: 'default', name: 'web' },
    localEndpoints: 2,
    serviceProxyHealthy: true,
  });
  putPods('there');
  await says(/^503 0 /);
  offer({ externalTrafficPolicy: 'Cluster' });
  await says(/closed/);
  offer();
  await says(/^503/);
  informers.remove(serviceResource, 'default/web');
  await says(/closed/);
});

test('a port that another process has is reported by an event, and is served once it is free', async () => {
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  offer();
  putPods('here');
  await waitFor('the event', async () => {
    if (events.length === 0) throw new Error('none yet');
    return true;
  });
  assert.match(events[0] ?? '', /^Warning HealthPortNotServed node here cannot answer .* EADDRINUSE/);
  other.close();
  await once(other, 'close');
  // Each change of the Service is another attempt.
  offer({ sessionAffinity: 'ClientIP' });
  await says(/^200 1 /);
});
