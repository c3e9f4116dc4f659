/** Schemas of custom kinds: defaults, pruning, rules and unknown fields. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import {
  beta,
  cluster,
  collection,
  definitions,
  established,
  server,
  serveWidgets,
  sizeOf,
} from './widget-server.ts';

serveWidgets();

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

describe('rules about the keys of a map', () => {
  it('are accepted if the map is bounded, and refuse keys', async () => {
    const rule = 'self.all(key, key.matches(r"^[a-z]+(/[a-z]+)?$") && key.split("/")[0].size() < 9)';
    const labels = {
      type: 'object',
      maxProperties: 8,
      additionalProperties: { type: 'string', maxLength: 63 },
      'x-kubernetes-validations': [{ rule, message: 'keys are short' }],
    };
    const made = await server.call('POST', definitions, {
      metadata: { name: 'gates.rules.example.com' },
      spec: {
        group: 'rules.example.com',
        scope: 'Namespaced',
        names: { plural: 'gates', kind: 'Gate' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { labels } } },
          },
        ],
      },
    });
    assert.equal(made.status, 201, made.text);
    const gates = '/apis/rules.example.com/v1/namespaces/default/gates';
    const create = (name: string, keys: readonly string[]) =>
      server.call('POST', gates, {
        apiVersion: 'rules.example.com/v1',
        kind: 'Gate',
        metadata: { name },
        labels: Object.fromEntries(keys.map((key) => [key, 'a'])),
      });
    await cluster.eventually(
      'the kind',
      async () => (await create('good', ['a/b'])).status === 201 || undefined,
    );
    const refused = await create('bad', ['A']);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /keys are short/);
  });
});

describe('a kind that preserves unknown fields', () => {
  const open = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'notes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'notes', kind: 'Note' },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  };

  it('is applied with any fields, each of which has its owner', async () => {
    assert.equal((await server.call('POST', definitions, open)).status, 201);
    await established('notes.example.com');
    const body = 'apiVersion: example.com/v1\nkind: Note\nmetadata: {name: a}\nspec: {any: [1, {b: c}]}\n';
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const path = '/apis/example.com/v1/notes/a?fieldManager=m&fieldValidation=Strict';
    const applied = await server.call('PATCH', path, body, { headers });
    assert.equal(applied.status, 201, applied.text);
    const { metadata, spec } = applied.json<KubeObject & { spec: unknown }>();
    assert.deepEqual(spec, { any: [1, { b: 'c' }] });
    const [entry] = metadata.managedFields as { fieldsV1: unknown }[];
    assert.deepEqual(entry?.fieldsV1, { 'f:spec': { '.': {}, 'f:any': {} } });
  });

  it('is not applied with a duplicate key', async () => {
    const body = 'apiVersion: example.com/v1\nkind: Note\nmetadata: {name: a}\nspec:\n  any: 1\n  any: 2\n';
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const path = '/apis/example.com/v1/notes/a?fieldManager=m&fieldValidation=Strict';
    const refused = await server.call('PATCH', path, body, { headers });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /yaml: unmarshal errors:\\n {2}line 6: key \\"any\\" already set in map/);
  });
});
