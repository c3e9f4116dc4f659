import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinitionResource } from '../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { KindSet } from '../../../../src/apimachinery/kind-set.ts';
import { storageKey } from '../../../../src/apimachinery/resource-definition.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { ServedDefinitions } from '../../../../src/kube-apiserver/custom-resources/served-definitions.ts';

/** Returns a definition in the cache. Clients cannot write a `name` that does not fit the plural. */
function cached(name: string, plural: string, revision: number) {
  const kind = plural.toUpperCase();
  const names = { plural, singular: plural, kind, listKind: `${kind}List` };
  const schema = { openAPIV3Schema: { type: 'object' } };
  const object = {
    metadata: { name, generation: 1, uid: name },
    spec: {
      ...{ group: 'example.com', scope: 'Cluster', names },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: {
      ...{ acceptedNames: names, storedVersions: ['v1'] },
      conditions: [{ type: 'NamesAccepted', status: 'True' }],
    },
  };
  return { key: storageKey(customResourceDefinitionResource, '', name), revision, object };
}

test('a definition that cannot be served does not affect the kinds of other definitions, and is retried', () => {
  const kinds = new KindSet([]);
  let objects = [cached('a', 'a', 1), cached('twin', 'a', 2), cached('b', 'b', 3)];
  let events = () => {};
  const cache = {
    revision: 1,
    list: () => objects,
    watch: (_prefix: string, _from: number, { onEvents }: { onEvents: () => void }) => {
      events = onEvents;
      return () => {};
    },
  };
  const options = { cache, kinds, fields: kubernetesFields, log: silentLogger };
  new ServedDefinitions(options as never).start();
  const served = () => kinds.all.map(({ plural }) => plural).sort();
  assert.deepEqual(served(), ['a', 'b']);
  const kept = kinds.get('example.com', 'b');
  objects = [cached('twin', 'a', 2), cached('b', 'b', 3), cached('c', 'c', 4)];
  events();
  assert.deepEqual(served(), ['a', 'b', 'c']);
  assert.equal(kinds.get('example.com', 'b'), kept);
});
