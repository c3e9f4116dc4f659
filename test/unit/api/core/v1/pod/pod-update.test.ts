import assert from 'node:assert/strict';
import { test } from 'node:test';
import { graceSecondsOf } from '../../../../../../src/api/core/v1/pod/grace.ts';
import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { created, testUpdate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod, spec } from '../../../pod-fixture.ts';

const forbidden = 'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,';

testUpdate(podResource, { ...pod, spec: { ...pod.spec, tolerations: [{ key: 'a', operator: 'Exists' }] } }, [
  ['image', container({ image: 'nginx:1.28', imagePullPolicy: 'IfNotPresent' })],
  ['image removed', container({ image: '', imagePullPolicy: 'IfNotPresent' }), `${c0}.image: Required value`],
  ['labels', { metadata: { labels: { a: 'b' } } }],
  [
    'a toleration more',
    spec({
      tolerations: [
        { key: 'b', operator: 'Exists' },
        { key: 'a', operator: 'Exists' },
      ],
    }),
  ],
  [
    'a toleration less',
    spec({ tolerations: [] }),
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ],
  [
    'a changed toleration',
    spec({ tolerations: [{ key: 'b', operator: 'Exists' }] }),
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ],
  ['command', container({ command: ['sh'] }), forbidden],
  ['node', spec({ nodeName: 'n2' }), forbidden],
  ['a changed priority class', spec({ priorityClassName: 'high' }), forbidden],
  [
    'a container more',
    spec({
      containers: [
        { name: 'web', image: 'nginx:1.27' },
        { name: 'b', image: 'x' },
      ],
    }),
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  ],
  [
    'a gate more',
    spec({ schedulingGates: [{ name: 'a' }] }),
    "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
  ],
  ['a deadline', spec({ activeDeadlineSeconds: 10 })],
  [
    'a negative deadline',
    spec({ activeDeadlineSeconds: -1 }),
    'spec.activeDeadlineSeconds: Invalid value: -1: must be',
  ],
]);

const stays = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
testUpdate(podResource, { ...pod, spec: { ...pod.spec, tolerations: [stays] } }, [
  ['a toleration for longer', spec({ tolerations: [{ ...stays, tolerationSeconds: 9 }] })],
  [
    'a toleration with another key',
    spec({ tolerations: [{ ...stays, key: 'b' }] }),
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ],
]);

testUpdate(podResource, { ...pod, spec: { ...pod.spec, schedulingGates: [{ name: 'a' }, { name: 'b' }] } }, [
  ['a gate less', spec({ schedulingGates: [{ name: 'b' }] })],
  ['removed scheduling gates', spec({ schedulingGates: undefined })],
]);

testUpdate(podResource, { ...pod, spec: { ...pod.spec, activeDeadlineSeconds: 10 } }, [
  ['a shorter deadline', spec({ activeDeadlineSeconds: 5 })],
  [
    'a longer deadline',
    spec({ activeDeadlineSeconds: 11 }),
    'spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value',
  ],
  [
    'a removed deadline',
    spec({ activeDeadlineSeconds: null }),
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ],
]);

const hasty = (seconds: number) => spec({ terminationGracePeriodSeconds: seconds });
testUpdate(podResource, { ...pod, spec: { ...pod.spec, terminationGracePeriodSeconds: -3 } }, [
  ['a negative terminationGracePeriodSeconds may become 1', hasty(1)],
  ['a negative terminationGracePeriodSeconds may not become 2', hasty(2), forbidden],
]);
testUpdate(podResource, pod, [
  ['a terminationGracePeriodSeconds that was not negative may not change', hasty(1), forbidden],
]);

test('a negative terminationGracePeriodSeconds counts as one second everywhere', () => {
  const bound = { ...pod, spec: { ...pod.spec, nodeName: 'n', terminationGracePeriodSeconds: -3 } };
  const made = created(podResource, bound);
  assert.equal(podResource.strategy.gracePeriodSeconds?.(made, undefined), 1);
  assert.equal(podResource.strategy.gracePeriodSeconds?.(made, 7), 7);
  assert.equal(graceSecondsOf(made.spec), 1);
  assert.equal(graceSecondsOf({ terminationGracePeriodSeconds: 0 }), 0);
});
