/** Counters of the agent, as a scraper of its server reads them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exposition, type Family } from '../../../../src/base/metrics/exposition.ts';
import { PodCounts } from '../../../../src/kubelet/pods/pod-counts.ts';
import { ProbeCounts } from '../../../../src/kubelet/probes/probe-counts.ts';
import { reportFor } from '../../../../src/kubelet/server/node-reports.ts';
import { reportSources } from '../../../fixtures/agent-reports.ts';
import { readExposition } from '../../../fixtures/exposition-reader.ts';
import { makeContainer, makePod, makeSandbox, observed } from '../builders.ts';

const read = (families: readonly Family[]) => readExposition(exposition(families));
const samplesOf = (families: readonly Family[], name: string) =>
  Object.fromEntries(read(families).get(name)?.samples ?? []);

describe('the counts of pods', () => {
  it('include starts by the type of the container, and failures by their reason', () => {
    const counts = new PodCounts();
    const pod = makePod({
      initContainers: [{ name: 'step', image: 'i' }],
      ephemeralContainers: [{ name: 'debug', image: 'i' }],
    });
    assert.deepEqual(samplesOf(counts.families(), 'kubelet_started_pods_total'), {
      'kubelet_started_pods_total{}': 0,
    });
    counts.podStarts();
    counts.podStarts();
    counts.podFailed();
    for (const name of ['main', 'main', 'step', 'debug']) counts.containerStarts(pod, name);
    counts.containerFailed(pod, 'main', 'ErrImagePull');
    const told = (name: string) => samplesOf(counts.families(), `kubelet_${name}`);
    assert.deepEqual(told('started_pods_total'), { 'kubelet_started_pods_total{}': 2 });
    assert.deepEqual(told('started_pods_errors_total'), { 'kubelet_started_pods_errors_total{}': 1 });
    assert.deepEqual(told('started_containers_total'), {
      'kubelet_started_containers_total{container_type="container"}': 2,
      'kubelet_started_containers_total{container_type="init_container"}': 1,
      'kubelet_started_containers_total{container_type="ephemeral_container"}': 1,
    });
    assert.deepEqual(told('started_containers_errors_total'), {
      'kubelet_started_containers_errors_total{code="ErrImagePull",container_type="container"}': 1,
    });
  });

  it('include evictions by their signal, rejections by their reason, and the duration of steps', () => {
    const counts = new PodCounts();
    counts.evicted('memory.available');
    counts.rejected('OutOfcpu');
    counts.stepped('sync', 0.02);
    const told = (name: string) => samplesOf(counts.families(), `kubelet_${name}`);
    assert.deepEqual(told('evictions'), { 'kubelet_evictions{eviction_signal="memory.available"}': 1 });
    assert.deepEqual(told('admission_rejections_total'), {
      'kubelet_admission_rejections_total{reason="OutOfcpu"}': 1,
    });
    const steps = told('pod_worker_duration_seconds');
    const bucket = (le: string) =>
      steps[`kubelet_pod_worker_duration_seconds_bucket{le="${le}",operation_type="sync"}`];
    assert.deepEqual([bucket('0.01'), bucket('0.025'), bucket('+Inf')], [0, 1, 1]);
  });
});

describe('the counts of probes', () => {
  const run = { kind: 'liveness', container: 'main', result: 'success', seconds: 0.3 } as const;
  const labels = 'container="main",namespace="shop",pod="web"';

  it('include each kind of result, and the duration of successful runs', () => {
    const counts = new ProbeCounts();
    for (const result of ['success', 'warning', 'failure', 'failure', 'unknown'] as const)
      counts.count(makePod(), { ...run, result });
    counts.count(makePod(), { ...run, kind: 'startup' });
    const total = (type: string, result: string) =>
      samplesOf(counts.families(), 'prober_probe_total')[
        `prober_probe_total{${labels},pod_uid="uid-1",probe_type="${type}",result="${result}"}`
      ];
    assert.equal(total('Liveness', 'successful'), 2);
    assert.equal(total('Liveness', 'failed'), 2);
    assert.equal(total('Liveness', 'unknown'), 1);
    assert.equal(total('Startup', 'successful'), 1);
    const durations = samplesOf(counts.families(), 'prober_probe_duration_seconds');
    const at = (le: string) =>
      durations[
        `prober_probe_duration_seconds_bucket{container="main",le="${le}",namespace="shop",pod="web",probe_type="Liveness"}`
      ];
    assert.deepEqual([at('0.25'), at('0.5'), at('+Inf')], [0, 3, 3]);
  });

  it('are dropped with their pod, and are separate for two pods with the same name', () => {
    const counts = new ProbeCounts();
    const other = makePod({}, { uid: 'uid-2' });
    counts.count(makePod(), run);
    counts.count(other, run);
    assert.equal(read(counts.families()).get('prober_probe_total')?.samples.size, 2);
    counts.forget('uid-1');
    assert.equal(read(counts.families()).get('prober_probe_total')?.samples.size, 1);
    counts.forget('uid-2');
    assert.equal(exposition(counts.families()), '');
  });
});

describe('the server of the agent', () => {
  const get = async (path: string, sources = reportSources()) =>
    (await reportFor(sources, new URL(path, 'https://kubelet')))?.body ?? assert.fail(`nothing at ${path}`);

  it('serves the metrics of probes on a separate page', async () => {
    const counts = new ProbeCounts();
    counts.count(makePod(), { kind: 'readiness', container: 'main', result: 'failure', seconds: 1 });
    const sources = { ...reportSources(), probed: () => counts.families() };
    assert.ok(readExposition(await get('/metrics/probes', sources)).has('prober_probe_total'));
    assert.ok(!readExposition(await get('/metrics', sources)).has('prober_probe_total'));
  });

  it("reports the engine's containers, also of unknown pods", async () => {
    const seen = observed(makeSandbox(), makeContainer(), makeContainer({ name: 'over', state: 'exited' }));
    const none = observed(makeSandbox());
    const sources = {
      ...reportSources(
        () => [],
        (uid) => (uid === 'uid-1' ? seen : none),
      ),
      podsHere: () => new Set(['uid-1', 'uid-2']),
    };
    const { kind, items } = JSON.parse(await get('/runningpods/', sources));
    assert.equal(kind, 'PodList');
    assert.deepEqual(items, [
      {
        metadata: { name: 'web', namespace: 'shop', uid: 'uid-1', creationTimestamp: null },
        spec: { containers: [{ name: 'main', image: 'app:1', resources: {} }] },
        status: {},
      },
    ]);
  });

  it('serves the files in /var/log of its machine to no client', async () => {
    for (const path of ['/logs', '/logs/', '/logs/syslog', '/logs/?query=kubelet'])
      await assert.rejects(get(path), {
        name: 'RequestError',
        code: 405,
        message: 'logs endpoint is disabled.',
      });
  });
});
