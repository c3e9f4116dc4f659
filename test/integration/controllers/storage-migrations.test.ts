/** StorageVersionMigrations: objects of a custom kind in an earlier version are written anew. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource as definitions,
} from '../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import {
  storageVersionMigrationResource as migrations,
  type StorageVersionMigration,
} from '../../../src/api/storagemigration/v1/storage-version-migration.ts';
import { findCondition } from '../../../src/apimachinery/conditions.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../../../src/apimachinery/resource-definition.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { type Cluster, startCluster } from './cluster.ts';

const shop: ResourceRef = {
  ...{ group: 'example.com', version: 'v1', kind: 'Shop', plural: 'shops', namespaced: true },
};
const versions = (stored: string) =>
  ['v1', 'v2'].map((name) => ({
    ...{ name, served: true, storage: name === stored },
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }));
const migration = (name: string, resource: object) =>
  ({
    ...{ apiVersion: 'storagemigration.k8s.io/v1', kind: 'StorageVersionMigration' },
    ...{ metadata: { name }, spec: { resource } },
  }) as unknown as Draft<StorageVersionMigration>;

describe('a migration', () => {
  const store = createMemoryStore();
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster({ store });
  });
  after(() => cluster.stop());

  const storedVersion = async (name: string) => {
    const found = await store.get(storageKey(shop, 'default', name));
    return found && (JSON.parse(found.value.toString()) as KubeObject).apiVersion;
  };
  const until = (name: string, type: string) =>
    cluster.eventually(`${name}: ${type}`, async () => {
      const found = await cluster.get(migrations, name);
      const isTrue = (one: string) => findCondition(found?.status?.conditions, one)?.status === 'True';
      return isTrue(type) && !isTrue('Running') ? found : undefined;
    });
  const storedVersions = async () =>
    (await cluster.get(definitions, 'shops.example.com'))?.status?.storedVersions;

  it('stores the objects of a kind in its current version, and removes the earlier one from the definition', async () => {
    const api = cluster.client.resource(definitions);
    await api.create({
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'shops.example.com' },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'shops', kind: 'Shop' } },
        versions: versions('v1'),
      },
    } as unknown as Draft<CustomResourceDefinition>);
    const names = Array.from({ length: 5 }, (_, index) => `s${index}`);
    await cluster.eventually('the kind is served', () =>
      cluster.client
        .resource(shop)
        .list()
        .then(
          () => true,
          () => false,
        ),
    );
    for (const name of names)
      await cluster.client
        .resource(shop)
        .create({ metadata: { name, namespace: 'default' }, data: name } as unknown as Draft<KubeObject>);
    assert.equal(await storedVersion('s0'), 'example.com/v1');

    await cluster.edit(definitions, 'shops.example.com', (definition) => {
      definition.spec.versions = versions('v2') as typeof definition.spec.versions;
    });
    assert.deepEqual(await storedVersions(), ['v1', 'v2']);
    await cluster.pass(10_000);
    await cluster.client
      .resource(migrations)
      .create(migration('m', { group: 'example.com', resource: 'shops' }));
    await until('m', 'Succeeded');
    assert.deepEqual(
      await Promise.all(names.map(storedVersion)),
      names.map(() => 'example.com/v2'),
    );
    assert.deepEqual(await storedVersions(), ['v2']);
    const conditions = (await cluster.get(definitions, 'shops.example.com'))?.status?.conditions;
    const migrating = conditions?.find(({ type }) => type === 'StorageMigrating');
    assert.deepEqual([migrating?.status, migrating?.reason], ['False', 'MigrationSucceeded']);
    assert.deepEqual([...cluster.refused], []);
  });

  it('of a built-in kind changes no object', async () => {
    const { client } = cluster;
    const before = await client.resource(definitions).get('shops.example.com');
    const resource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
    await client.resource(migrations).create(migration('built-in', resource));
    await until('built-in', 'Succeeded');
    const now = await client.resource(definitions).get('shops.example.com');
    assert.equal(now.metadata.resourceVersion, before.metadata.resourceVersion);
  });

  it('of a kind that does not exist fails after a minute', async () => {
    await cluster.client.resource(migrations).create(migration('none', { resource: 'foo' }));
    await cluster.pass(30_000);
    assert.deepEqual((await cluster.get(migrations, 'none'))?.status?.conditions ?? [], []);
    const failed = await until('none', 'Failed');
    assert.match(
      findCondition(failed.status?.conditions, 'Failed')?.message ?? '',
      /resource does not exist/,
    );
  });
});
