import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import {
  decodeObject,
  decodeUnowned,
  encodeObject,
  frameObject,
  metadataBytes,
  withRevision,
} from '../../../src/storage/codec.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const pod = { kind: 'Pod', spec: { note: '"metadata":{"x"' }, metadata, apiVersion: 'v1' } as KubeObject;

test('stored bytes have no resourceVersion, and are read with the revision of the store', () => {
  const bytes = encodeObject(pod);
  assert.ok(!bytes.includes('resourceVersion'));
  assert.deepEqual(decodeObject(bytes, 12), { ...pod, metadata: { ...metadata, resourceVersion: '12' } });
  assert.equal(pod.metadata.resourceVersion, '7');
});

const stored: [name: string, bytes: Buffer][] = [
  ['as encoded', encodeObject(pod)],
  ['with another resourceVersion', withRevision(encodeObject(pod), 3)],
  ['with fields in another order', Buffer.from(JSON.stringify(pod))],
  [
    'with a template before the metadata',
    Buffer.from(JSON.stringify({ spec: { template: { metadata: { labels: { a: 'b' } } } }, ...pod })),
  ],
  ['with whitespace', Buffer.from(JSON.stringify(pod, null, 2))],
  ['with empty metadata', Buffer.from('{"apiVersion":"v1","kind":"Pod","metadata":{}}')],
  [
    'with only a resourceVersion in its metadata',
    Buffer.from('{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"1"}}'),
  ],
  [
    'with braces, quotes and backslashes in its metadata',
    encodeObject({ ...pod, metadata: { ...metadata, annotations: { a: '}}{\\', b: '"}\\"', 'c\\': '{' } } }),
  ],
  [
    'with characters outside of ASCII',
    encodeObject({ ...pod, metadata: { ...metadata, labels: { ключ: '值😀' } } }),
  ],
];
for (const [name, bytes] of stored) {
  test(`the resourceVersion is spliced into the metadata of an object ${name}`, () => {
    const expected = JSON.parse(bytes.toString());
    expected.metadata.resourceVersion = '123456';
    const spliced = withRevision(bytes, 123456);
    assert.deepEqual(JSON.parse(spliced.toString()), expected);
    assert.equal(spliced.toString().split('"resourceVersion"').length, 2);
    assert.deepEqual(JSON.parse(metadataBytes(spliced).toString()), expected.metadata);
    const { frame, object } = frameObject('MODIFIED', bytes, 123456);
    assert.deepEqual(JSON.parse(frame.toString()), { type: 'MODIFIED', object: expected });
    assert.ok(
      (frame.toString().endsWith('}\n') && frame.indexOf('\n') === frame.length - 1) ||
        name === 'with whitespace',
    );
    assert.equal(object.buffer, frame.buffer);
    assert.deepEqual(JSON.parse(object.toString()), expected);
  });
}

for (const bytes of [
  '',
  'no json',
  'null',
  '[]',
  '"text"',
  '{}',
  '{"metadata":null}',
  '{"metadata":5}',
  '{"metadata":[]}',
  '{"metadata":{}}',
]) {
  test(`bytes without an object are rejected: ${bytes}`, () => {
    assert.throws(() => withRevision(Buffer.from(bytes), 1), SyntaxError);
    assert.throws(() => frameObject('ADDED', Buffer.from(bytes), 1), SyntaxError);
  });
}

test('bytes whose metadata have no end are rejected', () => {
  assert.throws(
    () => metadataBytes(Buffer.from('{"apiVersion":"v1","kind":"Pod","metadata":{"a":"}"')),
    SyntaxError,
  );
});

const owners = (manager: string, ...keys: string[]) => [
  { manager, fieldsV1: { 'f:spec': Object.fromEntries(keys.map((key) => [key, {}])) } },
];
const containers = { containers: [{ name: 'a', ports: [{}] }], name: 'b' };
for (const [name, object] of [
  ['an object without them', pod],
  [
    'an empty list, which is kept',
    { ...pod, metadata: { managedFields: [], ...metadata }, spec: containers },
  ],
  [
    'one manager',
    { ...pod, metadata: { ...metadata, managedFields: owners('kubectl', 'f:a') }, spec: containers },
  ],
  [
    'names that end like the list',
    { ...pod, metadata: { ...metadata, managedFields: owners('}],', '}],', 'v:"}],"') } },
  ],
  [
    'names outside of ASCII',
    { ...pod, metadata: { ...metadata, managedFields: owners('😀', 'k:{"ключ":"значение"}') } },
  ],
] as [string, KubeObject][]) {
  test(`managedFields are left out when an object is decoded: ${name}`, () => {
    const { managedFields, ...others } = object.metadata;
    const isLeft = managedFields?.length === 0;
    const expected = {
      ...object,
      metadata: { ...others, ...(isLeft && { managedFields }), resourceVersion: '9' },
    };
    for (const bytes of [encodeObject(object), withRevision(encodeObject(object), 5)])
      assert.deepEqual(decodeUnowned(bytes, 9), expected);
  });
}

test('managedFields outside of metadata are decoded', () => {
  const object = { ...pod, metadata: { ...metadata, managedFields: owners('kubectl', 'f:a') } };
  assert.deepEqual(decodeUnowned(Buffer.from(JSON.stringify(object)), 7), object);
});

test('managedFields that are passed as text become those of the object', () => {
  const managedFields = owners('kubectl', 'f:a');
  const whole = { ...pod, metadata: { ...metadata, managedFields } };
  assert.deepEqual(encodeObject(pod, JSON.stringify(managedFields)), encodeObject(whole));
  const bare = { apiVersion: 'v1', kind: 'Pod', metadata: {} } as KubeObject;
  assert.deepEqual(JSON.parse(encodeObject(bare, JSON.stringify(managedFields)).toString()).metadata, {
    managedFields,
  });
});
