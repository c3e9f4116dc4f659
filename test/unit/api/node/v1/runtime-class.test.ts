import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeClassResource } from '../../../../../src/api/node/v1/runtime-class.ts';
import { cells, created, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const gvisor = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'gvisor' },
  handler: 'runsc',
};
const scheduling = (fields: object) => ({ scheduling: fields });

testCreate(runtimeClassResource, gvisor, [
  ['no handler', { handler: null }, 'handler: Required value'],
  [
    'an invalid handler',
    { handler: 'Run_sc' },
    'handler: Invalid value: "Run_sc": a lowercase RFC 1123 label',
  ],
  ['the overhead of its pods', { overhead: { podFixed: { cpu: '250m', memory: '120Mi' } } }],
  [
    'an invalid overhead',
    { overhead: { podFixed: { pods: '1', cpu: '-1' } } },
    'overhead.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
    'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    'scheduling of its pods',
    scheduling({
      nodeSelector: { a: 'b' },
      tolerations: [{ operator: 'Exists' }, { key: 'a', operator: 'Exists' }],
    }),
  ],
  [
    'an invalid node selector',
    scheduling({ nodeSelector: { a: 'b c' } }),
    'scheduling.nodeSelector: Invalid value: "b c": a valid label',
  ],
  [
    'a repeated and an invalid toleration',
    scheduling({
      tolerations: [
        { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
        { key: 'a', operator: 'Exists', effect: 'NoExecute' },
        { key: 'a b' },
      ],
    }),
    'scheduling.tolerations[1]: Duplicate value: {"key":"a","operator":"Exists","effect":"NoExecute"}',
    'scheduling.tolerations[2].key: Invalid value: "a b": name part',
  ],
]);

testUpdate(runtimeClassResource, gvisor, [
  ['the rest', merge(scheduling({ nodeSelector: { a: 'b' } }), { overhead: { podFixed: { cpu: '1' } } })],
  ['its handler', { handler: 'kata' }, 'handler: Invalid value: "kata": field is immutable'],
]);

test('an amount is rounded up to a thousandth', () => {
  const made = created(runtimeClassResource, merge(gvisor, { overhead: { podFixed: { cpu: '100u' } } }));
  assert.deepEqual(made.overhead, { podFixed: { cpu: '1m' } });
});

test('the columns of a runtime class', () => {
  assert.deepEqual(cells(runtimeClassResource, created(runtimeClassResource, gvisor), 0), {
    Name: 'gvisor',
    Handler: 'runsc',
    Age: '<unknown>',
  });
});
