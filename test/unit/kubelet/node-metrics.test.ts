/** What is told of usage, from snapshots. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exposition } from '../../../src/base/exposition.ts';
import { RuntimeOperations } from '../../../src/kubelet/runtime/measured-runtime.ts';
import type { ContainerRuntime } from '../../../src/kubelet/runtime/runtime.ts';
import { reportFor } from '../../../src/kubelet/server/node-reports.ts';
import { configuration } from '../../../src/kubelet/server/plan/configuration.ts';
import { requestAttributes } from '../../../src/kubelet/server/plan/request-attributes.ts';
import { PodStarts } from '../../../src/kubelet/server/pod-starts.ts';
import type { ContainerReading, PodReading, UsageSnapshot } from '../../../src/kubelet/usage/snapshot.ts';
import { emptySnapshot, reportSources } from '../../fixtures/agent-reports.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { makePod } from './builders.ts';

const at = Date.UTC(2026, 0, 1);
const disk = { size: 1000, available: 400, inodes: 10, inodesFree: 4 };

const container = (name: string, limit: number | undefined): ContainerReading => ({
  ...{
    id: `id-${name}`,
    fullName: `k8s_${name}`,
    name,
    image: 'app:1',
    startedAt: at - 5000,
    path: `/d/${name}`,
    at,
  },
  cpu: { total: 2e9, user: 1e9, system: 1e9, throttling: undefined, at, rate: 5e8 },
  memory: {
    ...{
      usage: 100,
      workingSet: 80,
      rss: 60,
      cache: 10,
      mapped: 1,
      activeFile: 2,
      inactiveFile: 20,
      kernel: 3,
    },
    ...{ swap: 4, pageFaults: 7, majorPageFaults: 1, most: undefined, failures: 0, oomKills: 0, limit },
  },
  devices: [{ major: 8, minor: 0, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 }],
  processes: 2,
  layer: { at: at - 9000, bytes: 30, inodes: 3 },
  log: { at, bytes: 5, inodes: 1 },
});

const reading = (more: Partial<PodReading> = {}): PodReading => ({
  pod: makePod(),
  startedAt: at - 9000,
  at,
  cpu: { at, total: 3e9, rate: 6e8 },
  containers: [container('main', 200)],
  sandbox: { ...container('POD', undefined), layer: undefined, log: undefined, image: '' },
  interfaces: undefined,
  volumes: [],
  ...more,
});

const snapshotOf = (...pods: PodReading[]): UsageSnapshot => ({
  ...emptySnapshot,
  node: { ...emptySnapshot.node, devices: new Map([['8:0', '/dev/sda']]) },
  pods,
});

async function report(path: string, snapshot: UsageSnapshot | undefined): Promise<string> {
  const usage = async () => snapshot ?? Promise.reject(new Error('no /proc'));
  const found = await reportFor({ ...reportSources(), usage }, new URL(path, 'https://kubelet'));
  return found?.body ?? assert.fail(`nothing at ${path}`);
}
const summaryOf = async (...pods: PodReading[]) =>
  JSON.parse(await report('/stats/summary', snapshotOf(...pods)));

describe('/stats/summary', () => {
  it('says of a container what its limit leaves, and of one without none', async () => {
    const { pods } = await summaryOf(
      reading(),
      reading({ containers: [container('main', 200), container('b', undefined)] }),
    );
    assert.equal(pods[0].containers[0].memory.availableBytes, 120);
    assert.equal(pods[0].memory.availableBytes, 200 - 160, 'with the sandbox');
    assert.equal(pods[1].containers[1].memory.availableBytes, undefined);
    assert.equal(pods[1].memory.availableBytes, undefined);
  });

  it('says nothing of the network of a pod that is in the node’s', async () => {
    const eth = { name: 'eth0', receivedBytes: 1, receivedPackets: 1, receiveErrors: 0, receiveDrops: 0 };
    const interfaces = [{ ...eth, sentBytes: 2, sentPackets: 1, sendErrors: 0, sendDrops: 0 }];
    const { pods } = await summaryOf(reading(), reading({ interfaces }));
    assert.equal(pods[0].network, undefined);
    const shown = { name: 'eth0', rxBytes: 1, rxErrors: 0, txBytes: 2, txErrors: 0 };
    assert.deepEqual(pods[1].network, { time: '2026-01-01T00:00:00Z', ...shown, interfaces: [shown] });
  });

  it('says which claim a volume is, and counts it not against the pod', async () => {
    const size = { at, bytes: 7, inodes: 2 };
    const volumes = [
      { name: 'data', claim: 'big', isEphemeral: false, size: { ...size, bytes: 600 }, on: disk },
      { name: 'tmp', claim: undefined, isEphemeral: true, size, on: disk },
    ];
    const [pod] = (await summaryOf(reading({ volumes }))).pods;
    assert.deepEqual(pod.volume[0].pvcRef, { name: 'big', namespace: 'shop' });
    assert.equal(pod.volume[0].capacityBytes, 1000);
    assert.equal(pod.volume[1].pvcRef, undefined);
    assert.equal(pod['ephemeral-storage'].usedBytes, 30 + 5 + 7);
    assert.equal(pod['ephemeral-storage'].time, '2025-12-31T23:59:51Z', 'as old as the oldest part');
  });

  it('leaves out a rate that is not known yet', async () => {
    const [pod] = (await summaryOf(reading({ cpu: { at, total: 1, rate: undefined } }))).pods;
    assert.deepEqual(pod.cpu, { time: '2026-01-01T00:00:00Z', usageCoreNanoSeconds: 1 });
  });
});

describe('metrics', () => {
  it('of resources: each sample with the time it was read', async () => {
    const text = await report('/metrics/resource', snapshotOf(reading()));
    const labels = 'pod="web",namespace="shop"';
    for (const line of [
      `container_cpu_usage_seconds_total{container="main",${labels}} 2 ${at}`,
      `container_memory_working_set_bytes{container="main",${labels}} 80 ${at}`,
      `container_start_time_seconds{container="main",${labels}} ${at / 1000 - 5}`,
      `pod_cpu_usage_seconds_total{${labels}} 3 ${at}`,
      `pod_memory_working_set_bytes{${labels}} 160 ${at}`,
      `node_cpu_usage_seconds_total 5 ${at}`,
      'scrape_error 0',
    ])
      assert.ok(text.split('\n').includes(line), `${line} is not in\n${text}`);
  });

  it('say that nothing could be read', async () => {
    const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.deepEqual(lines(await report('/metrics/resource', undefined)), [
      'scrape_error 1',
      'resource_scrape_error 1',
    ]);
    assert.match(await report('/metrics/cadvisor', undefined), /^container_scrape_error 1$/m);
    assert.match(await report('/metrics', undefined), /^kubelet_running_pods 0$/m);
  });

  it('of containers: rows as dashboards tell them apart', async () => {
    const text = await report('/metrics/cadvisor', snapshotOf(reading()));
    const rows = text.split('\n').filter((line) => line.startsWith('container_memory_working_set_bytes{'));
    const pod = 'namespace="shop",pod="web"';
    assert.deepEqual(rows, [
      `container_memory_working_set_bytes{container="",id="/",image="",name="",namespace="",pod=""} 3000000000 ${at}`,
      `container_memory_working_set_bytes{container="",id="/kubepods/poduid-1",image="",name="",${pod}} 160 ${at}`,
      `container_memory_working_set_bytes{container="",id="/d/POD",image="pause:1",name="k8s_POD",${pod}} 80 ${at}`,
      `container_memory_working_set_bytes{container="main",id="/d/main",image="app:1",name="k8s_main",${pod}} 80 ${at}`,
    ]);
    assert.match(text, /^container_fs_writes_bytes_total\{container="main",.*,device="\/dev\/sda"\} 2 \d+$/m);
  });

  it('of a claim that two pods use: once', async () => {
    const volume = {
      name: 'd',
      claim: 'big',
      isEphemeral: false,
      size: { at, bytes: 600, inodes: 6 },
      on: disk,
    };
    const text = await report(
      '/metrics',
      snapshotOf(reading({ volumes: [volume] }), reading({ volumes: [volume] })),
    );
    assert.deepEqual(text.match(/^kubelet_volume_stats_used_bytes.*$/gm), [
      'kubelet_volume_stats_used_bytes{namespace="shop",persistentvolumeclaim="big"} 600',
    ]);
  });
});

describe('what a request asks for', () => {
  for (const [method, path, verb, subresources] of [
    ['GET', '/metrics', 'get', ['metrics']],
    ['GET', '/metrics/resource', 'get', ['metrics']],
    ['GET', '/metricsx', 'get', ['proxy']],
    ['GET', '/stats/summary', 'get', ['stats']],
    ['GET', '/logs/', 'get', ['log']],
    ['GET', '/pods', 'get', ['pods', 'proxy']],
    ['GET', '/configz', 'get', ['configz', 'proxy']],
    ['GET', '/healthz/ping', 'get', ['healthz', 'proxy']],
    ['POST', '/exec/a/b/c', 'create', ['proxy']],
    ['DELETE', '/', 'delete', ['proxy']],
    ['constructor', '/', '', ['proxy']],
  ] as const)
    it(`${method} ${path}`, () => assert.deepEqual(requestAttributes(method, path), { verb, subresources }));
});

describe('pod starts', () => {
  it('are counted once, from when the pod was seen first until all of it runs', async () => {
    const clock = new FakeClock();
    const starts = new PodStarts(clock);
    const pod = makePod();
    const waiting = { phase: 'Pending' as const, containerStatuses: [{ state: { waiting: {} } } as never] };
    const running = { phase: 'Running' as const, containerStatuses: [{ state: { running: {} } } as never] };
    starts.observe(pod, waiting);
    await clock.advance(2500);
    starts.observe(pod, running);
    starts.observe(pod, running);
    starts.observe(makePod({}, { uid: 'ran before the agent' }), running);
    const text = exposition(starts.families());
    assert.match(text, /_bucket\{le="2"\} 0\n.*_bucket\{le="3"\} 1\n/);
    assert.match(text, /_sum 2\.5\n.*_count 1\n/);
  });
});

describe('operations of the engine', () => {
  it('are counted and timed, and what fails is counted as such', async () => {
    const clock = new FakeClock();
    const operations = new RuntimeOperations(clock);
    class Engine {
      #version = '1';
      async version() {
        await clock.advance(10);
        return { name: this.#version };
      }
      async kill(): Promise<void> {
        throw new Error('no');
      }
    }
    const runtime = operations.measure(new Engine() as unknown as ContainerRuntime);
    assert.deepEqual(await runtime.version(), { name: '1' });
    await assert.rejects(runtime.kill('x'), /no/);
    const text = exposition(operations.families());
    assert.match(text, /^kubelet_runtime_operations_total\{operation_type="version"\} 1$/m);
    assert.match(text, /^kubelet_runtime_operations_errors_total\{operation_type="kill_container"\} 1$/m);
    assert.match(
      text,
      /^kubelet_runtime_operations_duration_seconds_sum\{operation_type="version"\} 0\.01$/m,
    );
  });
});

describe('/configz', () => {
  it('says the settings in Kubernetes’ words', () => {
    const found = configuration({
      ...{ address: '0.0.0.0', port: 10_250, maxPods: 50, heartbeatMs: 10_000, clusterDNS: '10.96.0.10' },
      ...{ clusterDomain: 'cluster.local', resolvConf: '/etc/resolv.conf', podCIDR: undefined },
      ...{ systemReserved: { cpu: '1' }, staticPodPath: undefined },
      evictionHard: [
        { signal: 'memory.available', amount: 100 },
        { signal: 'nodefs.available', fraction: 0.07 },
      ],
    }) as Record<string, unknown>;
    assert.deepEqual(found.evictionHard, { 'memory.available': '100', 'nodefs.available': '7%' });
    assert.equal(found.nodeStatusUpdateFrequency, '10s');
    assert.equal(found.nodeLeaseDurationSeconds, 40);
    assert.deepEqual(found.clusterDNS, ['10.96.0.10']);
    assert.equal('podCIDR' in found, false);
  });
});
