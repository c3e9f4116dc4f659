/** Namespaces in which objects may be created, and namespaces that must not be deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { admissionChain } from '../../../../src/apiserver/admission/admission.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import { namespaceLifecycle } from '../../../../src/kube-apiserver/admission/namespace-lifecycle.ts';

const namespace = (name: string, over: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...over },
});
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const key = (name: string) => `/registry/namespaces/${name}`;
/** The cache lags: it does not have `new` yet, and still shows `seen`, which was deleted. */
const cached = new Map(
  [namespace('seen'), namespace('going', going)].map((object) => [key(object.metadata.name), { object }]),
);
const stored = new Map(
  [namespace('new'), namespace('new-going', going)].map((object) => [key(object.metadata.name), object]),
);
const server = {
  cache: { get: (name: string) => cached.get(name) },
  store: {
    get: async (name: string) =>
      stored.has(name) && { value: Buffer.from(JSON.stringify(stored.get(name))), revision: 3 },
  },
} as unknown as ServerContext;

async function answer(operation: Admission['operation'], definition: unknown, where: string, name = 'x') {
  try {
    await admissionChain([namespaceLifecycle(server)]).mutate({
      operation,
      definition,
      namespace: where,
      name,
    } as unknown as Admission);
    return 'taken';
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    const causes = error.status.details?.causes?.map(({ reason, field }) => ` (${field}: ${reason})`) ?? [];
    return `${error.status.code} ${error.message}${causes.join('')}`;
  }
}

test('an object can be created in a namespace that is not being deleted', async () => {
  for (const where of ['seen', 'new'])
    assert.equal(await answer('create', configMapResource, where), 'taken');
  assert.equal(await answer('create', configMapResource, 'none'), '404 namespaces "none" not found');
  for (const where of ['going', 'new-going'])
    assert.equal(
      await answer('create', configMapResource, where),
      `403 configmaps "x" is forbidden: unable to create new content in namespace ${where} because it is being terminated (metadata.namespace: NamespaceTerminating)`,
    );
});

test('existing objects can be changed and deleted, and objects without a namespace created', async () => {
  for (const operation of ['update', 'delete'] as const)
    assert.equal(await answer(operation, configMapResource, 'none'), 'taken');
  assert.equal(await answer('create', nodeResource, ''), 'taken');
  assert.equal(await answer('create', namespaceResource, '', 'default'), 'taken');
});

test('the namespaces that Kubernetes requires are not deleted', async () => {
  for (const name of ['default', 'kube-system', 'kube-public']) {
    const refused = `403 namespaces "${name}" is forbidden: this namespace may not be deleted`;
    assert.equal(await answer('delete', namespaceResource, '', name), refused);
    assert.equal(await answer('update', namespaceResource, '', name), 'taken');
    assert.equal(await answer('delete', nodeResource, '', name), 'taken');
    const elsewhere = { ...namespaceResource, group: 'example.com' };
    assert.equal(await answer('delete', elsewhere, '', name), 'taken');
  }
  // The controllers create the namespace again.
  assert.equal(await answer('delete', namespaceResource, '', 'kube-node-lease'), 'taken');
});
