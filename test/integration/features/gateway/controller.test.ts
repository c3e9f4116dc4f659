/** The controller of Gateways: definitions, the class, and statuses, also after definitions have changed. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { customResourceDefinitionResource } from '../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { isForbidden } from '../../../../src/apimachinery/status-error.ts';
import {
  backendTlsPolicyResource,
  gatewayClassResource,
  gatewayResource,
  grpcRouteResource,
  httpRouteResource,
} from '../../../../src/features/gateway/api/kinds.ts';
import { makeAuthority } from '../../../fixtures/authorities.ts';
import {
  listener,
  makeGateway,
  makeGrpcRoute,
  makePolicy,
  makeRoute,
  ruleTo,
} from '../../../unit/features/gateway/objects.ts';
import { type Cluster, startCluster } from '../../controllers/cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const className = 'minik8s';
const definition = 'httproutes.gateway.networking.k8s.io';
const draft = <T extends { metadata: { name: string } }>({ metadata: { name }, ...object }: T) => ({
  ...object,
  metadata: { name, namespace: 'default' },
});
const parentRefs = [{ name: 'front' }];
const acceptedOf = async (name: string) =>
  (await cluster.get(httpRouteResource, name))?.status?.parents?.map(
    ({ conditions }) => conditions[0]?.reason,
  );
const createRoute = (name: string) =>
  cluster.client.resource(httpRouteResource).create(draft(makeRoute(name, [ruleTo('web')], { parentRefs })));

it('creates the definitions and the class that every cluster has, and creates them again after a deletion', async () => {
  const classes = cluster.client.resource(gatewayClassResource);
  const isAccepted = async () =>
    (await classes.get(className).catch(() => undefined))?.status?.conditions?.[0]?.status === 'True';
  await cluster.eventually('the class', isAccepted);
  await classes.delete(className);
  await cluster.eventually('the class again', isAccepted);
});

it('writes the addresses of serving nodes, and accepts routes', async () => {
  await cluster.addNode('n1');
  await cluster.client.resource(gatewayResource).create(draft(makeGateway('front', [listener('http')])));
  await createRoute('web');
  const conditions = ['Ready', 'GatewayServed'].map((type) => ({ type, status: 'True' }));
  const addresses = [{ type: 'InternalIP', address: '192.0.2.7' }];
  await cluster.client
    .resource(nodeResource)
    .patch('n1', '', 'merge', { status: { addresses, conditions } }, 'status');
  await cluster.eventually('the address', async () => {
    const status = (await cluster.get(gatewayResource, 'front'))?.status;
    return status?.addresses?.[0]?.value === '192.0.2.7' && status.listeners?.[0]?.attachedRoutes === 1;
  });
  assert.deepEqual(await acceptedOf('web'), ['Accepted']);
});

it('accepts a GRPCRoute, but not on a host of an older HTTPRoute', async () => {
  const create = (name: string, options: object) =>
    cluster.client
      .resource(grpcRouteResource)
      .create(draft(makeGrpcRoute(name, [{ backendRefs: [{ name: 'web', port: 80 }] }], options)));
  const reasonsOf = async (name: string) =>
    (await cluster.get(grpcRouteResource, name))?.status?.parents?.flatMap(({ conditions }) =>
      conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    );
  // The name decides between routes of one second.
  await create('z-shared', { parentRefs });
  await cluster.eventually(
    'the conflict',
    async () => (await reasonsOf('z-shared'))?.[0] === 'Accepted False HostnameConflict',
  );
  await cluster.client.resource(grpcRouteResource).delete('z-shared', 'default');
  const listeners = [listener('grpc', { port: 8080 })];
  await cluster.client.resource(gatewayResource).create(draft(makeGateway('calls', listeners)));
  await create('own', { parentRefs: [{ name: 'calls' }] });
  const expected = 'Accepted True Accepted,ResolvedRefs False BackendNotFound';
  await cluster.eventually('the route', async () => (await reasonsOf('own'))?.join() === expected);
});

it('follows the ConfigMap of a BackendTLSPolicy, which a node may read as long as the policy names it', async () => {
  const names = ['ca', 'private'];
  const { certificate } = await makeAuthority('ca');
  const configMaps = cluster.client.resource(configMapResource);
  const meta = (name: string) => ({ name, namespace: 'default' });
  for (const name of names)
    await configMaps.create({ ...{ apiVersion: 'v1', kind: 'ConfigMap' }, metadata: meta(name), data: {} });
  const ports = [{ name: 'web', protocol: 'TCP' as const, port: 80 }];
  await cluster.client
    .resource(serviceResource)
    .create({ ...{ apiVersion: 'v1', kind: 'Service' }, metadata: meta('web'), spec: { ports } as never });
  const policies = cluster.client.resource(backendTlsPolicyResource);
  await policies.create(draft(makePolicy('secure', 'web', { sectionName: 'web' })));
  const isShown = (expected: string) =>
    cluster.eventually(expected, async () => {
      const { ancestors = [] } = (await cluster.get(backendTlsPolicyResource, 'secure'))?.status ?? {};
      const front = ancestors.find(({ ancestorRef }) => ancestorRef.name === 'front');
      return front?.conditions.map(({ reason }) => reason).join() === expected;
    });
  await isShown('NoValidCACertificate,InvalidCACertificateRef');
  const setCa = (text: string) => configMaps.patch('ca', 'default', 'merge', { data: { 'ca.crt': text } });
  await setCa(certificate);
  await isShown('Accepted,ResolvedRefs');
  await setCa('none');
  await isShown('NoValidCACertificate,InvalidCACertificateRef');

  const user = {
    name: 'system:node:n1',
    uid: '',
    groups: ['system:nodes', 'system:authenticated'],
    extra: {},
  };
  const node = cluster.clientOf(user).resource(configMapResource);
  assert.equal((await node.get('ca', 'default')).data?.['ca.crt'], 'none');
  await assert.rejects(node.get('private', 'default'), isForbidden);
  await policies.delete('secure', 'default');
  await assert.rejects(node.get('ca', 'default'), isForbidden);
  // A node sees in the definitions when the kinds begin to be served.
  const definitions = await cluster.clientOf(user).resource(customResourceDefinitionResource).list();
  assert.ok(definitions.items.some(({ metadata }) => metadata.name === definition));
  const refused = cluster.refused as Set<string>;
  assert.deepEqual(
    [...refused].map((text) => text.slice(0, 21)),
    ['User "system:node:n1"'],
  );
  refused.clear();
});

it('accepts routes after the schema of a definition has changed', async () => {
  const column = { name: 'Hosts', type: 'string', jsonPath: '.spec.hostnames' };
  const patch = [{ op: 'add', path: '/spec/versions/0/additionalPrinterColumns/-', value: column }];
  await cluster.client.resource(customResourceDefinitionResource).patch(definition, '', 'json', patch);
  await createRoute('later');
  await cluster.eventually('the status', async () => (await acceptedOf('later'))?.join() === 'Accepted');
});

it('creates a definition again that was deleted, and serves the objects that are written after that', async () => {
  await cluster.client.resource(customResourceDefinitionResource).delete(definition);
  await cluster.eventually('the kind again', async () => {
    const created = await createRoute('again').catch(() => undefined);
    return created !== undefined && created.metadata.deletionTimestamp === undefined;
  });
  await cluster.eventually('the status', async () => (await acceptedOf('again'))?.join() === 'Accepted');
});
