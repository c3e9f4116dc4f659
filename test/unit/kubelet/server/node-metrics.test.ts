/** Metrics and other pages of the agent's server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolume } from '../../../../src/api/core/v1/types.gen.ts';
import { exposition } from '../../../../src/base/metrics/exposition.ts';
import { gauge } from '../../../../src/base/metrics/metric-family.ts';
import { RuntimeOperations } from '../../../../src/kubelet/runtime/measured-runtime.ts';
import { RelistCounts } from '../../../../src/kubelet/runtime/relist-counts.ts';
import type { ContainerRuntime } from '../../../../src/kubelet/runtime/runtime.ts';
import { reportFor } from '../../../../src/kubelet/server/node-reports.ts';
import { certificateMetrics } from '../../../../src/kubelet/server/plan/certificate-metrics.ts';
import { configuration } from '../../../../src/kubelet/server/plan/configuration.ts';
import { requestAttributes } from '../../../../src/kubelet/server/plan/request-attributes.ts';
import { PodStarts } from '../../../../src/kubelet/server/pod-starts.ts';
import { ServerCounts } from '../../../../src/kubelet/server/server-counts.ts';
import type { ContainerReading, PodReading, UsageSnapshot } from '../../../../src/kubelet/usage/snapshot.ts';
import { volumePlugin } from '../../../../src/kubelet/volumes/plan/volume-plugin.ts';
import { VolumeCounts } from '../../../../src/kubelet/volumes/volume-counts.ts';
import { emptySnapshot, reportSources } from '../../../fixtures/agent-reports.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { samplesOf } from '../../../fixtures/samples-of.ts';
import { makePod } from '../builders.ts';

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
  it("has the available memory below a container's limit, and none without a limit", async () => {
    const { pods } = await summaryOf(
      reading(),
      reading({ containers: [container('main', 200), container('b', undefined)] }),
    );
    assert.equal(pods[0].containers[0].memory.availableBytes, 120);
    assert.equal(pods[0].memory.availableBytes, 200 - 160, 'with the sandbox');
    assert.equal(pods[1].containers[1].memory.availableBytes, undefined);
    assert.equal(pods[1].memory.availableBytes, undefined);
  });

  it('has no network of a pod in the host network', async () => {
    const eth = { name: 'eth0', receivedBytes: 1, receivedPackets: 1, receiveErrors: 0, receiveDrops: 0 };
    const interfaces = [{ ...eth, sentBytes: 2, sentPackets: 1, sendErrors: 0, sendDrops: 0 }];
    const { pods } = await summaryOf(reading(), reading({ interfaces }));
    assert.equal(pods[0].network, undefined);
    const shown = { name: 'eth0', rxBytes: 1, rxErrors: 0, txBytes: 2, txErrors: 0 };
    assert.deepEqual(pods[1].network, { time: '2026-01-01T00:00:00Z', ...shown, interfaces: [shown] });
  });

  it('has the claim of a volume, and does not include the volume in the usage of the pod', async () => {
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

  it('omits an unknown rate', async () => {
    const [pod] = (await summaryOf(reading({ cpu: { at, total: 1, rate: undefined } }))).pods;
    assert.deepEqual(pod.cpu, { time: '2026-01-01T00:00:00Z', usageCoreNanoSeconds: 1 });
  });
});

describe('metrics', () => {
  it('at /metrics/resource have the time of each reading', async () => {
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

  it('report a scrape error', async () => {
    const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.deepEqual(lines(await report('/metrics/resource', undefined)), [
      'scrape_error 1',
      'resource_scrape_error 1',
    ]);
    assert.match(await report('/metrics/cadvisor', undefined), /^container_scrape_error 1$/m);
    assert.match(await report('/metrics', undefined), /^kubelet_running_pods 0$/m);
  });

  it('at /metrics/cadvisor have separate rows for containers, pods and the node', async () => {
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

  it('report the volume of a claim that two pods use once', async () => {
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

describe('the required verb and subresources', () => {
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
    it(`of ${method} ${path} are "${verb}" and ${subresources.join(', ')}`, () =>
      assert.deepEqual(requestAttributes(method, path), { verb, subresources }));
  it('of an upgraded connection include the verb create for any method', () => {
    const exec = { verb: 'create', subresources: ['proxy'] };
    assert.deepEqual(requestAttributes('GET', '/exec/a/b/c', true), exec);
    assert.deepEqual(requestAttributes('POST', '/exec/a/b/c', true), exec);
    assert.equal(requestAttributes('GET', '/metrics', true).verb, 'create');
  });
});

describe('pod starts', () => {
  it('are counted once, from the first observation of the pod until all its containers run', async () => {
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

describe('the whole start of a pod', () => {
  it('is measured from the creation of the pod; the part of the node excludes images and init containers', async () => {
    const clock = new FakeClock();
    const starts = new PodStarts(clock);
    const began = clock.now();
    const time = (ms: number) => new Date(began + ms).toISOString();
    const pod = makePod({}, { creationTimestamp: time(0) });
    await clock.advance(1000);
    starts.observe(pod, { phase: 'Pending' });
    starts.pulled('uid-1', { from: began + 2000, to: began + 5000 });
    starts.pulled('another', { from: began, to: began + 60_000 });
    await clock.advance(9000);
    const ran = { startedAt: time(4000), finishedAt: time(7000), exitCode: 0 };
    const initContainerStatuses = [{ state: { terminated: ran } } as never];
    starts.observe(pod, { phase: 'Running', initContainerStatuses });
    const told = samplesOf(starts.families());
    assert.equal(told.get('kubelet_pod_start_duration_seconds_sum'), 9);
    assert.equal(told.get('kubelet_pod_start_total_duration_seconds_sum'), 10);
    assert.equal(
      told.get('kubelet_pod_start_sli_duration_seconds_sum'),
      5,
      'the time from 2 to 7 s does not count',
    );
  });
});

describe("metrics of requests to the agent's server", () => {
  it('have a small number of label values for any requested paths', async () => {
    const clock = new FakeClock();
    const counts = new ServerCounts(clock);
    counts.begin('GET', '/metrics/cadvisor')();
    for (const path of ['/', '/a', '/b/c', '/metrics/x', '/constructor']) counts.begin('BREW', path)();
    const end = counts.begin('POST', '/exec/shop/web/main');
    await clock.advance(3000);
    const labels = 'long_running="true",method="POST",path="exec",server_type="readwrite"';
    assert.equal(samplesOf(counts.families()).get(`kubelet_http_inflight_requests{${labels}}`), 1);
    end();
    end();
    const told = samplesOf(counts.families());
    const of = (path: string, method: string) =>
      told.get(
        `kubelet_http_requests_total{long_running="false",method="${method}",path="${path}",server_type="readwrite"}`,
      );
    assert.equal(of('metrics/cadvisor', 'GET'), 1);
    assert.equal(of('other', 'other'), 5);
    assert.equal(told.get(`kubelet_http_inflight_requests{${labels}}`), 0);
    assert.equal(told.get(`kubelet_http_requests_duration_seconds_sum{${labels}}`), 3);
  });
});

describe('relists', () => {
  it('are measured, and failed ones are not', async () => {
    const clock = new FakeClock();
    const counts = new RelistCounts(clock);
    await counts.time(() => clock.advance(100));
    const seenAt = clock.now();
    await clock.advance(60_000);
    await assert.rejects(
      counts.time(() => Promise.reject(new Error('away'))),
      /away/,
    );
    const told = samplesOf(counts.families());
    assert.equal(told.get('kubelet_pleg_relist_duration_seconds_sum'), 0.1);
    assert.equal(told.get('kubelet_pleg_relist_interval_seconds_sum'), 60.1);
    assert.equal(told.get('kubelet_pleg_last_seen_seconds'), seenAt / 1000);
  });
});

describe('volumes', () => {
  it('are counted by plugin, the desired and the existing volumes', async () => {
    const clock = new FakeClock();
    const counts = new VolumeCounts(clock);
    const end = counts.start();
    await clock.advance(700);
    end('kubernetes.io/secret', true);
    counts.start()('kubernetes.io/nfs', false);
    const told = samplesOf(
      counts.families([
        { plugin: 'kubernetes.io/secret', isMounted: true },
        { plugin: 'kubernetes.io/nfs', isMounted: false },
      ]),
    );
    const total = (plugin: string, state: string) =>
      told.get(`volume_manager_total_volumes{plugin_name="kubernetes.io/${plugin}",state="${state}"}`);
    assert.equal(total('secret', 'actual_state_of_world'), 1);
    assert.equal(total('nfs', 'desired_state_of_world'), 1);
    assert.equal(total('nfs', 'actual_state_of_world'), undefined);
    const mount = 'operation_name="volume_mount",volume_plugin="kubernetes.io';
    const took = 'storage_operation_duration_seconds_sum{migrated="false",status="success"';
    assert.equal(told.get(`${took},${mount}/secret"}`), 0.7);
    assert.equal(told.get(`storage_operation_errors_total{${mount}/nfs"}`), 1);
  });

  it('have upstream’s plugin names', () => {
    const claim = { name: 'd', persistentVolumeClaim: { claimName: 'c' } };
    const local = { spec: { capacity: {}, local: { path: '/x' } } } as unknown as PersistentVolume;
    assert.equal(volumePlugin(claim, undefined), '');
    assert.equal(volumePlugin(claim, local), 'kubernetes.io/local-volume');
    assert.equal(volumePlugin({ name: 'e' }, undefined), 'kubernetes.io/empty-dir');
    assert.equal(volumePlugin({ name: 'e', configMap: { name: 'x' } }, undefined), 'kubernetes.io/configmap');
  });
});

describe('pages of other parts of the node', () => {
  it('have the counters of these parts and the usage of the process, and no others exist', async () => {
    const pages = { dns: () => [gauge('coredns_x', 'X.', [{ value: 7 }])] };
    const get = (path: string) => reportFor({ ...reportSources(), pages }, new URL(path, 'https://kubelet'));
    const found = await get('/metrics/dns');
    assert.match(found?.body ?? '', /^coredns_x 7$/m);
    assert.match(found?.body ?? '', /^process_resident_memory_bytes \d{7,}$/m);
    assert.equal(await get('/metrics/proxy'), undefined);
    assert.equal(await get('/metrics/constructor'), undefined);
  });
});

describe('certificates', () => {
  it('report the remaining lifetime, negative after the end', () => {
    const told = samplesOf(certificateMetrics({ client: 61_000, server: 500 }, 1000));
    assert.equal(told.get('kubelet_certificate_manager_client_ttl_seconds'), 60);
    assert.equal(told.get('kubelet_certificate_manager_server_ttl_seconds'), -0.5);
  });
});

describe('operations of the engine', () => {
  it('are counted and measured, and failures are counted', async () => {
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
  it("has the settings under Kubernetes' names", () => {
    const found = configuration({
      ...{ address: '0.0.0.0', port: 10_250, maxPods: 50, heartbeatMs: 10_000, clusterDNS: '10.96.0.10' },
      ...{ clusterDomain: 'cluster.local', resolvConf: '/etc/resolv.conf', podCIDR: undefined },
      ...{ systemReserved: { cpu: '1' }, staticPodPath: undefined },
      logRotation: { maxBytes: 2 ** 20, maxFiles: 3 },
      evictionHard: [
        { signal: 'memory.available', amount: 100 },
        { signal: 'nodefs.available', fraction: 0.07 },
      ],
    }) as Record<string, unknown>;
    assert.deepEqual(found.evictionHard, { 'memory.available': '100', 'nodefs.available': '7%' });
    assert.equal(found.nodeStatusUpdateFrequency, '10s');
    assert.equal(found.nodeLeaseDurationSeconds, 40);
    assert.deepEqual(found.clusterDNS, ['10.96.0.10']);
    assert.deepEqual([found.containerLogMaxSize, found.containerLogMaxFiles], ['1Mi', 3]);
    assert.equal('podCIDR' in found, false);
  });
});
