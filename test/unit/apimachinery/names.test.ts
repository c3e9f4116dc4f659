import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '../../../src/apimachinery/meta.ts';
import {
  checkCIdentifier,
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkHost,
  checkLabelValue,
  checkPathSegment,
  checkPortName,
  checkPortNumber,
  checkQualifiedName,
  nameCauses,
} from '../../../src/apimachinery/names.ts';
import { validateObjectMeta } from '../../../src/apimachinery/validate-meta.ts';

const long = (n: number) => 'a'.repeat(n);

for (const [name, check, good, bad] of [
  [
    'checkDns1123Label',
    checkDns1123Label,
    ['a', '1', 'a-b', long(63)],
    ['', 'A', '-a', 'a-', 'a.b', 'a_b', long(64), 'a\n'],
  ],
  [
    'checkDns1123Subdomain',
    checkDns1123Subdomain,
    ['a', 'a.b', '1.2', long(253)],
    ['', 'a..b', '.a', 'a.', 'A', long(254), 'a.-b'],
  ],
  [
    'checkHost',
    checkHost,
    ['a.b', '*.a', '*.a.b', `*.${long(251)}`],
    ['', '*', '*a', '*.', 'a.*', '*.*.a', '*.A', `*.${long(252)}`],
  ],
  ['checkDns1035Label', checkDns1035Label, ['a', 'a1', 'a-1'], ['', '1a', 'a.b', long(64)]],
  [
    'checkQualifiedName',
    checkQualifiedName,
    ['a', 'A_b.c', 'example.com/x'],
    ['', '/a', 'a/', 'a/b/c', 'A/b', '-a', `x/${long(64)}`],
  ],
  ['checkLabelValue', checkLabelValue, ['', 'a', 'A.b_c-1', long(63)], ['-', 'a/b', 'a b', long(64)]],
  ['checkCIdentifier', checkCIdentifier, ['a', '_a1', 'A'], ['', '1a', 'a-b']],
  ['checkEnvVarName', checkEnvVarName, ['A', 'a.b', '1', 'a b', '~'], ['', 'a=b', 'é', 'a\n']],
  ['checkConfigMapKey', checkConfigMapKey, ['a', '.a', 'a_b-C.d'], ['', '.', '..', '..a', 'a/b', long(254)]],
  ['checkPortName', checkPortName, ['http', 'h2', '9p'], ['', '80', 'a--b', '-a', 'a-', 'HTTP', long(16)]],
  ['checkPathSegment', checkPathSegment, ['system:node', 'a b'], ['.', '..', 'a/b', 'a%b']],
] as const) {
  test(`${name} accepts valid values and rejects invalid ones`, () => {
    for (const value of good) assert.deepEqual(check(value), [], JSON.stringify(value));
    for (const value of bad) assert.notDeepEqual(check(value), [], JSON.stringify(value));
  });
}

test('a message has the allowed form and the pattern', () => {
  assert.deepEqual(nameCauses('metadata.name', 'Web', checkDns1123Label), [
    {
      reason: 'FieldValueInvalid',
      field: 'metadata.name',
      message:
        "Invalid value: \"Web\": a lowercase RFC 1123 label holds a-z, 0-9 and '-', its first and last being a letter or digit, such as 'web-1' (it has to match '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    },
  ]);
  assert.deepEqual(checkPortNumber(0), ['must be between 1 and 65535, inclusive']);
});

const meta = (over: Partial<ObjectMeta>): ObjectMeta => ({
  name: 'web',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '',
  creationTimestamp: '',
  ...over,
});
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true };

for (const [what, over, fields] of [
  ['good', { labels: { a: 'b' }, annotations: { 'Example.com/A': 'any text\n' } }, []],
  ['no name', { name: '' }, ['metadata.name']],
  ['bad name', { name: 'Web' }, ['metadata.name']],
  ['no namespace', { namespace: undefined }, ['metadata.namespace']],
  ['generateName may end with a hyphen', { generateName: 'web-' }, []],
  ['bad generateName', { generateName: 'Web-' }, ['metadata.generateName']],
  ['bad label', { labels: { 'a/b/c': 'x y' } }, ['metadata.labels', 'metadata.labels']],
  ['huge annotation', { annotations: { a: 'é'.repeat(131072) } }, ['metadata.annotations']],
  ['two controllers', { ownerReferences: [owner, { ...owner, uid: 'v' }] }, ['metadata.ownerReferences']],
  ['empty owner', { ownerReferences: [{ ...owner, uid: '' }] }, ['metadata.ownerReferences[0].uid']],
  ['bad finalizer', { finalizers: ['a b'] }, ['metadata.finalizers']],
] as const) {
  test(`the metadata of an object are checked: ${what}`, () => {
    const causes = validateObjectMeta(meta(over as Partial<ObjectMeta>), { namespaced: true });
    assert.deepEqual(
      causes.map((cause) => cause.field),
      fields,
    );
  });
}

test('a cluster-scoped object has no namespace', () => {
  const causes = validateObjectMeta(meta({}), { namespaced: false });
  assert.equal(causes[0]?.message, 'Forbidden: not allowed on this type');
});
