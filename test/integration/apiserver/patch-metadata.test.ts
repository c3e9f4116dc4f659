/** Metadata that remains after a patch removes all of an object's metadata. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const maps = '/api/v1/namespaces/default/configmaps';
const full = {
  annotations: { a: 'b' },
  finalizers: ['example.com/one'],
  labels: { a: 'b' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }],
};
const fields = Object.keys(full);

const patches: readonly (readonly [type: string, patch: object])[] = [
  [
    'strategic-merge-patch',
    {
      metadata: {
        annotations: { a: null },
        labels: { a: null },
        '$deleteFromPrimitiveList/finalizers': ['example.com/one'],
        ownerReferences: [{ $patch: 'delete', uid: 'u' }],
      },
    },
  ],
  [
    'merge-patch',
    { metadata: { annotations: { a: null }, labels: { a: null }, finalizers: [], ownerReferences: [] } },
  ],
  [
    'json-patch',
    ['annotations/a', 'labels/a', 'finalizers/0', 'ownerReferences/0'].map((path) => ({
      op: 'remove',
      path: `/metadata/${path}`,
    })),
  ],
];

for (const [type, patch] of patches)
  it(`a ${type} that removes the last entry of a list or map leaves no empty list or map`, async () => {
    const made = await server.call('POST', maps, { metadata: { name: type, ...full } });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(
      Object.keys(made.json().metadata)
        .filter((key) => fields.includes(key))
        .sort(),
      fields,
    );
    const headers = { 'content-type': `application/${type}+json` };
    const patched = await server.call('PATCH', `${maps}/${type}`, patch, { headers });
    assert.equal(patched.status, 200, patched.text);
    const read = (await server.call('GET', `${maps}/${type}`)).json();
    for (const { metadata } of [patched.json(), read])
      assert.deepEqual(
        Object.keys(metadata).filter((key) => fields.includes(key)),
        [],
      );
  });

it('an object that is created with empty lists and maps is stored without them', async () => {
  const empty = { annotations: {}, finalizers: [], labels: {}, ownerReferences: [] };
  const made = await server.call('POST', maps, { metadata: { name: 'empty', ...empty } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(
    Object.keys(made.json().metadata).filter((key) => fields.includes(key)),
    [],
  );
});
