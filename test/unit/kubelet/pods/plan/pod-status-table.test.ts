/** Status of a pod, row by row, as Kubernetes 1.33 would report it for the same containers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, PodStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import { exited, makeMemory, makePod, now, observed } from '../../builders.ts';
import { rowsOfEnds } from './pod-status-row-ends.ts';
import { image, never, rows } from './pod-status-rows.ts';

/** Returns the parts of the status that the rows list. */
function tell(status: PodStatus): readonly string[] {
  const { phase, conditions = [], containerStatuses = [], initContainerStatuses = [] } = status;
  const { ephemeralContainerStatuses = [] } = status;
  const said = conditions.filter(({ type }) => type !== 'PodScheduled');
  return [
    because(`${phase}`, status),
    ...said.map((one) =>
      because(`${one.type.replace('PodReadyToStartContainers', 'sandbox')} ${one.status}`, one),
    ),
    ...[...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].map(tellContainer),
  ];
}

const because = (
  what: string,
  { reason, message }: { reason?: string | undefined; message?: string | undefined },
) => `${what}${reason ? ` ${reason}` : ''}${message ? `: ${message}` : ''}`;

function tellContainer({ name, state, lastState, ready, started, restartCount }: ContainerStatus): string {
  const { waiting, terminated } = state ?? {};
  const end = terminated && `ended ${terminated.exitCode} ${terminated.reason}`;
  const last = lastState?.terminated;
  return [
    name,
    waiting ? `waits ${waiting.reason}` : (end ?? 'runs'),
    ...(ready ? ['ready'] : []),
    ...(started ? ['started'] : []),
    ...(restartCount > 0 ? [`restarts ${restartCount}`] : []),
    ...(last ? [`last ${last.exitCode} ${last.reason}`] : []),
  ].join(' ');
}

describe('the status of a pod', () => {
  for (const [
    what,
    { spec = {}, isDeleted = false, before, found = [], memory = {}, told },
  ] of Object.entries({ ...rows, ...rowsOfEnds })) {
    it(`is as in Kubernetes when ${what}`, () => {
      const metadata = isDeleted ? { deletionTimestamp: '2026-01-01T12:00:00Z' } : {};
      const input = { observed: observed(...found), memory: makeMemory(memory), nodeIP: '192.0.2.1', now };
      const status = computePodStatus({ ...input, pod: makePod(spec, metadata, before) });
      assert.deepEqual(tell(status), told);
      // A second computation changes nothing.
      const again = computePodStatus({ ...input, pod: makePod(spec, metadata, status) });
      assert.deepEqual(again, status);
      assert.deepEqual([status.hostIP, status.hostIPs], ['192.0.2.1', [{ ip: '192.0.2.1' }]]);
      assert.equal(status.qosClass, 'BestEffort');
      assert.equal(status.startTime, '2026-01-01T12:00:00Z');
    });
  }

  it('contains 12 KiB of termination messages at most, shared equally by the containers', () => {
    const of = (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `c${index}`);
      const memory = makeMemory({
        terminationMessages: new Map(names.map((name) => [`${name}-0`, 'é'.repeat(2048)])),
      });
      const pod = makePod({ ...never, containers: names.map((name) => ({ name, image })) });
      const found = observed(...names.map((name) => exited(1, { name })));
      const { containerStatuses = [] } = computePodStatus({
        pod,
        observed: found,
        memory,
        nodeIP: '192.0.2.1',
        now,
      });
      return containerStatuses.map(({ state }) => Buffer.byteLength(state?.terminated?.message ?? ''));
    };
    assert.deepEqual(of(2), [4096, 4096]);
    assert.deepEqual(of(4), [3072, 3072, 3072, 3072]);
  });
});
