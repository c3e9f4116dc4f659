/** Probes from the pod's spec to its status, by an agent over the simulated engine. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { podCondition } from '../../../src/api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { eventually, isReady } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const probe = (what: string, more: object = {}) => ({ exec: { command: [what] }, periodSeconds: 1, ...more });
const of = ({ status }: Pod) => status?.containerStatuses?.[0] ?? assert.fail('no container');
const whole = (pod: Pod) => ({
  ready: of(pod).ready,
  started: of(pod).started,
  restarts: of(pod).restartCount,
});

describe('probes of a pod', () => {
  let node: SimulatedNode;
  /** Exit statuses of the probes' programs, by name; default 0. */
  let answers: Map<string, number>;
  let asked: Map<string, number>;
  let obstinate: boolean;

  beforeEach(async () => {
    [answers, asked, obstinate] = [new Map(), new Map(), false];
    node = await startSimulatedNode(() => (obstinate ? 'ignore' : 'exit'));
    node.runtime.exec = async (_id, { command: [what = ''] }) => {
      asked.set(what, (asked.get(what) ?? 0) + 1);
      return answers.get(what) ?? 0;
    };
    node.start();
    await eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));
  });
  afterEach(() => node.close());

  const create = (container: object, spec: object = {}) =>
    node.createPod('web', { containers: [{ name: 'main', image: 'app:1', ...container }], ...spec });
  const times = (what: string, least: number) =>
    eventually(async () =>
      assert.ok((asked.get(what) ?? 0) >= least, `${what} was run ${asked.get(what)} times`),
    );

  it('make the pod ready when the readiness probe succeeds, and not ready when it fails', async () => {
    answers.set('ready', 1);
    await create({ readinessProbe: probe('ready', { failureThreshold: 1 }) });
    const before = await node.waitFor('web', ({ status }) => status?.phase === 'Running');
    assert.deepEqual(whole(before), { ready: false, started: true, restarts: 0 });
    assert.equal(podCondition(before, 'Ready')?.reason, 'ContainersNotReady');
    answers.set('ready', 0);
    assert.deepEqual(whole(await node.waitFor('web', isReady)), { ready: true, started: true, restarts: 0 });
    answers.set('ready', 1);
    await node.waitFor('web', (pod) => !isReady(pod));
    assert.ok(node.events.includes('Unhealthy Readiness probe failed: '), String(node.events));
  });

  it('lead to a write of the pod’s status only when it changes', async () => {
    await create({ readinessProbe: probe('ready'), livenessProbe: probe('alive') });
    const pod = await node.waitFor('web', isReady);
    await times('ready', (asked.get('ready') ?? 0) + 2);
    await times('alive', (asked.get('alive') ?? 0) + 1);
    assert.equal((await node.pod('web')).metadata.resourceVersion, pod.metadata.resourceVersion);
  });

  it('delay readiness until the container has started, and restart it when its liveness probe fails', async () => {
    answers.set('started', 1);
    await create({
      startupProbe: probe('started', { failureThreshold: 100 }),
      livenessProbe: probe('alive'),
    });
    await times('started', 2);
    assert.deepEqual(whole(await node.pod('web')), { ready: false, started: false, restarts: 0 });
    assert.equal(asked.get('alive'), undefined);
    answers.set('started', 0);
    await node.waitFor('web', isReady);
    answers.set('alive', 7);
    await node.waitFor('web', (pod) => of(pod).restartCount === 1);
    answers.set('alive', 0);
    assert.deepEqual(whole(await node.waitFor('web', isReady)), { ready: true, started: true, restarts: 1 });
    const told = node.events.filter((event) => /^(Unhealthy Liveness|Killing)/.test(event));
    assert.deepEqual(told, [
      ...Array(3).fill('Unhealthy Liveness probe failed: '),
      'Killing Container main failed liveness probe, will be restarted',
    ]);
  });

  it('kill a container that does not stop within the grace period of the probe', async () => {
    obstinate = true;
    answers.set('alive', 1);
    const livenessProbe = probe('alive', { failureThreshold: 1, terminationGracePeriodSeconds: 1 });
    await create({ livenessProbe }, { terminationGracePeriodSeconds: 600 });
    const pod = await node.waitFor('web', (found) => of(found).restartCount === 1);
    assert.equal(of(pod).lastState?.terminated?.exitCode, 137);
  });

  it('end a pod with the restart policy Never when its liveness probe fails', async () => {
    answers.set('alive', 1);
    await create({ livenessProbe: probe('alive', { failureThreshold: 1 }) }, { restartPolicy: 'Never' });
    const pod = await node.waitFor('web', ({ status }) => status?.phase === 'Failed');
    assert.equal(of(pod).restartCount, 0);
    assert.ok(node.events.includes('Killing Container main failed liveness probe'), String(node.events));
  });

  it('keep their results over a restart of the agent', async () => {
    await create({
      startupProbe: probe('started'),
      readinessProbe: probe('ready', { periodSeconds: 3600, initialDelaySeconds: 0 }),
    });
    const before = await node.waitFor('web', isReady);
    await node.stop();
    answers.set('started', 1);
    answers.set('ready', 1);
    const started = asked.get('started');
    node.start();
    await node.createPod('other');
    await node.waitFor('other', isReady);
    assert.equal(asked.get('started'), started);
    assert.deepEqual((await node.pod('web')).status, before.status);
  });

  it('continue for readiness while the pod terminates, and restart nothing', async () => {
    obstinate = true;
    await create(
      {
        readinessProbe: probe('ready', { failureThreshold: 1 }),
        livenessProbe: probe('alive', { failureThreshold: 1 }),
      },
      { terminationGracePeriodSeconds: 600 },
    );
    await node.waitFor('web', isReady);
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/web');
    const before = asked.get('alive');
    answers.set('ready', 1);
    answers.set('alive', 1);
    const pod = await node.waitFor('web', (found) => !isReady(found));
    assert.notEqual(pod.metadata.deletionTimestamp, undefined);
    assert.ok((asked.get('alive') ?? 0) <= (before ?? 0) + 1);
    assert.ok(!node.events.some((event) => event.includes('failed liveness')), String(node.events));
  });

  it('of a sidecar delay the containers after it, and a failed liveness probe restarts the sidecar alone', async () => {
    answers.set('started', 1);
    const sidecar = {
      ...{ name: 'proxy', image: 'app:2', restartPolicy: 'Always' },
      startupProbe: probe('started', { failureThreshold: 100 }),
      livenessProbe: probe('alive', { failureThreshold: 1 }),
    };
    await create({}, { initContainers: [sidecar] });
    await times('started', 2);
    assert.equal((await node.running('web')).length, 1);
    assert.equal(of(await node.pod('web')).state?.running, undefined);
    answers.set('started', 0);
    const ofProxy = ({ status }: Pod) =>
      status?.initContainerStatuses?.[0] ?? assert.fail('no init container');
    const pod = await node.waitFor('web', isReady);
    assert.deepEqual([ofProxy(pod).started, ofProxy(pod).ready], [true, true]);
    answers.set('alive', 1);
    await node.waitFor('web', (found) => ofProxy(found).restartCount === 1);
    answers.set('alive', 0);
    assert.equal(of(await node.waitFor('web', isReady)).restartCount, 0);
  });

  it('do not change the readiness gates of the pod', async () => {
    await create(
      { readinessProbe: probe('ready') },
      { readinessGates: [{ conditionType: 'example.org/gate' }] },
    );
    const pod = await node.waitFor('web', (found) => of(found).ready);
    const message = 'corresponding condition of pod readiness gate "example.org/gate" does not exist.';
    assert.equal(podCondition(pod, 'ContainersReady')?.status, 'True');
    assert.deepEqual(
      [podCondition(pod, 'Ready')?.reason, podCondition(pod, 'Ready')?.message],
      ['ReadinessGatesNotReady', message],
    );
  });
});
