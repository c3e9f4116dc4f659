import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstDelayMs, firstFailureCounts } from '../../../../src/kubelet/probes/plan/first-probe.ts';
import {
  count,
  failedProbe,
  hasStarted,
  isReady,
  type Series,
} from '../../../../src/kubelet/probes/plan/probe-results.ts';
import { nextRun, timingOf } from '../../../../src/kubelet/probes/plan/probe-timing.ts';
import { decidedBefore, wantedProbes } from '../../../../src/kubelet/probes/plan/wanted-probes.ts';
import { exited, makeContainer, makePod, makeSandbox, now, observed, seconds } from '../builders.ts';

const probe = { tcpSocket: { port: 80 } };

describe('decisions from the results of probes', () => {
  const decisions = (results: string, thresholds: object) => {
    let series: Series | undefined;
    return [...results]
      .map((result) => {
        const counted = count(series, result === '+', { ...probe, ...thresholds });
        series = counted.series;
        return counted.decided === undefined ? '.' : counted.decided ? '+' : '-';
      })
      .join('');
  };

  it('need the given number of equal results in a row', () => {
    assert.equal(decisions('+--+---+', { failureThreshold: 3 }), '+..+..-+');
    assert.equal(decisions('++-+++', { successThreshold: 3, failureThreshold: 1 }), '..-..+');
    assert.equal(decisions('----', { failureThreshold: 3 }), '..--');
  });

  it('need three failures and one success by default', () => {
    assert.equal(decisions('---+', {}), '..-+');
  });

  it('are not needed for a container without probes, which is started and ready at once', () => {
    assert.deepEqual([hasStarted({}), isReady({})], [true, true]);
    const probes = { startupProbe: probe, readinessProbe: probe };
    assert.deepEqual([hasStarted(probes), isReady(probes)], [false, false]);
    assert.equal(hasStarted(probes, { startup: true }), true);
    assert.equal(hasStarted(probes, { startup: false }), false);
    assert.equal(isReady(probes, { readiness: true }), true);
    assert.equal(isReady(probes, { startup: true }), false);
  });

  it('end a container for its startup and its liveness probe, not for its readiness probe', () => {
    assert.equal(failedProbe(), undefined);
    assert.equal(failedProbe({ readiness: false, liveness: true, startup: true }), undefined);
    assert.equal(failedProbe({ liveness: false, startup: true }), 'liveness');
    assert.equal(failedProbe({ startup: false }), 'startup');
  });
});

describe('the probes that run', () => {
  const probes = { startupProbe: probe, livenessProbe: probe, readinessProbe: probe };
  const running = makeContainer();
  const status = { podIP: '10.0.0.1', phase: 'Running' };
  const podWith = (container: object, more: object = {}, podStatus: object = status) =>
    makePod({ containers: [{ name: 'main', image: 'app:1', ...container }], ...more }, {}, podStatus);
  const kinds = (
    pod = podWith(probes),
    results: object = {},
    isEnding = false,
    world = observed(makeSandbox(), running),
  ) => wantedProbes(pod, world, new Map([[running.id, results]]), isEnding).map(({ kind }) => kind);

  it('begin with the startup probe alone, and other probes follow it', () => {
    assert.deepEqual(kinds(), ['startup']);
    assert.deepEqual(kinds(podWith(probes), { startup: true }), ['liveness', 'readiness']);
    assert.deepEqual(kinds(podWith({ livenessProbe: probe, readinessProbe: probe })), [
      'liveness',
      'readiness',
    ]);
    assert.deepEqual(kinds(podWith({})), []);
  });

  it('exclude startup and liveness probes of a container that is being terminated', () => {
    assert.deepEqual(kinds(podWith(probes), { startup: false }), []);
    assert.deepEqual(kinds(podWith(probes), { startup: true, liveness: false }), ['readiness']);
    assert.deepEqual(kinds(podWith(probes), { startup: true }, true), ['readiness']);
    assert.deepEqual(kinds(podWith(probes), {}, true), []);
  });

  it('exclude the probes of stopped containers, of a pod without an address, and of an ended pod', () => {
    assert.deepEqual(kinds(undefined, {}, false, observed(makeSandbox(), exited(1))), []);
    assert.deepEqual(
      kinds(undefined, {}, false, observed(makeSandbox(), makeContainer({ state: 'created' }))),
      [],
    );
    assert.deepEqual(kinds(podWith(probes, {}, { phase: 'Running' })), []);
    assert.deepEqual(kinds(podWith(probes, {}, { ...status, phase: 'Failed' })), []);
  });

  it('include the probes of sidecars', () => {
    const [first] = wantedProbes(
      podWith({}, { initContainers: [{ name: 'proxy', image: 'p', restartPolicy: 'Always', ...probes }] }),
      observed(makeSandbox(), running, makeContainer({ name: 'proxy' })),
      new Map(),
      false,
    );
    assert.equal(first?.key, 'proxy-0/startup');
    const once = podWith({}, { initContainers: [{ name: 'proxy', image: 'p', ...probes }] });
    assert.deepEqual(
      wantedProbes(once, observed(makeSandbox(), makeContainer({ name: 'proxy' })), new Map(), false),
      [],
    );
  });
});

describe('results of an earlier agent', () => {
  const podWith = (found: object) =>
    makePod(
      {},
      {},
      { containerStatuses: [{ name: 'main', image: 'a', imageID: '', restartCount: 0, ...found }] },
    );
  const container = makeContainer();
  const said = { containerID: 'docker://main-0', started: true, ready: true };

  it('are valid for the same container', () => {
    assert.deepEqual(decidedBefore(podWith(said), container), { startup: true, readiness: true });
    assert.deepEqual(decidedBefore(podWith({ ...said, ready: false }), container), { startup: true });
    assert.deepEqual(decidedBefore(podWith({ ...said, started: false, ready: false }), container), {});
  });

  it('are valid for a sidecar as well', () => {
    const initContainerStatuses = [{ name: 'proxy', image: 'a', imageID: '', restartCount: 0, ...said }];
    const pod = makePod({}, {}, { initContainerStatuses });
    assert.deepEqual(decidedBefore(pod, makeContainer({ name: 'proxy', id: 'main-0' })), {
      startup: true,
      readiness: true,
    });
  });

  it('are valid for no other container', () => {
    assert.deepEqual(decidedBefore(podWith({ ...said, containerID: 'docker://main-1' }), container), {});
    assert.deepEqual(decidedBefore(makePod(), container), {});
  });
});

describe('the first run of a probe', () => {
  const first = (kind: 'startup' | 'liveness' | 'readiness', more: object, at: object = {}) =>
    firstDelayMs(
      {
        ...{ key: '', kind, probe: { ...probe, periodSeconds: 10, ...more }, containerId: '', podIP: '' },
        ...{ container: makePod().spec.containers[0] ?? assert.fail(), startedAt: now },
      },
      { now, since: now - seconds(3600), share: 0.5, ...at },
    );

  it('is at once, or after its delay, counted from the start of the container', () => {
    assert.equal(first('readiness', {}), 0);
    assert.equal(first('startup', {}), 0);
    assert.equal(first('readiness', { initialDelaySeconds: 5 }), 5000);
    assert.equal(first('readiness', { initialDelaySeconds: 5 }, { now: now + 2000 }), 3000);
    assert.equal(first('readiness', { initialDelaySeconds: 5 }, { now: now + 9000 }), 0);
  });

  it('is after one period for a probe that restarts the container', () => {
    assert.equal(first('liveness', {}), 10_000);
    assert.equal(first('liveness', { initialDelaySeconds: 30 }), 30_000);
    assert.equal(first('liveness', {}, { now: now + 9000 }), 1000);
  });

  it('is at most as late as for a container that starts now, even after a change of the clock', () => {
    assert.equal(first('readiness', { initialDelaySeconds: 5 }, { now: now - 1_000_000 }), 5000);
  });

  it('is at a random moment of a period for containers that started before the agent', () => {
    assert.equal(first('readiness', {}, { since: now + 1 }), 5000);
    assert.equal(first('liveness', {}, { since: now + 60_000, now: now + 60_000, share: 0.25 }), 2500);
  });

  it('counts as a failure unless the container would not have been probed yet', () => {
    const counts = (kind: 'startup' | 'readiness', more: object) =>
      firstFailureCounts({ kind, probe: { ...probe, ...more } } as Parameters<typeof firstFailureCounts>[0]);
    assert.equal(counts('startup', {}), false);
    assert.equal(counts('startup', { initialDelaySeconds: 1 }), true);
    assert.equal(counts('readiness', {}), true);
  });
});

it("a probe without defaults, as in a static pod, has the server's defaults", () => {
  assert.deepEqual(timingOf({}), {
    initialDelayMs: 0,
    periodMs: 10_000,
    timeoutMs: 1_000,
    successThreshold: 1,
    failureThreshold: 3,
  });
});

describe('the next run of a probe', () => {
  it('is at a moment that other probes share, at most 50 ms after its period', () => {
    assert.equal(nextRun({ due: 1013, periodMs: 1000, now: 1020 }), 2050);
    assert.equal(nextRun({ due: 2050, periodMs: 1000, now: 2051 }), 3050);
  });

  it('is the next such moment when the run took longer than a period', () => {
    assert.equal(nextRun({ due: 1000, periodMs: 1000, now: 3210 }), 3250);
  });
});
