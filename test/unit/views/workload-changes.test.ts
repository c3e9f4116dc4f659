/** Patches that operators apply, and the readers of calls, events and usage. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { functionCalls, secondsText } from '../../../src/views/function-calls.ts';
import { samplesWith } from '../../../src/views/metric-samples.ts';
import { isDeadLetter, replayPatch } from '../../../src/views/trigger-events.ts';
import { useIn } from '../../../src/views/usage.ts';
import { cordonPatch, pausePatch, restartPatch } from '../../../src/views/workload-changes.ts';

describe('a patch', () => {
  const deployment = (spec: object = {}) => ({ kind: 'Deployment', spec });

  it('restarts the pods by a time in the template, unless the Deployment is paused', () => {
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-02T00:00:00Z' };
    const expected = { spec: { template: { metadata: { annotations } } } };
    assert.deepEqual(restartPatch(deployment(), '2026-01-02T00:00:00Z'), expected);
    assert.match(String(restartPatch(deployment({ paused: true }), '')), /resume/);
    assert.match(String(restartPatch({ kind: 'Job' }, '')), /not supported/);
  });

  it('pauses a running Deployment, and resumes a paused one', () => {
    assert.deepEqual(pausePatch(deployment(), true), { spec: { paused: true } });
    assert.deepEqual(pausePatch(deployment({ paused: true }), false), { spec: { paused: null } });
    assert.equal(pausePatch(deployment({ paused: true }), true), 'is already paused');
    assert.equal(pausePatch(deployment(), false), 'is not paused');
    assert.match(String(pausePatch({ kind: 'DaemonSet' }, true)), /not supported/);
  });

  it('removes the field unschedulable of a node that is uncordoned', () => {
    assert.deepEqual(
      [cordonPatch(true), cordonPatch(false)],
      [{ spec: { unschedulable: true } }, { spec: { unschedulable: null } }],
    );
  });
});

describe('an event of a trigger', () => {
  const event = (phase: string, spec: number, status: number) => ({
    spec: { replays: spec },
    status: { phase, replays: status },
  });

  it('is a dead letter once it has failed, unless a replay is requested', () => {
    assert.deepEqual(
      [event('Failed', 0, 0), event('Failed', 1, 0), event('Failed', 1, 1), event('Pending', 0, 0)].map(
        isDeadLetter,
      ),
      [true, false, true, false],
    );
    assert.deepEqual(replayPatch(event('Failed', 1, 1)), { spec: { replays: 2 } });
  });
});

describe('the calls of a function', () => {
  const page = [
    'minik8s_function_calls_total{namespace="a",function="f",code="502"} 2',
    'minik8s_function_calls_total{namespace="a",function="f",code="200"} 8',
    'minik8s_function_calls_total{namespace="a",function="f",code="404"} 1',
    'minik8s_function_calls_total{namespace="b",function="f",code="200"} 99',
    'minik8s_function_call_duration_seconds_bucket{namespace="a",function="f",le="0.01"} 6',
    'minik8s_function_call_duration_seconds_bucket{namespace="a",function="f",le="0.1"} 11',
    'minik8s_function_call_duration_seconds_bucket{namespace="a",function="f",le="+Inf"} 12',
    'minik8s_function_call_duration_seconds_sum{namespace="a",function="f"} 0.6',
    'minik8s_function_call_duration_seconds_count{namespace="a",function="f"} 12',
    'minik8s_function_cold_starts_total{namespace="a",function="f"} 3',
  ].join('\n');
  const calls = functionCalls(samplesWith(page, { namespace: 'a', function: 'f' }));

  it('are counted with those that failed, by their status', () => {
    assert.equal(calls.answered, 11);
    assert.deepEqual(calls.failed, [
      [404, 1],
      [502, 2],
    ]);
    assert.equal(calls.coldStarts, 3);
  });

  it('have a mean duration, and bounds for shares of the calls', () => {
    assert.equal(secondsText(calls.averageSeconds), '50ms');
    assert.deepEqual(
      [0.5, 0.9, 1].map((share) => secondsText(calls.within(share))),
      ['10ms', '100ms', 'any time'],
    );
  });
});

describe('usage', () => {
  it('is read in thousandths of a processor and bytes, and as 0 if it is invalid', () => {
    assert.deepEqual(useIn({ usage: { cpu: '1.5', memory: '1Ki' } }, 'usage'), { cpu: 1500, memory: 1024 });
    assert.deepEqual(useIn({ usage: { cpu: 'x' } }, 'usage'), { cpu: 0, memory: 0 });
    assert.deepEqual(useIn({}, 'usage'), { cpu: 0, memory: 0 });
  });
});
