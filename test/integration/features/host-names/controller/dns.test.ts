import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { eventResource } from '../../../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../../../../src/api/core/v1/service/service.ts';
import type { Draft } from '../../../../../src/apimachinery/meta.ts';
import { type Dns, dnsResource } from '../../../../../src/features/host-names/api/dns.ts';
import { type DnsServed, dnsServedCondition } from '../../../../../src/features/host-names/api/dns-served.ts';
import { type Cluster, startCluster } from '../../../controllers/cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const dns: Draft<Dns> = {
  apiVersion: 'minik8s.io/v1',
  kind: 'Dns',
  metadata: { name: 'shop', namespace: 'default' },
  spec: { host: 'shop.example', paths: [{ path: '/', serviceName: 'web', servicePort: 80 }] },
};
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { ports: [{ port: 80 }] },
} as unknown as Draft<Service>;

const ready = async () => {
  const found = await cluster.get(dnsResource, 'shop');
  const condition = found?.status?.conditions?.find(({ type }) => type === 'Ready');
  return `${condition?.status} ${condition?.reason}`;
};
const turns = (state: string) => cluster.eventually(`Ready: ${state}`, async () => (await ready()) === state);

/** Writes the state that a node's agent reports for Dns objects. */
async function say(name: string, state: DnsServed): Promise<void> {
  const said = dnsServedCondition(state);
  const body = { status: { conditions: [{ type: 'Ready', status: 'True' }, ...(said ? [said] : [])] } };
  await cluster.client.resource(nodeResource).patch(name, '', 'merge', body, 'status');
}
const serving: DnsServed = { reason: 'Serving', message: 'served' };

it('the status of a Dns has the state of its Services, as they appear and disappear', async () => {
  await cluster.addNode('n1');
  await say('n1', serving);
  await cluster.client.resource(dnsResource).create(dns);
  await turns('False ServiceNotFound');
  await cluster.client.resource(serviceResource).create(service);
  await turns('True Routed');
  await cluster.client.resource(serviceResource).delete('web', 'default');
  await turns('False ServiceNotFound');
  await cluster.eventually('an event of it', async () => {
    const events = await cluster.list(eventResource, 'default');
    return events.some(
      ({ involvedObject, reason, message }) =>
        involvedObject.kind === 'Dns' &&
        reason === 'ServiceNotFound' &&
        /"web" not found/.test(message ?? ''),
    );
  });
  await cluster.client.resource(serviceResource).create(service);
  await turns('True Routed');
  assert.deepEqual(cluster.log.of('error'), []);
});

it('the status of a Dns has the state of every node, as nodes appear, fail and disappear', async () => {
  await cluster.addNode('n2');
  await turns('False NotServedYet');
  await say('n2', { reason: 'WebServerNotStarted', message: 'image nginx:alpine cannot be pulled' });
  await turns('False WebServerNotStarted');
  await cluster.eventually('an event of it', async () =>
    (await cluster.list(eventResource, 'default')).some(
      ({ involvedObject, type, message }) =>
        involvedObject.kind === 'Dns' &&
        type === 'Warning' &&
        message === '1 of 2 nodes do not serve Dns objects: n2: image nginx:alpine cannot be pulled',
    ),
  );
  await say('n2', serving);
  await turns('True Routed');
  await say('n1', { reason: 'PortTaken', message: 'port 80 is taken' });
  await turns('False PortTaken');
  await cluster.client.resource(nodeResource).delete('n1');
  await turns('True Routed');
});
