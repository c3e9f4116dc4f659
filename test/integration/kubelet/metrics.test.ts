/**
 * Resource usage of real pods as the agent's server reports it: to Prometheus' own parser, and as summaries.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { replaceable } from '../../../src/base/current.ts';
import { openCredentials } from '../../../src/pki/credentials.ts';
import { readAsPrometheus, unlessGo } from '../../fixtures/expfmt.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

interface Cpu {
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds: number;
}
interface Disk {
  readonly usedBytes: number;
  readonly capacityBytes: number;
}
interface PodSummary {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly cpu: Cpu;
  readonly memory: { readonly workingSetBytes: number; readonly availableBytes?: number };
  readonly network?: { readonly name: string; readonly rxBytes: number; readonly txBytes: number };
  readonly volume?: readonly (Disk & { readonly name: string })[];
  readonly 'ephemeral-storage'?: Disk;
  readonly process_stats?: { readonly process_count: number };
  readonly containers: readonly {
    readonly name: string;
    readonly cpu: Cpu;
    readonly memory: {
      readonly workingSetBytes: number;
      readonly availableBytes?: number;
      readonly rssBytes: number;
    };
    readonly rootfs?: Disk;
    readonly logs?: Disk;
  }[];
}
interface Summary {
  readonly node: {
    readonly nodeName: string;
    readonly cpu: Cpu;
    readonly memory: { readonly workingSetBytes: number };
  };
  readonly pods: readonly PodSummary[];
}

await lockMachine();

describe('usage of pods', { timeout: 300_000 }, () => {
  let node: NodeHarness;
  let directory: string;
  let port: number;
  let tls: object;

  before(async () => {
    node = await startNodeHarness();
    directory = await mkdtemp(join(tmpdir(), 'minik8s-metrics-'));
    const credentials = await openCredentials(join(directory, 'pki'), Date.now);
    const leaf = (usage: 'server' | 'client', organizations: string[]) =>
      credentials.leaf({
        file: usage,
        commonName: 'x',
        organizations,
        hosts: ['127.0.0.1'],
        usages: [usage],
      });
    const client = await leaf('client', ['system:masters']);
    tls = { ca: credentials.authority.certificate, cert: client.certificate, key: client.key };
    port = await freePort();
    await node.startAgent({
      heartbeatMs: 1000,
      pauseImage: node.images.pause,
      server: {
        hosts: ['127.0.0.1'],
        port,
        tls: { identity: replaceable(await leaf('server', [])), clientCA: credentials.authority.certificate },
      },
    });
    const shell = (script: string, more: object = {}) => ({
      ...{ name: 'main', image: node.images.busybox, imagePullPolicy: 'IfNotPresent' },
      ...{ command: ['sh', '-c', script], ...more },
    });
    const writes =
      'head -c 3000000 /dev/zero >/layer; head -c 5000000 /dev/zero >/data/file; echo said; sync; ';
    await node.createPod('busy', {
      containers: [
        shell(`${writes} while :; do :; done`, {
          resources: { limits: { cpu: '300m', memory: '64Mi' } },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        }),
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
      terminationGracePeriodSeconds: 0,
    });
    await node.createPod('hog', {
      containers: [
        shell('head -c 40000000 /dev/zero >/dev/shm/hog; exec sleep 1000'),
        shell('exec sleep 1000', {
          name: 'side',
          readinessProbe: { exec: { command: ['sh', '-c', 'exit 0'] }, timeoutSeconds: 20 },
        }),
      ],
      terminationGracePeriodSeconds: 0,
    });
    for (const name of ['busy', 'hog']) await node.waitFor(name, isReady);
    const { uid } = (await node.pod('busy')).metadata;
    const file = join(node.dataDir, 'pods', uid, 'volumes/data/file');
    // Directories are measured at most once a minute.
    await eventually(async () => assert.equal((await stat(file)).blocks * 512, 5_001_216));
  });
  after(async () => {
    await node.close();
    await rm(directory, { recursive: true });
  });

  const get = (path: string) =>
    new Promise<{ readonly type: string; readonly text: string }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, ...tls }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          response.statusCode === 200
            ? resolve({ type: response.headers['content-type'] ?? '', text })
            : reject(new Error(`${response.statusCode} ${text}`)),
        );
      });
      sent.on('error', reject).end();
    });
  const summary = async (): Promise<Summary> => JSON.parse((await get('/stats/summary')).text);
  const memoryOfMain = ({ containers }: PodSummary) =>
    containers.find(({ name }) => name === 'main')?.memory.workingSetBytes;
  const podOf = ({ pods }: Summary, name: string) =>
    pods.find(({ podRef }) => podRef.name === name) ?? assert.fail(`no ${name}`);

  it('is in /stats/summary, for each container, each pod and the node', async () => {
    const { busy, hog, whole } = await eventually(async () => {
      const found = await summary();
      const pod = podOf(found, 'busy');
      assert.ok((pod.cpu.usageNanoCores ?? 0) > 1e8, 'a rate needs two readings');
      assert.ok(
        pod.containers[0]?.rootfs && pod.volume?.length,
        'directories are measured in the background',
      );
      assert.ok((memoryOfMain(podOf(found, 'hog')) ?? 0) > 38_000_000);
      return { busy: pod, hog: podOf(found, 'hog'), whole: found };
    }, 60_000);
    assert.ok((busy.cpu.usageNanoCores ?? 0) < 4.5e8, `limited to 0.3 CPUs: ${busy.cpu.usageNanoCores}`);
    assert.ok(busy.cpu.usageCoreNanoSeconds > 1e8);
    const [main] = busy.containers;
    assert.ok((main?.memory.availableBytes ?? 0) > 0, 'it has a limit');
    assert.ok((main?.memory.availableBytes ?? 0) < 64 * 2 ** 20);
    assert.ok((main?.rootfs?.usedBytes ?? 0) >= 3_000_000 && (main?.rootfs?.usedBytes ?? 0) < 4_000_000);
    assert.ok((main?.logs?.usedBytes ?? 0) > 0);
    const volume = busy.volume?.[0];
    assert.equal(volume?.name, 'data');
    assert.ok((volume?.usedBytes ?? 0) >= 5_000_000 && (volume?.usedBytes ?? 0) < 6_000_000);
    assert.ok((busy['ephemeral-storage']?.usedBytes ?? 0) >= 8_000_000);
    assert.equal(busy.network?.name, 'eth0');
    assert.ok((busy.process_stats?.process_count ?? 0) >= 2);
    assert.deepEqual(hog.containers.map(({ name }) => name).toSorted(), ['main', 'side']);
    const together = hog.containers.reduce((sum, { memory }) => sum + memory.workingSetBytes, 0);
    assert.ok(hog.memory.workingSetBytes >= together);
    assert.equal(hog.memory.availableBytes, undefined, 'it has no limit');
    assert.equal(whole.node.nodeName, 'node-1');
    assert.ok(whole.node.memory.workingSetBytes > hog.memory.workingSetBytes);
    assert.ok(whole.node.cpu.usageCoreNanoSeconds > busy.cpu.usageCoreNanoSeconds);
  });

  it('has nothing but CPU and memory if only these are requested', async () => {
    const { text } = await get('/stats/summary?only_cpu_and_memory=true');
    const busy = podOf(JSON.parse(text), 'busy');
    assert.deepEqual(Object.keys(busy).toSorted(), [
      'containers',
      'cpu',
      'memory',
      'podRef',
      'startTime',
      'swap',
    ]);
  });

  it('does not fall when a container is started again', async () => {
    const { metadata } = await node.pod('busy');
    const before = podOf(await summary(), 'busy');
    const objects = await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)));
    const main = objects.find((object) => object?.kind === 'container' && object.pod.uid === metadata.uid);
    await node.runtime.kill(main?.id ?? assert.fail('no container'));
    await node.waitFor('busy', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) === 1);
    await node.waitFor('busy', isReady);
    const after = await eventually(async () => {
      const pod = podOf(await summary(), 'busy');
      assert.ok(
        (pod.containers[0]?.cpu.usageCoreNanoSeconds ?? Number.POSITIVE_INFINITY) <
          before.cpu.usageCoreNanoSeconds,
      );
      return pod;
    });
    assert.ok(after.cpu.usageCoreNanoSeconds >= before.cpu.usageCoreNanoSeconds);
    assert.ok((after.cpu.usageNanoCores ?? 0) < 1e9, 'no spike');
  });

  it('can be read by Prometheus', { skip: unlessGo }, async () => {
    const wanted: Readonly<Record<string, readonly string[]>> = {
      '/metrics': [
        ...['kubelet_running_pods', 'kubelet_running_containers', 'kubelet_pod_start_duration_seconds'],
        ...['kubelet_started_pods_total', 'kubelet_started_containers_total'],
        ...['kubelet_pod_worker_duration_seconds', 'kubelet_pod_start_sli_duration_seconds'],
        ...['kubelet_pleg_relist_duration_seconds', 'kubelet_http_requests_total'],
        ...['volume_manager_total_volumes', 'storage_operation_duration_seconds'],
        ...['kubelet_certificate_manager_server_ttl_seconds'],
        ...['kubelet_runtime_operations_total', 'kubelet_runtime_operations_duration_seconds'],
        ...[
          'process_cpu_seconds_total',
          'process_resident_memory_bytes',
          'process_open_fds',
          'kubelet_node_name',
        ],
      ],
      '/metrics/probes': ['prober_probe_total', 'prober_probe_duration_seconds'],
      '/metrics/resource': [
        ...['node_cpu_usage_seconds_total', 'node_memory_working_set_bytes', 'scrape_error'],
        ...[
          'container_cpu_usage_seconds_total',
          'container_memory_working_set_bytes',
          'resource_scrape_error',
        ],
        ...['container_start_time_seconds', 'pod_cpu_usage_seconds_total', 'pod_memory_working_set_bytes'],
      ],
      '/metrics/cadvisor': [
        ...['container_cpu_usage_seconds_total', 'container_cpu_cfs_throttled_periods_total'],
        ...['container_memory_working_set_bytes', 'container_memory_rss', 'container_memory_failures_total'],
        ...['container_network_receive_bytes_total', 'container_network_transmit_bytes_total'],
        ...[
          'container_fs_usage_bytes',
          'container_oom_events_total',
          'machine_cpu_cores',
          'machine_memory_bytes',
        ],
      ],
    };
    for (const [path, names] of Object.entries(wanted)) {
      const { type, text } = await get(path);
      assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8');
      const found = readAsPrometheus(text);
      for (const name of names) assert.ok((found[name]?.metrics ?? 0) > 0, `${path} has no ${name}`);
      for (const [name, { type: kind }] of Object.entries(found))
        if (name.endsWith('_total')) assert.equal(kind, 'COUNTER', name);
    }
    const { text } = await get('/metrics/resource');
    assert.match(
      text,
      /^container_cpu_usage_seconds_total\{container="side",pod="hog",namespace="default"\} \d/m,
    );
    assert.match(text, /^scrape_error 0$/m);
    const cadvisor = (await get('/metrics/cadvisor')).text;
    assert.match(
      cadvisor,
      /^container_network_receive_bytes_total\{[^}]*pod="busy",interface="eth0"\} \d+ \d+$/m,
    );
    assert.throws(() => readAsPrometheus(`${text}not a metric{`), /cannot read/);
  });
});
