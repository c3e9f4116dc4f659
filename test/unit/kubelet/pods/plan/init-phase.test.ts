/** Phase of a pod by the states of its init containers, sidecars and own containers. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ContainerStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import { phaseOf } from '../../../../../src/kubelet/pods/plan/pod-phase.ts';
import { makePod } from '../../builders.ts';

const image = 'app:1';
const at = '2026-01-01T12:00:00Z';
const end = (exitCode: number, reason = 'Error') => ({
  terminated: { exitCode, reason, startedAt: at, finishedAt: at },
});
const running = { state: { running: { startedAt: at } }, started: true };
const starting = { ...running, started: false };
const waiting = { state: { waiting: { reason: 'PodInitializing' } } };
const again = (exitCode: number, reason?: string) => ({ ...waiting, lastState: end(exitCode, reason) });
const ended = (exitCode: number, reason?: string) => ({ state: end(exitCode, reason) });

type Said = Partial<ContainerStatus>;
const status = (name: string, said: Said): ContainerStatus =>
  ({
    name,
    image,
    imageID: '',
    ready: false,
    restartCount: 0,
    state: {},
    lastState: {},
    ...said,
  }) as ContainerStatus;

const rows: readonly [policy: string, step: Said, sidecar: Said, main: Said, phase: string][] = [
  // Before the pod's own containers.
  ['Always', waiting, waiting, waiting, 'Pending'],
  ['Always', running, running, waiting, 'Pending'],
  ['Always', ended(1), running, waiting, 'Pending'],
  ['Always', again(1), running, waiting, 'Pending'],
  ['Always', ended(0), starting, waiting, 'Pending'],
  ['Always', ended(0), running, waiting, 'Pending'],
  ['Never', running, running, waiting, 'Pending'],
  ['Never', ended(0), running, waiting, 'Pending'],
  // A failed init container ends the pod only with Never, and when nothing runs.
  ['Never', ended(1), ended(0), waiting, 'Failed'],
  ['Never', again(1), ended(0), waiting, 'Failed'],
  ['Never', again(0), ended(0), waiting, 'Pending'],
  ['Never', ended(0, 'OOMKilled'), ended(0), waiting, 'Failed'],
  ['Never', ended(1), running, waiting, 'Pending'],
  ['OnFailure', ended(1), ended(0), waiting, 'Pending'],
  // While the pod's own containers run.
  ['Always', ended(0), running, running, 'Running'],
  ['Always', ended(0), starting, running, 'Running'],
  ['Always', ended(0), again(1), running, 'Running'],
  ['Always', ended(0), waiting, running, 'Pending'],
  ['Always', ended(0), running, again(1), 'Running'],
  // After the loss of a sandbox all containers begin again.
  ['Always', running, ended(137), again(137), 'Pending'],
  ['Always', ended(0), starting, again(137), 'Pending'],
  ['Always', ended(0), waiting, again(137), 'Pending'],
  ['Always', ended(0), starting, ended(137), 'Running'],
  // Sidecars end last, and their exit codes do not matter.
  ['Never', ended(0), running, ended(0), 'Running'],
  ['Never', ended(0), ended(137), ended(0), 'Succeeded'],
  ['Never', ended(0), ended(0), ended(3), 'Failed'],
  ['OnFailure', ended(0), ended(1), ended(0), 'Succeeded'],
  ['OnFailure', ended(0), ended(1), ended(3), 'Running'],
];

for (const [restartPolicy, step, sidecar, main, phase] of rows) {
  const told = [step, sidecar, main].map(({ state, lastState, started }) =>
    JSON.stringify({ state, lastState, started }),
  );
  it(`init container, sidecar and container ${told.join(' ')} with ${restartPolicy} make a pod ${phase}`, () => {
    const initContainers = [
      { name: 'step', image },
      { name: 'net', image, restartPolicy: 'Always' },
    ];
    const statuses = {
      initStatuses: [status('step', step), status('net', sidecar)],
      containerStatuses: [status('main', main)],
    };
    assert.equal(phaseOf(makePod({ restartPolicy, initContainers }), statuses), phase);
  });
}
