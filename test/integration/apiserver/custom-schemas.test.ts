/** Custom kinds with rules about the keys of maps, and with unknown fields. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { cluster, definitions, established, server, serveWidgets } from './widget-server.ts';

serveWidgets();

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
