import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsFrom } from '../../../../src/kube-apiserver/object-metrics/labels-from.ts';

const cases: [string, Record<string, string>, Record<string, string>][] = [
  ['nothing', {}, {}],
  ['signs', { 'app.kubernetes.io/name': 'a' }, { label_app_kubernetes_io_name: 'a' }],
  ['capitals', { someName: 'a', HTTPPort: 'b' }, { label_some_name: 'a', label_httpport: 'b' }],
  [
    'labels whose names become equal are numbered, in their order',
    { 'a.b': 'dot', 'a-b': 'hyphen', a_b: 'underscore', other: 'o' },
    {
      label_a_b_conflict1: 'hyphen',
      label_a_b_conflict2: 'dot',
      label_a_b_conflict3: 'underscore',
      label_other: 'o',
    },
  ],
  [
    'a number that is a name is left out',
    { 'a.b': 'dot', 'a-b': 'hyphen', a_b_conflict1: 'taken' },
    { label_a_b_conflict1: 'taken', label_a_b_conflict2: 'hyphen', label_a_b_conflict3: 'dot' },
  ],
];
for (const [title, map, labels] of cases)
  test(title, () => assert.deepEqual({ ...labelsFrom('label', map) }, labels));
