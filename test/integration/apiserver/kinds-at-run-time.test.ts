/**
 * A kind is added while the server runs, and removed again: discovery, OpenAPI, watches, namespaces and
 * owners follow.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { ManagedFieldsEntry } from '../../../src/apimachinery/managed-fields/managers.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { registry } from '../../../src/features/kinds.ts';
import { customKind } from '../../../src/kube-apiserver/custom-resources/custom-kind.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const kinds = new KindSet(registry);
const widget = customKind(
  {
    ...{ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', shortNames: ['wd'] },
    namespaced: true,
    hasStatus: true,
    schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1, default: 3 } } },
        status: { type: 'object', properties: { ready: { type: 'boolean' } } },
      },
    },
  },
  kubernetesFields,
);
const ref = widget as unknown as ResourceRef<KubeObject & { spec?: { size: number } }>;
const collection = '/apis/example.com/v1/namespaces/default/widgets';

let server: TestServer;
let cluster: Cluster;

before(async () => {
  server = await startTestServer({ kinds });
  cluster = await startCluster({ server });
});
after(async () => {
  await cluster.stop();
});

const paths = async () => {
  const text = async (path: string, accept = 'application/json') =>
    (await server.call('GET', path, undefined, { headers: { accept } })).text;
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  return {
    groups: (await text('/apis')).includes('"example.com"'),
    aggregated: (await text('/apis', aggregated)).includes('"widgets"'),
    group: (await server.call('GET', '/apis/example.com/v1')).status,
    openapiV2: (await text('/openapi/v2')).includes(
      '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/status',
    ),
    openapiV3: (await text('/openapi/v3')).includes('apis/example.com/v1'),
    list: (await server.call('GET', collection)).status,
  };
};

/** Returns the managed fields by manager and subresource. */
const fieldsOf = ({ metadata }: KubeObject) =>
  Object.fromEntries(
    (metadata.managedFields as ManagedFieldsEntry[]).map(({ manager, subresource = '', fieldsV1 }) => [
      `${manager} ${subresource}`,
      fieldsV1,
    ]),
  );

describe('a kind that is added while the server runs', () => {
  it('is not served before', async () => {
    assert.deepEqual(await paths(), {
      ...{ groups: false, aggregated: false, group: 404 },
      ...{ openapiV2: false, openapiV3: false, list: 404 },
    });
  });

  it('is then served like any other kind, and part of discovery', async () => {
    kinds.add(widget);
    assert.deepEqual(await paths(), {
      ...{ groups: true, aggregated: true, group: 200 },
      ...{ openapiV2: true, openapiV3: true, list: 200 },
    });
    assert.throws(() => kinds.add(widget), /two definitions serve example.com\/v1\/widgets/);
    const made = await server.call('POST', collection, {
      metadata: { name: 'a' },
      spec: {},
      status: { ready: true },
    });
    assert.equal(made.status, 201, made.text);
    const { spec, status, metadata } = made.json<{ spec: object; status?: object } & KubeObject>();
    assert.deepEqual([spec, status, metadata.generation], [{ size: 3 }, undefined, 1]);
    const small = await server.call('POST', collection, { metadata: { name: 'b' }, spec: { size: 0 } });
    assert.match(small.text, /spec.size in body should be greater than or equal to 1/);
    const patched = await server.call(
      'PATCH',
      `${collection}/a`,
      { spec: { size: 5 } },
      {
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    );
    assert.deepEqual(patched.json<{ spec: object }>().spec, { size: 5 }, patched.text);
    const ready = await server.call(
      'PATCH',
      `${collection}/a/status`,
      { spec: { size: 9 }, status: { ready: true } },
      {
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    );
    const after = ready.json<{ spec: object; status: object }>();
    assert.deepEqual([after.spec, after.status], [{ size: 5 }, { ready: true }], ready.text);
    const strategic = await server.call(
      'PATCH',
      `${collection}/a`,
      {},
      {
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
      },
    );
    assert.equal(strategic.status, 415);
  });

  it('is applied on the server: applied, removed and refused fields are as in any kind', async () => {
    const apply = (path: string, body: object, manager = 'mine') =>
      server.call('PATCH', `${collection}/${path}?fieldManager=${manager}`, body, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    const wanted = (spec: object, status?: object) => ({
      ...{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'applied' }, spec },
      ...(status && { status }),
    });
    const made = await apply('applied', wanted({ size: 7 }, { ready: true }));
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(fieldsOf(made.json()), { 'mine ': { 'f:spec': { 'f:size': {} } } });
    const other = await apply('applied', wanted({ size: 8 }), 'other');
    assert.match(other.text, /1 conflict: conflict with \\"mine\\": \.spec\.size/);
    const seen = await apply('applied/status', wanted({ size: 9 }, { ready: true }), 'watcher');
    assert.equal(seen.status, 200, seen.text);
    assert.deepEqual(fieldsOf(seen.json())['watcher status'], { 'f:status': { 'f:ready': {} } });
    const removed = await apply('applied', wanted({}));
    assert.equal(removed.json<{ spec?: object }>().spec, undefined, 'nothing was left in it');
    const unknown = await apply('applied', wanted({ sise: 1 }));
    assert.equal(unknown.status, 400);
    assert.match(unknown.text, /\.spec\.sise: field not declared in schema/);
    assert.equal((await server.call('DELETE', `${collection}/applied`)).status, 200);
  });

  it('has objects with owners and dependents, as every kind', async () => {
    const owner = await cluster.client
      .resource(ref)
      .create({ metadata: { name: 'owner', namespace: 'default' } } as never);
    const ownerReferences = [
      { apiVersion: 'example.com/v1', kind: 'Widget', name: 'owner', uid: owner.metadata.uid },
    ];
    const maps = cluster.client.resource(configMapResource);
    await maps.create({ metadata: { name: 'owned', namespace: 'default', ownerReferences } } as never);
    const map = await maps.create({ metadata: { name: 'owns', namespace: 'default' } } as never);
    await cluster.client.resource(ref).create({
      metadata: {
        ...{ name: 'dependent', namespace: 'default' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owns', uid: map.metadata.uid }],
      },
    } as never);
    await cluster.client.resource(ref).delete('owner', 'default');
    await maps.delete('owns', 'default');
    await cluster.eventually('objects without an owner or in a deleted namespace are removed', async () => {
      const left = [
        ...(await maps.list({ namespace: 'default' })).items,
        ...(await cluster.client.resource(ref).list({ namespace: 'default' })).items,
      ];
      return left.every(({ metadata }) => metadata.name !== 'owned' && metadata.name !== 'dependent');
    });
  });

  it('is deleted with its namespace', async () => {
    const namespaces = cluster.client.resource(namespaceResource);
    await namespaces.create({ metadata: { name: 'gone' } } as never);
    await cluster.client.resource(ref).create({ metadata: { name: 'a', namespace: 'gone' } } as never);
    await namespaces.delete('gone');
    await cluster.eventually('objects without an owner or in a deleted namespace are removed', async () =>
      (await namespaces.list()).items.every(({ metadata }) => metadata.name !== 'gone'),
    );
    assert.equal((await cluster.client.resource(ref).list({ namespace: 'gone' })).items.length, 0);
  });

  it('ends its watches when it is deleted, and is served again when it is created again', async () => {
    const handle = server.handlerFor(admin);
    const watch = await handle(new Request(`https://apiserver${collection}?watch=true`));
    assert.ok(watch.body);
    const reader = watch.body.getReader();
    const first = await reader.read();
    assert.match(Buffer.from(first.value ?? []).toString(), /"ADDED".*"name":"a"/s);
    kinds.remove(widget);
    assert.equal((await reader.read()).done, true);
    assert.deepEqual(await paths(), {
      ...{ groups: false, aggregated: false, group: 404 },
      ...{ openapiV2: false, openapiV3: false, list: 404 },
    });
    assert.throws(() => kinds.remove(widget), /cannot be removed: it was not added/);
    kinds.add(widget);
    assert.equal((await server.call('GET', `${collection}/a`)).status, 200);
    // Objects with owners are garbage-collected again.
    const owner = await cluster.client
      .resource(ref)
      .create({ metadata: { name: 'again', namespace: 'default' } } as never);
    const maps = cluster.client.resource(configMapResource);
    await maps.create({
      metadata: {
        ...{ name: 'owned', namespace: 'default' },
        ownerReferences: [
          { apiVersion: 'example.com/v1', kind: 'Widget', name: 'again', uid: owner.metadata.uid },
        ],
      },
    } as never);
    await cluster.client.resource(ref).delete('again', 'default');
    await cluster.eventually('objects without an owner or in a deleted namespace are removed', async () =>
      (await maps.list({ namespace: 'default' })).items.every(({ metadata }) => metadata.name !== 'owned'),
    );
  });
});
