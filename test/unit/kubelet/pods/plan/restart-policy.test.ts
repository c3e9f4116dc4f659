/** Containers that are restarted after their end. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isStarted } from '../../../../../src/kubelet/pods/plan/container-started.ts';
import { probeStop } from '../../../../../src/kubelet/pods/plan/probe-restart.ts';
import { restartsAfter } from '../../../../../src/kubelet/pods/plan/restart-policy.ts';
import { makeContainer, makeMemory, makePod } from '../../builders.ts';

const specOf = (restartPolicy: string) =>
  makePod({
    restartPolicy,
    initContainers: [
      { name: 'step', image: 'app:1' },
      { name: 'sidecar', image: 'app:1', restartPolicy: 'Always' },
    ],
    containers: [{ name: 'main', image: 'app:1' }],
    ephemeralContainers: ['first', 'added'].map((name) => ({ name, image: 'app:1' })),
  }).spec;

for (const [name, restartPolicy, onSuccess, onFailure, outOfMemory] of [
  ['main', 'Always', true, true, true],
  ['main', 'OnFailure', false, true, false],
  ['main', 'Never', false, false, false],
  ['step', 'Always', false, true, true],
  ['step', 'OnFailure', false, true, true],
  ['step', 'Never', false, false, false],
  ['sidecar', 'Always', true, true, true],
  ['sidecar', 'OnFailure', true, true, true],
  ['sidecar', 'Never', true, true, true],
  ['added', 'Always', false, false, false],
  ['added', 'OnFailure', false, false, false],
  ['added', 'Never', false, false, false],
] as const)
  it(`${name} with ${restartPolicy} restarts after success ${onSuccess}, failure ${onFailure}, OOM ${outOfMemory}`, () => {
    const spec = specOf(restartPolicy);
    const again = [
      { exitCode: 0, oomKilled: false },
      { exitCode: 1, oomKilled: false },
      { exitCode: 0, oomKilled: true },
    ].map((end) => restartsAfter(spec, { name, ...end }));
    assert.deepEqual(again, [onSuccess, onFailure, outOfMemory]);
  });

it('a sidecar whose probe failed has a restart event although its pod restarts no containers', () => {
  const pod = makePod({ restartPolicy: 'Never' });
  const livenessProbe = { tcpSocket: { port: 80 } };
  const container = makeContainer();
  const memory = makeMemory({ probes: new Map([[container.id, { startup: true, liveness: false }]]) });
  const message = (wanted: object) => probeStop(pod, wanted as never, container, memory)?.message;
  assert.equal(message({ livenessProbe }), 'Container main failed liveness probe');
  assert.equal(
    message({ livenessProbe, restartPolicy: 'Always' }),
    'Container main failed liveness probe, will be restarted',
  );
});

it('a container has started when it runs, its hook has ended and its startup probe has succeeded', () => {
  const started = (container: object, wanted: object, memory: object = {}) =>
    isStarted(makeContainer(container), wanted as never, makeMemory(memory));
  const hook = { lifecycle: { postStart: { exec: { command: ['a'] } } } };
  const probe = { startupProbe: { tcpSocket: { port: 80 } } };
  assert.equal(started({}, {}), true);
  assert.equal(started({ state: 'created' }, {}), false);
  assert.equal(started({ state: 'exited' }, hook), false);
  assert.equal(started({}, hook), false);
  assert.equal(started({}, hook, { hooks: new Map([['main-0.postStart', { at: 'running' }]]) }), false);
  assert.equal(started({}, hook, { hooks: new Map([['main-0.postStart', { at: 'done' }]]) }), true);
  assert.equal(started({}, probe), false);
  assert.equal(started({}, probe, { probes: new Map([['main-0', { startup: true }]]) }), true);
});
