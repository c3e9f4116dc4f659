/**
 * Objects that a list, a watch or a deletion of a collection selects: no other objects may be read or
 * deleted.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { parseFieldSelector } from '../../../../src/apimachinery/field-selector.ts';
import { nothing, parseLabelSelector } from '../../../../src/apimachinery/labels.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { selectionOf } from '../../../../src/apiserver/reads/selection.ts';

const pods = podResource as unknown as ResourceDefinition;
const namespaces = namespaceResource as unknown as ResourceDefinition;

const object = (key: string, labels: Record<string, string>, nodeName: string) => {
  const [, , , namespace = '', name = ''] = key.split('/');
  return {
    key,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels },
      spec: { nodeName },
      status: {},
    } as unknown as KubeObject,
  };
};
const all = [
  object('/registry/pods/a/web', { app: 'web' }, 'n1'),
  object('/registry/pods/a/db', { app: 'db' }, 'n2'),
  object('/registry/pods/b/web', { app: 'web' }, 'n2'),
];

const selected = (namespace: string, fields: string, labels = '') => {
  const selection = selectionOf(pods, namespace, {
    labelSelector: parseLabelSelector(labels),
    fieldSelector: parseFieldSelector(fields),
  });
  const found = all.filter(({ key }) => key.startsWith(selection.prefix));
  return {
    ...selection,
    found: found.filter(selection.matches).map(({ key }) => key.slice('/registry/pods/'.length)),
  };
};

describe('pods', () => {
  for (const [namespace, fields, labels, found, only] of [
    ['', '', '', ['a/web', 'a/db', 'b/web'], undefined],
    ['a', '', '', ['a/web', 'a/db'], undefined],
    ['a', 'metadata.name=web', '', ['a/web'], 'a/web'],
    ['a', 'metadata.name=web', 'app=db', [], 'a/web'],
    ['a', 'metadata.name=web,spec.nodeName=n2', '', [], 'a/web'],
    ['a', 'metadata.name=web,spec.nodeName=n1', '', ['a/web'], 'a/web'],
    ['a', 'metadata.name=web,spec.nodeName!=n2', '', ['a/web'], 'a/web'],
    ['a', 'metadata.name=web,metadata.namespace=a', '', ['a/web'], 'a/web'],
    ['a', 'metadata.name=web,metadata.namespace=b', '', [], undefined],
    ['a', 'metadata.name=web,metadata.namespace!=a', '', [], undefined],
    ['a', 'metadata.name=web,metadata.namespace!=b', '', ['a/web'], undefined],
    ['a', 'metadata.name=web,metadata.name=db', '', [], undefined],
    ['a', 'metadata.name=web,metadata.name!=web', '', [], undefined],
    ['a', 'metadata.name=web,metadata.name!=db', '', ['a/web'], undefined],
    ['a', 'metadata.name!=web', '', ['a/db'], undefined],
    ['a', 'metadata.name=gone', '', [], 'a/gone'],
    ['a', 'metadata.name=', '', [], undefined],
    ['', 'metadata.name=web', '', ['a/web', 'b/web'], undefined],
    ['', 'metadata.namespace=b', '', ['b/web'], undefined],
    ['', 'metadata.namespace!=b', '', ['a/web', 'a/db'], undefined],
    ['', 'metadata.name=web,metadata.namespace=b', '', ['b/web'], undefined],
    ['', 'spec.nodeName=n2', '', ['a/db', 'b/web'], undefined],
    ['', 'spec.nodeName!=n2', '', ['a/web'], undefined],
    ['', 'spec.nodeName=n2', 'app=web', ['b/web'], undefined],
    ['', '', 'app=web', ['a/web', 'b/web'], undefined],
    ['', '', '!app', [], undefined],
  ] as const) {
    test(`in ${namespace || 'all namespaces'} with fields "${fields}" and labels "${labels}"`, () => {
      const selection = selected(namespace, fields, labels);
      assert.deepEqual(selection.found, found);
      // The only key is read from its own place; objects elsewhere are not seen.
      assert.equal(selection.key, only && `/registry/pods/${only}`);
      assert.equal(selection.everything, fields === '' && labels === '');
    });
  }

  test('are selected by key alone if only a name is requested, so that none is decoded', () => {
    const { matches } = selected('a', 'metadata.name=web');
    const candidate = (key: string) => ({
      key,
      get object(): KubeObject {
        throw new Error('it was decoded');
      },
    });
    assert.equal(matches(candidate('/registry/pods/a/web')), true);
    assert.equal(matches(candidate('/registry/pods/a/db')), false);
    assert.equal(selected('a', '').matches(candidate('/registry/pods/a/db')), true);
  });

  test('are not selected by fields that the kind does not offer', () => {
    for (const field of ['spec.x', 'metadata.uid', 'toString', 'constructor'])
      assert.throws(() => selected('a', `${field}=x`), new RegExp(`field label not supported: ${field}`));
  });

  test('are not read for a selector that matches nothing', () => {
    const selection = selectionOf(pods, 'a', { labelSelector: nothing, fieldSelector: [] });
    assert.equal(selection.everything, false);
    assert.deepEqual(all.filter(selection.matches), []);
    const named = { labelSelector: nothing, fieldSelector: parseFieldSelector('metadata.name=web') };
    assert.deepEqual(all.filter(selectionOf(pods, 'a', named).matches), []);
  });
});

test('cluster-scoped objects are selected by name, and not by namespace', () => {
  const select = (text: string) =>
    selectionOf(namespaces, '', {
      labelSelector: parseLabelSelector(''),
      fieldSelector: parseFieldSelector(text),
    });
  assert.equal(select('metadata.name=a').key, '/registry/namespaces/a');
  assert.throws(() => select('metadata.namespace=a'), /field label not supported/);
});
