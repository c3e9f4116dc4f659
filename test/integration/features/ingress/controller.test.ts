/** The controller of Ingresses: its class, addresses in the status, and events. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { eventResource } from '../../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { type Ingress, ingressResource } from '../../../../src/api/networking/v1/ingress.ts';
import { ingressClassResource } from '../../../../src/api/networking/v1/ingress-class.ts';
import type { Draft } from '../../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from '../../controllers/cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const shop = (ingressClassName?: string): Draft<Ingress> => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: ingressClassName ?? 'shop', namespace: 'default' },
  spec: {
    ...(ingressClassName !== undefined && { ingressClassName }),
    tls: [{ hosts: ['shop.test'], secretName: 'cert' }],
    rules: [
      {
        host: 'shop.test',
        http: {
          paths: [
            { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
  status: { loadBalancer: {} },
});

const addressesOf = async (name: string) =>
  ((await cluster.get(ingressResource, name))?.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);

it('creates the class that every cluster has again after a deletion', async () => {
  const exists = async () => (await cluster.get(ingressClassResource, 'minik8s')) !== undefined;
  await cluster.eventually('the class', exists);
  await cluster.client.resource(ingressClassResource).delete('minik8s', '');
  await cluster.eventually('the class again', exists);
});

it('gives a new Ingress the default class, and the addresses of serving nodes', async () => {
  await cluster.addNode('n1');
  const created = await cluster.client.resource(ingressResource).create(shop());
  assert.equal(created.spec.ingressClassName, 'minik8s');
  await cluster.client.resource(ingressResource).create(shop('other'));
  const report = (status: string) =>
    cluster.client.resource(nodeResource).patch(
      'n1',
      '',
      'merge',
      {
        status: {
          addresses: [{ type: 'InternalIP', address: '192.0.2.7' }],
          conditions: [
            { type: 'Ready', status: 'True' },
            {
              type: 'IngressServed',
              status,
              ...(status === 'False' && { reason: 'ImageMissing', message: 'image nginx is not there' }),
            },
          ],
        },
      },
      'status',
    );
  await report('True');
  await cluster.eventually('the address', async () => (await addressesOf('shop')).join() === '192.0.2.7');
  assert.deepEqual(await addressesOf('other'), []);
  await report('False');
  await cluster.eventually('no address', async () => (await addressesOf('shop')).length === 0);
});

it('records why no node serves an Ingress', async () => {
  await cluster.eventually('the event', async () =>
    (await cluster.list(eventResource, 'default')).some(
      ({ involvedObject, reason, message }) =>
        involvedObject.name === 'shop' &&
        reason === 'NotServed' &&
        message === 'no node serves Ingresses; node n1: image nginx is not there',
    ),
  );
});

it('records events about a missing Service and a missing certificate', async () => {
  const reasons = async () =>
    (await cluster.list(eventResource, 'default'))
      .filter(({ involvedObject }) => involvedObject.kind === 'Ingress' && involvedObject.name === 'shop')
      .map(({ reason }) => reason);
  await cluster.eventually('both events', async () => {
    const all = await reasons();
    return all.includes('BackendNotFound') && all.includes('CertificateNotUsed');
  });
});
