/**
 * Kubernetes' own conformance tests of Endpoints and EndpointSlices, step by step. For the list see
 * docs/conformance-network.md.
 */
import assert from 'node:assert/strict';
import type { V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import { waitFor } from '../harness/wait-for.ts';
import { addressOf, type Line, line, nameOf, type TestNamespace } from './test-namespace.ts';

async function slicesOf({ slices, name: namespace }: TestNamespace, service: string) {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  return (await slices.listNamespacedEndpointSlice({ namespace, labelSelector })).items;
}

async function subsetsOf({ core, name: namespace }: TestNamespace, name: string) {
  return (await core.readNamespacedEndpoints({ namespace, name })).subsets ?? [];
}

/** Returns `ADDRESS POD:PORT NAME` of every endpoint, ready or not. */
const ofSlices = (slices: readonly V1EndpointSlice[]) =>
  slices.flatMap(({ endpoints, ports = [] }) =>
    (endpoints ?? []).flatMap(({ addresses, targetRef }) =>
      ports.map(({ port, name }) => `${addresses[0]} ${targetRef?.name}:${port} ${name}`),
    ),
  );

const ofSubsets = (subsets: Awaited<ReturnType<typeof subsetsOf>>) =>
  subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    [...addresses, ...notReadyAddresses].flatMap(({ ip, targetRef }) =>
      ports.map(({ port, name }) => `${ip} ${targetRef?.name}:${port} ${name}`),
    ),
  );

const shows = (what: string, read: () => Promise<readonly string[]>, expected: readonly string[]) =>
  waitFor(what, async () => {
    assert.deepEqual([...(await read())].sort(), [...expected].sort());
    return true;
  });

const gone = (what: string, read: () => Promise<unknown>) =>
  waitFor(`${what} gone`, () =>
    read().then(
      () => false,
      (error: { readonly code?: number }) => error.code === 404,
    ),
  );

type Check = (service: string, expected: readonly string[]) => Promise<void>;

/** Tests two pods and three Services: one pod by a port number, both pods by a port's name, and no pod. */
async function matching(space: TestNamespace, check: Check): Promise<void> {
  const named = { name: 'example-name', containerPort: 3000 };
  const other = [
    { name: 'example-name', containerPort: 3001 },
    { name: 'other-port', containerPort: 3002 },
  ];
  const service = (name: string, selector: object, port: string, targetPort: number | string) =>
    space.service(name, {
      selector: { ...selector },
      publishNotReadyAddresses: true,
      ports: [{ name: port, port: 80, targetPort, protocol: 'TCP' }],
    });
  const pods = [
    space.pod('pod1', { labels: { pod1: 'on', shared12: 'on' }, ports: [named] }),
    space.pod('pod2', { labels: { pod2: 'on', shared12: 'on' }, ports: other }),
  ];
  await service('example-int-port', { pod1: 'on' }, 'example', 3000);
  await service('example-named-port', { shared12: 'on' }, 'http', 'example-name');
  await service('example-no-match', { pod3: 'on' }, 'example-no-match', 8080);
  const [pod1, pod2] = await Promise.all(pods);
  assert.ok(pod1 && pod2);
  const at = (pod: V1Pod, port: number, name: string) => `${addressOf(pod)} ${nameOf(pod)}:${port} ${name}`;
  await check('example-int-port', [at(pod1, 3000, 'example')]);
  await check('example-named-port', [at(pod1, 3000, 'http'), at(pod2, 3001, 'http')]);
  await check('example-no-match', []);
  for (const { metadata } of await slicesOf(space, 'example-named-port')) {
    await space.slices.deleteNamespacedEndpointSlice({ namespace: space.name, name: metadata?.name ?? '' });
  }
  await check('example-named-port', [at(pod1, 3000, 'http'), at(pod2, 3001, 'http')]);
}

const matchesNothing = {
  selector: { 'does-not-match-anything': 'endpoints-and-endpoint-slices-should-still-be-created' },
  ports: [{ name: 'example', port: 80, protocol: 'TCP' }],
};

export const endpointLines: readonly Line[] = [
  line('EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service', (space) =>
    matching(space, async (service, expected) => {
      const [first] = await waitFor(`slices of ${service}`, async () => {
        const slices = await slicesOf(space, service);
        assert.deepEqual(ofSlices(slices).sort(), [...expected].sort());
        return slices.length > 0 && slices;
      });
      if (expected.length === 0) assert.deepEqual(first?.ports ?? [], []);
    }),
  ),
  line('EndpointsController should create Endpoints for Pods matching a Service', (space) =>
    matching(space, (service, expected) =>
      shows(`Endpoints of ${service}`, async () => ofSubsets(await subsetsOf(space, service)), expected).then(
        () => undefined,
      ),
    ),
  ),

  line(
    'EndpointSlice should create and delete EndpointSlices for a Service with a selector that matches no pods',
    async (space) => {
      const name = 'example-empty-selector';
      await space.service(name, matchesNothing);
      const [slice] = await waitFor('the slice', async () => {
        const slices = await slicesOf(space, name);
        return slices.length > 0 && slices;
      });
      const managedBy = slice?.metadata?.labels?.['endpointslice.kubernetes.io/managed-by'];
      assert.equal(managedBy, 'endpointslice-controller.k8s.io');
      assert.deepEqual(slice?.endpoints ?? [], []);
      await space.core.deleteNamespacedService({ namespace: space.name, name });
      await waitFor('no slice', async () => (await slicesOf(space, name)).length === 0);
    },
  ),
  line(
    'EndpointsController should create and delete Endpoints for a Service with a selector that matches no pods',
    async (space) => {
      const name = 'example-empty-selector';
      await space.service(name, matchesNothing);
      await shows('Endpoints', async () => ofSubsets(await subsetsOf(space, name)), []);
      await space.core.deleteNamespacedService({ namespace: space.name, name });
      await gone('Endpoints', () => subsetsOf(space, name));
    },
  ),

  line(
    'API Server should have Endpoints and EndpointSlices pointing to API Server',
    async ({ core, slices }) => {
      const namespace = 'default';
      await core.readNamespacedService({ namespace, name: 'kubernetes' });
      const { subsets = [] } = await core.readNamespacedEndpoints({ namespace, name: 'kubernetes' });
      const labelSelector = 'kubernetes.io/service-name=kubernetes';
      const { items } = await slices.listNamespacedEndpointSlice({ namespace, labelSelector });
      const listed = ofSlices(items);
      assert.ok(listed.length > 0);
      assert.deepEqual(ofSubsets(subsets), listed);
    },
  ),

  line(
    'EndpointSliceMirroring should mirror a custom Endpoints resource through create update and delete',
    async (space) => {
      const { core, name: namespace } = space;
      const name = 'example-custom-endpoints';
      await space.service(name, { ports: [{ name: 'example', port: 80, protocol: 'TCP' }] });
      const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
      const mirrors = (...expected: string[]) =>
        shows(`slices of ${expected.join()}`, async () => ofSlices(await slicesOf(space, name)), expected);
      const body = { metadata: { name }, subsets: subsets('10.1.2.3') };
      const made = await core.createNamespacedEndpoints({ namespace, body });
      await mirrors('10.1.2.3 undefined:80 ');
      await core.replaceNamespacedEndpoints({
        namespace,
        name,
        body: { ...made, subsets: subsets('10.2.3.4') },
      });
      await mirrors('10.2.3.4 undefined:80 ');
      await core.deleteNamespacedEndpoints({ namespace, name });
      await waitFor('no slice', async () => (await slicesOf(space, name)).length === 0);
    },
  ),
];
