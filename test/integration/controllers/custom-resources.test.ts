/**
 * Definitions of custom resources in a whole control plane: its controllers have the rights that they
 * need, and custom kinds behave like all other kinds, also after a restart.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource as definitions,
} from '../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { resourceQuotaResource } from '../../../src/api/core/v1/resource-quota.ts';
import { clusterRoleResource } from '../../../src/api/rbac/v1/cluster-role.ts';
import { roleBindingResource } from '../../../src/api/rbac/v1/role-binding.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { isForbidden, isNotFound } from '../../../src/apimachinery/status-error.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { type Cluster, startCluster } from './cluster.ts';

const store = createMemoryStore();
let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ store });
});
after(() => cluster.stop());

const widget: ResourceRef = {
  ...{ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true },
};
const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'widgets.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {} } } },
        },
      },
    ],
  },
} as unknown as Draft<CustomResourceDefinition>;

const create = <T extends KubeObject>(kind: ResourceRef<T>, name: string, fields: object = {}) =>
  cluster.until(
    cluster.client.resource(kind).create({ metadata: { name, namespace: 'default' }, ...fields } as Draft<T>),
  );
const isGone = async (kind: ResourceRef, name: string, namespace = 'default') => {
  try {
    await cluster.client.resource(kind).get(name, kind.namespaced ? namespace : undefined);
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
};
const established = () =>
  cluster.eventually('the definition is established', async () => {
    const found = await cluster.client.resource(definitions).get('widgets.example.com');
    return found.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  });

describe('a custom kind', () => {
  it('is established', async () => {
    await cluster.until(cluster.client.resource(definitions).create(definition));
    await established();
    await create(widget, 'a');
  });

  it('owns objects, which are deleted with it', async () => {
    const owner = await create(widget, 'owner');
    const reference = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      name: 'owner',
      uid: owner.metadata.uid,
    };
    await create(configMapResource, 'owned', {
      metadata: { name: 'owned', namespace: 'default', ownerReferences: [reference] },
    });
    await cluster.until(cluster.client.resource(widget).delete('owner', 'default'));
    await cluster.eventually('the owned object is gone', () => isGone(configMapResource, 'owned'));
  });

  it('is counted and limited by quotas', async () => {
    await create(resourceQuotaResource, 'few', { spec: { hard: { 'count/widgets.example.com': '2' } } });
    await cluster.eventually('the quota is counted', async () => {
      const quota = await cluster.get(resourceQuotaResource, 'few');
      return quota?.status?.used?.['count/widgets.example.com'] === '1';
    });
    await create(widget, 'second');
    await assert.rejects(create(widget, 'third'), (error) => isForbidden(error));
    await cluster.until(cluster.client.resource(resourceQuotaResource).delete('few', 'default'));
  });

  it('is readable by users of an aggregated role', async () => {
    const user = { name: 'jane', groups: ['system:authenticated'] };
    const read = () => cluster.clientOf(user).resource(widget).list({ namespace: 'default' });
    await create(roleBindingResource, 'jane', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
    });
    await assert.rejects(cluster.until(read()), (error) => isForbidden(error));
    await create(clusterRoleResource, 'widgets-view', {
      metadata: {
        name: 'widgets-view',
        labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
      },
      rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list', 'watch'] }],
    });
    await cluster.eventually('the role is aggregated', async () => {
      try {
        return (await read()).items.length > 0;
      } catch (error) {
        if (isForbidden(error)) return false;
        throw error;
      }
    });
  });

  it('is deleted with its namespace', async () => {
    await cluster.until(
      cluster.client.resource(namespaceResource).create({ metadata: { name: 'gone' } } as never),
    );
    await create(widget, 'x', { metadata: { name: 'x', namespace: 'gone' } });
    await cluster.until(cluster.client.resource(namespaceResource).delete('gone'));
    await cluster.eventually('the namespace is gone', () => isGone(namespaceResource, 'gone'));
    assert.equal((await cluster.list(widget, 'gone')).length, 0);
  });

  it('is served from the start after a restart, with the stored objects', async () => {
    await cluster.stop();
    cluster = await startCluster({ store });
    const { items } = await cluster.until(cluster.client.resource(widget).list({ namespace: 'default' }));
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['a', 'second'],
    );
  });

  it('is deleted with its definition', async () => {
    await cluster.until(cluster.client.resource(definitions).delete('widgets.example.com'));
    await cluster.eventually('the definition is gone', () => isGone(definitions, 'widgets.example.com'));
    await cluster.until(cluster.client.resource(definitions).create(definition));
    await established();
    assert.equal((await cluster.list(widget, 'default')).length, 0);
    assert.deepEqual(
      [...cluster.refused].filter((request) => /customresource|widgets/.test(request)),
      [],
    );
  });
});
