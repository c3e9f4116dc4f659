/** Rights of a node that only an access review can request, or that depend on the state of the cache. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { AccessRequest } from '../../../../src/apiserver/authorization/authorizer.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import { nodeAuthorizer } from '../../../../src/kube-apiserver/authorization/node-authorizer.ts';
import { indexOver } from '../../../fixtures/cache-index.ts';
import { container, pod } from '../../controllers/objects.ts';

const needing = pod('web', {
  spec: { nodeName: 'n1', containers: [container({ envFrom: [{ secretRef: { name: 'needed' } }] })] },
});
const n1 = { name: 'system:node:n1', groups: ['system:nodes'] };

interface World {
  /** Pods that the cache shows, and those that it shows once it has caught up. */
  readonly pods?: readonly object[];
  readonly later?: readonly object[];
  readonly phase?: string;
}

function worldOf({ pods = [], later = pods, phase }: World) {
  let shown = pods;
  const asked = { revision: 0 };
  const node = { metadata: { name: 'n1' }, status: { phase } };
  const server = {
    cache: {
      revision: 1,
      index: indexOver((prefix) => (prefix === '/registry/pods/' ? (shown as readonly KubeObject[]) : [])),
      get: (key: string) => (key === '/registry/nodes/n1' ? { object: node } : undefined),
    },
    store: { get: async () => undefined },
    latest: {
      async ask() {
        asked.revision++;
        shown = later;
        return 1;
      },
    },
  } as unknown as ServerContext;
  return { asked, allows: nodeAuthorizer(server, []) };
}

const resource = (over: Partial<Extract<AccessRequest, { type: 'resource' }>>): AccessRequest => ({
  ...{ type: 'resource', user: n1, verb: 'get', group: '', resource: 'pods', namespace: '', name: '' },
  ...over,
});
const secret = resource({ resource: 'secrets', namespace: 'default', name: 'needed' });
const leases = {
  ...{ group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease' },
};

describe('a node', () => {
  for (const [title, over, allowed] of [
    ['reads Services', { verb: 'list', resource: 'services' }, true],
    ['reads Services of another group', { verb: 'list', resource: 'services', group: 'example.com' }, false],
    ['reads slices', { verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' }, true],
    ['reads slices of another group', { verb: 'list', resource: 'endpointslices' }, false],
    ['creates a Lease without a name', { ...leases, verb: 'create' }, true],
    ['creates its Lease', { ...leases, verb: 'create', name: 'n1' }, true],
    ['creates the Lease of another node', { ...leases, verb: 'create', name: 'n2' }, false],
    ['reads every Lease', { ...leases, verb: 'get' }, false],
    ['changes every Lease', { ...leases, verb: 'update' }, false],
    ['changes its Lease', { ...leases, verb: 'update', name: 'n1' }, true],
    [
      'updates a Lease of its name in another namespace',
      { ...leases, verb: 'update', name: 'n1', namespace: 'default' },
      false,
    ],
    ['deletes any pod', { verb: 'delete', namespace: 'default' }, false],
    ['lists all pods, with reduced fields', { verb: 'list' }, true],
  ] as const)
    test(`${allowed ? 'may' : 'must not'} make the request: ${title}`, async () => {
      assert.equal(await worldOf({}).allows(resource(over)), allowed);
    });

  test('has no rights to paths that are no resources', async () => {
    assert.equal(await worldOf({}).allows({ type: 'path', user: n1, verb: 'get', path: '/metrics' }), false);
  });

  test('has no rights without its group', async () => {
    const request = resource({ verb: 'create', resource: 'events', user: { name: n1.name, groups: [] } });
    assert.equal(await worldOf({}).allows(request), false);
  });

  test('that waits for approval may read only its own objects', async () => {
    const { allows } = worldOf({ phase: 'Pending', pods: [needing] });
    assert.equal(await allows(secret), false);
    assert.equal(await allows(resource({ resource: 'nodes', name: 'n1' })), true);
    assert.equal(await allows(resource({ resource: 'nodes', name: 'n2' })), false);
  });
});

describe('a Secret that a pod needs', () => {
  test('is readable without a query of the store if the cache has the pod', async () => {
    const { asked, allows } = worldOf({ pods: [needing] });
    assert.equal(await allows(secret), true);
    assert.equal(asked.revision, 0);
  });

  test('is readable when the cache shows the pod', async () => {
    const { asked, allows } = worldOf({ later: [needing] });
    assert.equal(await allows(secret), true);
    assert.equal(asked.revision, 1);
  });

  test('is no longer readable when the pod is another node’s, or requires another Secret', async () => {
    const others = [
      { ...needing, spec: { ...needing.spec, nodeName: 'n2' } },
      pod('web', { spec: { nodeName: 'n1' } }),
    ];
    assert.equal(await worldOf({ pods: others }).allows(secret), false);
    assert.equal(
      await worldOf({ pods: [needing] }).allows({ ...secret, resource: 'configmaps' } as never),
      false,
    );
  });
});
