/** CustomResourceDefinitions: their objects, status, changes, schema, names and deletion. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import {
  cluster,
  conditionsOf,
  definitions,
  established,
  schema,
  server,
  serveWidgets,
} from './widget-server.ts';

serveWidgets();

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true, schema },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.size',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Colour', type: 'string', jsonPath: '.spec.colour', priority: 1 },
        ],
        selectableFields: [{ jsonPath: '.spec.colour' }],
      },
      { ...{ name: 'v1beta1', served: true, storage: false, deprecated: true, schema } },
    ],
  },
};

const collection = '/apis/example.com/v1/namespaces/default/widgets';

const beta = '/apis/example.com/v1beta1/namespaces/default/widgets';

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

const sizeOf = (object: KubeObject) => (object as unknown as { spec: { size: number } }).spec.size;

describe('a definition', () => {
  it('is established, and its kind is served at once', async () => {
    assert.equal((await server.call('GET', collection)).status, 404);
    const made = await server.call('POST', definitions, widgets);
    assert.equal(made.status, 201, made.text);
    await established('widgets.example.com');
    const object = await server.call('POST', collection, { metadata: { name: 'a' }, spec: {} });
    assert.equal(object.status, 201, object.text);
    assert.equal(sizeOf(object.json()), 3);
  });

  it('is part of discovery and of OpenAPI', async () => {
    const group = await server.call('GET', '/apis/example.com/v1');
    const resources = group.json<{ resources: { name: string; shortNames?: string[] }[] }>().resources;
    assert.deepEqual(
      resources.map(({ name }) => name),
      ['widgets', 'widgets/scale', 'widgets/status'],
    );
    assert.deepEqual(resources[0]?.shortNames, ['wd']);
    assert.match((await server.call('GET', '/openapi/v3')).text, /apis\/example.com\/v1beta1/);
  });

  it('serves objects in each version, written in any version', async () => {
    const made = await server.call('POST', beta, { metadata: { name: 'b' }, spec: { size: 5 } });
    assert.equal(made.status, 201, made.text);
    assert.match(made.headers.get('warning') ?? '', /example.com\/v1beta1 Widget is deprecated/);
    for (const [path, apiVersion] of [
      [collection, 'example.com/v1'],
      [beta, 'example.com/v1beta1'],
    ] as const) {
      const { items } = (await server.call('GET', path)).json<{ items: KubeObject[] }>();
      assert.deepEqual(
        items.map((item) => [item.apiVersion, item.metadata.name, sizeOf(item)]),
        [
          [apiVersion, 'a', 3],
          [apiVersion, 'b', 5],
        ],
      );
    }
  });

  it('has the status and the scale of its paths', async () => {
    const status = await server.call(
      'PATCH',
      `${collection}/a/status`,
      { spec: { size: 9 }, status: { replicas: 2, selector: 'app=a' } },
      merge,
    );
    assert.equal(status.status, 200, status.text);
    assert.equal(sizeOf(status.json()), 3);
    const scale = await server.call('PATCH', `${collection}/a/scale`, { spec: { replicas: 7 } }, merge);
    assert.deepEqual(
      [scale.json<{ spec: object }>().spec, scale.json<{ status: object }>().status],
      [{ replicas: 7 }, { replicas: 2, selector: 'app=a' }],
    );
    assert.equal(sizeOf((await server.call('GET', `${collection}/a`)).json()), 7);
  });

  it('has columns, and fields that field selectors may use', async () => {
    await server.call('PATCH', `${collection}/b`, { spec: { colour: 'red' } }, merge);
    const table = await server.call('GET', collection, undefined, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const { columnDefinitions, rows } = table.json<{
      columnDefinitions: { name: string; priority: number }[];
      rows: { cells: unknown[] }[];
    }>();
    assert.deepEqual(
      columnDefinitions.map(({ name, priority }) => [name, priority]),
      [
        ['Name', 0],
        ['Size', 0],
        ['Colour', 1],
      ],
    );
    assert.deepEqual(
      rows.map(({ cells }) => cells),
      [
        ['a', 7, null],
        ['b', 5, 'red'],
      ],
    );
    const red = await server.call('GET', `${collection}?fieldSelector=spec.colour%3Dred`);
    assert.deepEqual(
      red.json<{ items: KubeObject[] }>().items.map(({ metadata }) => metadata.name),
      ['b'],
    );
    assert.equal((await server.call('GET', `${collection}?fieldSelector=spec.size%3D7`)).status, 400);
  });

  it('rejects media types that custom resources do not have', async () => {
    const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };
    assert.equal((await server.call('PATCH', `${collection}/a`, {}, strategic)).status, 415);
    const protobuf = 'application/vnd.kubernetes.protobuf';
    const read = await server.call('GET', collection, undefined, { headers: { accept: protobuf } });
    assert.equal(read.status, 406);
    const write = await server.call('POST', collection, 'x', { headers: { 'content-type': protobuf } });
    assert.equal(write.status, 415);
  });
});

describe('the status of a definition', () => {
  it('may have conditions of clients, with any content', async () => {
    const path = `${definitions}/widgets.example.com/status`;
    const found = (await server.call('GET', path)).json<CustomResourceDefinition>();
    found.status?.conditions?.push({ type: 'StatusUpdate', status: '', message: 'set by a client' });
    const put = await server.call('PUT', path, found);
    assert.equal(put.status, 200, put.text);
  });
});

describe('a definition that changes', () => {
  it('serves earlier objects in another storage version and with new columns', async () => {
    const before = (
      await server.call('GET', `${definitions}/widgets.example.com`)
    ).json<CustomResourceDefinition>();
    for (const version of before.spec.versions) version.storage = version.name === 'v1beta1';
    const put = await server.call('PUT', `${definitions}/widgets.example.com`, before);
    assert.equal(put.status, 200, put.text);
    const { status } = put.json<CustomResourceDefinition>();
    assert.deepEqual(status?.storedVersions, ['v1', 'v1beta1']);
    for (const [path, apiVersion] of [
      [collection, 'example.com/v1'],
      [beta, 'example.com/v1beta1'],
    ] as const) {
      const { items } = (await server.call('GET', path)).json<{ items: KubeObject[] }>();
      assert.deepEqual(
        items.map((item) => item.apiVersion),
        [apiVersion, apiVersion],
      );
      assert.equal((await server.call('GET', `${path}/a`)).json().apiVersion, apiVersion);
    }
  });
});

describe('the schema of a kind', () => {
  const put = (change: (properties: Record<string, object>) => void) =>
    cluster.until(
      (async () => {
        const path = `${definitions}/widgets.example.com`;
        const found = (await server.call('GET', path)).json<CustomResourceDefinition>();
        for (const { schema: of } of found.spec.versions)
          change(of?.openAPIV3Schema?.properties?.spec?.properties as Record<string, object>);
        const answer = await server.call('PUT', path, found);
        assert.equal(answer.status, 200, answer.text);
        await server.cache.waitUntil(Number(answer.json().metadata.resourceVersion));
      })(),
    );

  it('prunes unknown fields with a warning, and rejects them if the client is strict', async () => {
    const body = { metadata: { name: 'pruned' }, spec: { size: 2, sise: 1 } };
    const strict = await server.call('POST', `${collection}?fieldValidation=Strict`, body);
    assert.deepEqual(
      [strict.status, /unknown field \\"spec.sise\\"/.test(strict.text)],
      [400, true],
      strict.text,
    );
    const made = await server.call('POST', collection, body);
    assert.match(made.headers.get('warning') ?? '', /unknown field \\"spec.sise\\"/);
    assert.deepEqual(made.json<{ spec: object }>().spec, { size: 2 });
  });

  it('rejects wrong values in upstream’s words', async () => {
    const wrong = await server.call('POST', collection, { metadata: { name: 'x' }, spec: { size: 'big' } });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /spec.size in body must be of type integer: \\"string\\"/);
  });

  it('gives stored objects new defaults, and hides fields that it no longer has', async () => {
    await put((properties) => {
      properties.shape = { type: 'string', default: 'round' };
      delete properties.colour;
    }).catch((error: unknown) => assert.match(String(error), /selectableFields/));
    await put((properties) => {
      properties.shape = { type: 'string', default: 'round' };
      properties.colour = { type: 'string', default: 'blue' };
    });
    await cluster.eventually('stored objects have the new default', async () => {
      const { spec } = (await server.call('GET', `${collection}/a`)).json<{ spec: object }>();
      return (
        JSON.stringify(Object.entries(spec).sort()) === '[["colour","blue"],["shape","round"],["size",7]]'
      );
    });
    await put((properties) => {
      delete properties.shape;
    });
    await cluster.eventually('the field is hidden', async () =>
      (await server.call('GET', `${beta}/a`)).text.includes('"spec":{"size":7,"colour":"blue"}'),
    );
  });

  it('keeps the generation of an object that an update stores in the new version', async () => {
    const before = (await server.call('GET', `${collection}/b`)).json();
    const after = (await server.call('PUT', `${collection}/b`, before)).json();
    assert.equal(after.metadata.generation, before.metadata.generation);
    assert.notEqual(after.metadata.resourceVersion, before.metadata.resourceVersion, 'it was stored');
    const again = (await server.call('PUT', `${collection}/b`, after)).json();
    assert.equal(again.metadata.resourceVersion, after.metadata.resourceVersion);
  });

  it('is used for an applied configuration', async () => {
    const apply = { headers: { 'content-type': 'application/apply-patch+yaml' } };
    const body = (spec: object) => ({
      ...{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'applied' }, spec },
    });
    const path = `${collection}/applied?fieldManager=me`;
    const made = await server.call('PATCH', path, body({ size: 4 }), apply);
    assert.deepEqual([made.status, sizeOf(made.json())], [201, 4], made.text);
    const unknown = await server.call('PATCH', path, body({ sise: 4 }), apply);
    assert.match(unknown.text, /.spec.sise: field not declared in schema/);
    const wrong = await server.call('PATCH', path, body({ size: 0 }), apply);
    assert.equal(wrong.status, 422, wrong.text);
  });
});

describe('conflicting names', () => {
  const other = (plural: string, names: object) => ({
    ...widgets,
    metadata: { name: `${plural}.example.com` },
    spec: {
      ...widgets.spec,
      names: { plural, kind: `Kind${plural}`, ...names },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });

  it('of other definitions are not accepted until they are free, and the kind is not served', async () => {
    await server.call('POST', definitions, other('gadgets', { shortNames: ['wd'] }));
    await cluster.eventually(
      'the names are accepted or rejected',
      async () => 'NamesAccepted' in (await conditionsOf('gadgets.example.com')),
    );
    const { NamesAccepted, Established } = await conditionsOf('gadgets.example.com');
    assert.deepEqual([NamesAccepted, Established], ['False', 'False']);
    assert.equal((await server.call('GET', '/apis/example.com/v1/gadgets')).status, 404);
  });

  it('of built-in kinds are not accepted', async () => {
    const roles = {
      ...other('roles', {}),
      metadata: {
        name: 'roles.rbac.authorization.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
      },
    };
    roles.spec.group = 'rbac.authorization.k8s.io';
    assert.equal((await server.call('POST', definitions, roles)).status, 201);
    const name = roles.metadata.name;
    await cluster.eventually(
      'the names are accepted or rejected',
      async () => 'NamesAccepted' in (await conditionsOf(name)),
    );
    const { NamesAccepted, KubernetesAPIApprovalPolicyConformant } = await conditionsOf(name);
    assert.deepEqual([NamesAccepted, KubernetesAPIApprovalPolicyConformant], ['False', 'False']);
    await server.call('DELETE', `${definitions}/${name}`);
    await cluster.eventually(
      'the definition is deleted',
      async () => (await server.call('GET', `${definitions}/${name}`)).status === 404,
    );
  });
});

describe('a definition that is deleted', () => {
  it('waits for its objects and their finalizers, and accepts no new objects', async () => {
    await server.call('PATCH', `${collection}/a`, { metadata: { finalizers: ['example.com/hold'] } }, merge);
    const deleted = await server.call('DELETE', `${definitions}/widgets.example.com`);
    assert.equal(deleted.status, 200, deleted.text);
    await cluster.eventually(
      'objects without finalizers are deleted',
      async () => (await server.call('GET', `${collection}/b`)).status === 404,
    );
    assert.equal((await conditionsOf('widgets.example.com')).Terminating, 'True');
    const late = await server.call('POST', collection, { metadata: { name: 'late' } });
    assert.equal(late.status, 405);
    assert.match(late.text, /create not allowed while custom resource definition is terminating/);
    await server.call('PATCH', `${collection}/a`, { metadata: { finalizers: null } }, merge);
    await cluster.eventually(
      'the definition is deleted',
      async () => (await server.call('GET', `${definitions}/widgets.example.com`)).status === 404,
    );
    await cluster.eventually(
      'the kind is no longer served',
      async () => (await server.call('GET', collection)).status === 404,
    );
    assert.doesNotMatch((await server.call('GET', '/openapi/v3')).text, /example.com\/v1beta1/);
  });

  it('releases its names', async () => {
    await established('gadgets.example.com');
    assert.equal((await server.call('GET', '/apis/example.com/v1/gadgets')).status, 200);
  });
});
