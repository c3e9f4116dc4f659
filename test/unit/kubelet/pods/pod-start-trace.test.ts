import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../../../src/api/core/v1/types.gen.ts';
import { traceAnnotation } from '../../../../src/apimachinery/trace-note.ts';
import { currentSpan, inChildSpan, inSpan } from '../../../../src/base/tracing/current-span.ts';
import type { FinishedSpan } from '../../../../src/base/tracing/span.ts';
import { createTracer } from '../../../../src/base/tracing/tracer.ts';
import { PodStartTrace } from '../../../../src/kubelet/pods/pod-start-trace.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const note = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const ready: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const pod = (status?: PodStatus, annotations = { [traceAnnotation]: note }) =>
  ({
    metadata: { uid: 'u', name: 'web', namespace: 'default', annotations },
    spec: {},
    status,
  }) as unknown as Pod;

function world() {
  const clock = new FakeClock();
  const spans: FinishedSpan[] = [];
  const tracer = createTracer({
    clock,
    random: new SeededRandom(1),
    rate: 1,
    take: (span) => spans.push(span),
  });
  return { clock, spans, tracer, start: new PodStartTrace(tracer, clock) };
}

const act = () => inChildSpan('act', {}, async () => currentSpan()?.keep());

test('the trace of a start lasts until the pod is Ready, and contains the syncs that did something', async () => {
  const { clock, spans, start } = world();
  start.see(pod());
  await start.sync('sync', async () => undefined);
  await start.sync('sync', act);
  await clock.advance(70);
  start.judge({ phase: 'Pending' });
  start.judge(ready);
  start.see(pod());
  await start.sync('sync', act);
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['act', 'syncPod', 'start pod'],
  );
  const whole = spans.at(-1);
  assert.equal(whole?.parent, 'b'.repeat(16));
  assert.equal(Number(whole?.to) - Number(whole?.from), 70);
  assert.deepEqual(whole?.attributes, {
    'k8s.pod.uid': 'u',
    'k8s.pod.name': 'web',
    'k8s.namespace.name': 'default',
  });
});

for (const [what, seen] of [
  ['a pod that is Ready already', pod(ready)],
  ['a pod that has ended', pod({ phase: 'Succeeded' })],
  ['a pod without a trace annotation', pod(undefined, {} as never)],
] as const) {
  test(`${what} has no trace of its start`, async () => {
    const { spans, start } = world();
    start.see(seen);
    start.see(pod());
    await start.sync('sync', act);
    start.end();
    assert.deepEqual(spans, []);
  });
}

test('the trace of a pod that fails, or is not Ready in time, has an error', async () => {
  const failing = world();
  failing.start.see(pod());
  failing.start.judge({ phase: 'Failed' });
  assert.equal(failing.spans[0]?.error, 'the pod failed');
  const slow = world();
  slow.start.see(pod());
  await slow.clock.advance(601_000);
  slow.start.judge({ phase: 'Pending' });
  assert.equal(slow.spans[0]?.error, 'not Ready in time');
});

test("work that another pod's start triggered is not part of the trace", async () => {
  const { start, tracer } = world();
  await inSpan(tracer.start('kubelet', 'start pod', undefined), () =>
    start.sync('sync', async () => assert.equal(currentSpan(), undefined)),
  );
});
