import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageClassResource } from '../../../../../src/api/storage/v1/storage-class.ts';
import { cells, created, createProblems, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const fast = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'fast' },
  provisioner: 'example.com/disk',
  parameters: { type: 'ssd' },
};

testCreate(storageClassResource, fast, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  ['no provisioner', { provisioner: null }, 'provisioner: Required value'],
  ['an empty provisioner', { provisioner: '' }, 'provisioner: Required value'],
  [
    'an invalid provisioner',
    { provisioner: 'A B' },
    "provisioner: Invalid value: \"a b\": name part must consist of letters, digits, '-', '_' and '.', its first and ",
  ],
  ['a provisioner in capitals', { provisioner: 'Example.com/Disk' }],
  [
    'the reclaim policy Recycle',
    { reclaimPolicy: 'Recycle' },
    'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
  ],
  [
    'an invalid mode',
    { volumeBindingMode: 'X' },
    'volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"',
  ],
  [
    'a parameter without a name',
    { parameters: { '': 'a' } },
    'parameters: Invalid value: "": field can not be empty.',
  ],
  [
    'two places',
    {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'a', values: ['b'] }] },
        { matchLabelExpressions: [{ key: 'a', values: ['c'] }] },
      ],
    },
  ],
  [
    'no place',
    { allowedTopologies: [{}] },
    'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
  ],
  [
    'the same topology twice',
    {
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'a', values: ['b', 'c'] },
            { key: 'd', values: ['e'] },
          ],
        },
        {
          matchLabelExpressions: [
            { key: 'd', values: ['e'] },
            { key: 'a', values: ['c', 'b'] },
          ],
        },
      ],
    },
    'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
  ],
  [
    'invalid topologies',
    {
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'a b', values: [] },
            { key: 'a', values: ['b', 'b'] },
            { key: 'a', values: ['c'] },
            {},
          ],
        },
      ],
    },
    'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
    'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a b": name part must consist of letters, di',
    'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "b"',
    'allowedTopologies[0].matchLabelExpressions[2].key: Duplicate value: "a"',
    'allowedTopologies[0].matchLabelExpressions[3].values: Required value',
    'allowedTopologies[0].matchLabelExpressions[3].key: Invalid value: "": name part must be non-empty',
    'allowedTopologies[0].matchLabelExpressions[3].key: Invalid value: "": name part must consist of letters, digit',
  ],
]);

testUpdate(storageClassResource, fast, [
  ['all mutable fields', { allowVolumeExpansion: true, mountOptions: ['ro'] }],
  [
    'immutable fields',
    {
      parameters: { type: 'hdd' },
      provisioner: 'other',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    'parameters: Forbidden: updates to parameters are forbidden.',
    'provisioner: Forbidden: updates to provisioner are forbidden.',
    'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ],
]);

test('parameters of a class are limited in number and size', () => {
  const problems = (parameters: object) => createProblems(storageClassResource, { ...fast, parameters });
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, '']));
  assert.deepEqual(problems(many(512)), []);
  assert.deepEqual(problems(many(513)), ['parameters: Too long: may not be more than 512 bytes']);
  assert.deepEqual(problems({ a: 'x'.repeat(256 * 1024 - 1) }), []);
  assert.deepEqual(problems({ a: 'x'.repeat(256 * 1024) }), [
    'parameters: Too long: may not be more than 262144 bytes',
  ]);
  assert.deepEqual(problems({ a: 'ü'.repeat(128 * 1024) }).length, 1, 'bytes, not characters');
});

test('a StorageClass gets the defaults of Kubernetes', () => {
  const made = created(storageClassResource, fast);
  assert.deepEqual([made.reclaimPolicy, made.volumeBindingMode], ['Delete', 'Immediate']);
});

test('a warning reports a deprecated label', () => {
  const matchLabelExpressions = [
    { key: 'a', values: ['b'] },
    { key: 'beta.kubernetes.io/os', values: ['linux'] },
  ];
  const made = created(storageClassResource, { ...fast, allowedTopologies: [{ matchLabelExpressions }] });
  assert.deepEqual(storageClassResource.strategy.warnings?.(made, undefined), [
    'allowedTopologies[0].matchLabelExpressions[1].key: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});

test('a class of a built-in provisioner that cannot provision volumes gets a warning', () => {
  const warned = (patch: object) =>
    storageClassResource.strategy.warnings?.(created(storageClassResource, { ...fast, ...patch }), undefined);
  const local = { provisioner: 'minik8s.io/local' };
  assert.deepEqual(warned(local), [
    'volumeBindingMode: a StorageClass of local volumes needs volumeBindingMode: WaitForFirstConsumer',
  ]);
  assert.deepEqual(warned({ ...local, volumeBindingMode: 'WaitForFirstConsumer' }), []);
  const nfs = { provisioner: 'minik8s.io/nfs' };
  assert.deepEqual(warned({ ...nfs, parameters: { path: '/a' } }), [
    'parameters.server: "" is not the name or address of a server',
  ]);
  assert.deepEqual(warned({ ...nfs, parameters: { server: 'files', path: '/a' } }), []);
});

test('a StorageClass has the columns of kubectl', () => {
  const shown = {
    Name: 'fast',
    Provisioner: 'example.com/disk',
    ReclaimPolicy: 'Delete',
    VolumeBindingMode: 'Immediate',
    AllowVolumeExpansion: false,
    Age: '<unknown>',
  };
  const show = (raw: unknown) => cells(storageClassResource, created(storageClassResource, raw), 0);
  assert.deepEqual(show(fast), shown);
  for (const name of ['storageclass.kubernetes.io', 'storageclass.beta.kubernetes.io']) {
    const marked = (value: string) =>
      merge(fast, { metadata: { annotations: { [`${name}/is-default-class`]: value } } });
    assert.equal(show(marked('true')).Name, 'fast (default)');
    assert.equal(show(marked('false')).Name, 'fast');
  }
  assert.equal(show({ ...fast, allowVolumeExpansion: true }).AllowVolumeExpansion, true);
});
