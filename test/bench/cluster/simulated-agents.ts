/**
 * Network traffic of many idle nodes' agents: each has a certificate and a connection of its own, renews a
 * Lease every ten seconds, writes a status every five minutes, and holds the watches of a node's process
 * open. It runs as a program of its own, so that its processor time does not count as the master's. It reads
 * its task as one line of JSON from standard input, answers `{"ready": …}`, and answers each further line
 * with the measurements since the line before.
 */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import type { ApiRequest, Transport } from '../../../src/client/transport.ts';
import { issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';

export interface AgentsTask {
  readonly server: string;
  readonly authority: KeyAndCertificate;
  readonly nodes: number;
  readonly heartbeatMs: number;
  readonly statusMs: number;
}

export interface AgentsReport {
  readonly renewals: number;
  readonly statuses: number;
  /** Bytes received on the watches. */
  readonly watched: number;
  readonly failures: readonly string[];
  /** Milliseconds from a renewal to its answer, sorted. */
  readonly latencies: readonly number[];
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

interface Watch {
  readonly path: string;
  readonly metadataOnly?: true;
}

/**
 * The watches of the informers in src/kubelet/node/assigned-pods.ts, src/network/overlay,
 * src/service-proxy, src/cluster-dns and src/features/host-names/agent.
 */
const watches = (name: string): readonly Watch[] => [
  { path: `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}` },
  { path: `/api/v1/nodes?fieldSelector=metadata.name%3D${name}` },
  { path: '/api/v1/nodes?', metadataOnly: true },
  { path: '/api/v1/services?' },
  { path: '/apis/discovery.k8s.io/v1/endpointslices?' },
  { path: '/api/v1/namespaces?' },
  { path: '/apis/minik8s.io/v1/dnses?' },
];

const acceptOf = ({ metadataOnly }: Watch) =>
  metadataOnly ? 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' : 'application/json';

let renewals = 0;
let statuses = 0;
let watched = 0;
let latencies: number[] = [];
const failures = new Set<string>();

class SimulatedAgent {
  readonly #name: string;
  readonly #transport: Transport;
  #lease: { metadata: object; spec: object } | undefined;

  constructor(name: string, task: AgentsTask, identity: KeyAndCertificate) {
    this.#name = name;
    this.#transport = createHttp2Transport({
      server: task.server,
      ca: task.authority.certificate,
      cert: identity.certificate,
      key: identity.key,
      userAgent: 'minik8s-node/bench',
      clock: systemClock,
    });
  }

  async register(): Promise<void> {
    const { name, uid } = (
      await this.#call<{ metadata: { name: string; uid: string } }>('POST', '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: this.#name, labels: { 'kubernetes.io/hostname': this.#name } },
      })
    ).metadata;
    await this.postStatus();
    this.#lease = await this.#call('POST', leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec: this.#claim(),
    });
  }

  #claim() {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    return { holderIdentity: this.#name, leaseDurationSeconds: 40, renewTime };
  }

  async postStatus(): Promise<void> {
    await this.#call('PATCH', `/api/v1/nodes/${this.#name}/status`, { status: statusOf(this.#name) });
    statuses++;
  }

  async renew(): Promise<void> {
    const start = performance.now();
    this.#lease = await this.#call('PUT', `${leases}/${this.#name}`, {
      ...this.#lease,
      spec: { ...this.#lease?.spec, ...this.#claim() },
    });
    latencies.push(performance.now() - start);
    renewals++;
  }

  async watch(): Promise<void> {
    await again(() => this.#announce());
    for (const watch of watches(this.#name)) {
      let version = await again(() => this.#list(watch));
      void (async () => {
        for (;;) version = await this.#follow(watch, version).catch(noted(version));
      })();
    }
  }

  /** Writes the overlay's annotations for the other nodes, once this node has its range. */
  async #announce(): Promise<void> {
    const path = `/api/v1/nodes/${this.#name}`;
    const { spec } = JSON.parse(await this.#text('GET', path)) as { spec: { podCIDR?: string } };
    if (spec.podCIDR === undefined) throw new Error(`${this.#name} has no range yet`);
    const annotations = {
      'minik8s.io/overlay': 'vxlan',
      'minik8s.io/vxlan-mac': '0a:58:0a:80:01:00',
      'minik8s.io/pod-cidr': spec.podCIDR,
      'minik8s.io/node-ip': addressOf(this.#name),
    };
    await this.#call('PATCH', path, { metadata: { annotations } });
  }

  /**
   * Lists as a reflector does at first, from the server's cache. Resolves to the version from which to watch.
   */
  async #list(watch: Watch): Promise<string> {
    const { path } = watch;
    const text = await this.#text('GET', `${path}&limit=500&resourceVersion=0`, undefined, acceptOf(watch));
    // Reads only the list's own metadata; decoding the whole list a thousand times would be the work of a
    // thousand machines.
    const version = /"resourceVersion":"(\d+)"/.exec(text)?.[1];
    if (version === undefined) throw new Error(`${path}: a list without a version`);
    return version;
  }

  /** Watches; resolves to the last received version when the server ends the watch. */
  async #follow(watch: Watch, from: string): Promise<string> {
    const { path } = watch;
    const timeout = Math.floor(300 + 300 * Math.random());
    const query = `&watch=true&allowWatchBookmarks=true&resourceVersion=${from}&timeoutSeconds=${timeout}`;
    const headers = { accept: acceptOf(watch) };
    const { status, body } = await this.#transport.request({ method: 'GET', path: path + query, headers });
    if (status !== 200) throw new Error(`${path}: ${status}`);
    let version = from;
    for await (const chunk of body) {
      watched += chunk.length;
      version = lastVersion(Buffer.from(chunk).toString('latin1')) ?? version;
    }
    return version;
  }

  async #call<T>(method: ApiRequest['method'], path: string, body: unknown): Promise<T> {
    return JSON.parse(await this.#text(method, path, JSON.stringify(body))) as T;
  }

  async #text(
    method: ApiRequest['method'],
    path: string,
    text?: string,
    accept = 'application/json',
  ): Promise<string> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { status, body } = await this.#transport.request({
      method,
      path,
      headers: { accept, 'content-type': type },
      ...(text !== undefined && { body: text }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const answer = Buffer.concat(chunks).toString('utf8');
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${answer.slice(0, 200)}`);
    return answer;
  }
}

/** Retries failed work after a moment, as reflectors do. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
      await pause(1000);
    }
  }
}

const versions = /"resourceVersion":"(\d+)"/g;
const lastVersion = (text: string) => [...text.matchAll(versions)].at(-1)?.[1];

const noted =
  <T>(instead: T) =>
  (error: unknown): T => {
    failures.add(String(error));
    return instead;
  };

function addressOf(name: string): string {
  const number = Number(name.split('-').at(-1));
  return `172.16.${number >> 8}.${number & 255}`;
}

/** Returns a status as large as a real node's: twenty images and all node facts. */
function statusOf(name: string) {
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
  const amounts = { cpu: '8', memory: '32Gi', 'ephemeral-storage': '200Gi', pods: '110' };
  const condition = (type: string, status: string, reason: string) => ({
    type,
    status,
    reason,
    message: `kubelet says ${reason}`,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address: addressOf(name) },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: '5d2c9a3f0b2e4c1c9f0a7f3f8a3e5d11',
      systemUUID: '5d2c9a3f-0b2e-4c1c-9f0a-7f3f8a3e5d11',
      bootID: '0f0e0d0c-0b0a-0908-0706-050403020100',
      kernelVersion: '6.1.0-18-amd64',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      containerRuntimeVersion: 'docker://20.10.24',
      kubeletVersion: 'v1.32.0-minik8s.0.1.0',
      kubeProxyVersion: 'v1.32.0-minik8s.0.1.0',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    images: Array.from({ length: 20 }, (_, image) => ({
      names: [`registry.example/team/service-${image}:1.${image}.0`],
      sizeBytes: 100_000_000 + image,
    })),
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID'),
      condition('Ready', 'True', 'KubeletReady'),
    ],
  };
}

/**
 * Calls `work` for every agent once in each period; the calls are spread over the period, as for agents that
 * started at random times.
 */
function keep(
  agents: readonly SimulatedAgent[],
  periodMs: number,
  work: (agent: SimulatedAgent) => Promise<void>,
) {
  agents.forEach((agent, index) => {
    const once = () => void work(agent).catch(noted(undefined));
    const begin = () => {
      once();
      setInterval(once, periodMs);
    };
    setTimeout(begin, (index / agents.length) * periodMs);
  });
}

async function inBatches(
  agents: readonly SimulatedAgent[],
  size: number,
  work: (agent: SimulatedAgent) => Promise<void>,
) {
  for (let at = 0; at < agents.length; at += size) await Promise.all(agents.slice(at, at + size).map(work));
}

const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function begin(task: AgentsTask): Promise<void> {
  const now = Date.now();
  const agents: SimulatedAgent[] = [];
  for (let number = 0; number < task.nodes; number++) {
    const name = `simulated-${number}`;
    const identity = await issueCertificate(task.authority, {
      commonName: `system:node:${name}`,
      organizations: ['system:nodes'],
      usages: ['client'],
      notBefore: now - 60_000,
      notAfter: now + 24 * 3_600_000,
    });
    agents.push(new SimulatedAgent(name, task, identity));
  }
  await inBatches(agents, 20, (agent) => agent.register());
  keep(agents, task.heartbeatMs, (agent) => agent.renew());
  keep(agents, task.statusMs, (agent) => agent.postStatus());
  // The controllers have written their fields of the nodes before a thousand watches receive them.
  await pause(5_000);
  await inBatches(agents, 10, (agent) => agent.watch());
  say({ ready: task.nodes });
}

function report(): void {
  const answer: AgentsReport = {
    renewals,
    statuses,
    watched,
    failures: [...failures].slice(0, 5),
    latencies: latencies.sort((a, b) => a - b),
  };
  say(answer);
  renewals = statuses = watched = 0;
  latencies = [];
}

if (import.meta.main) {
  let begun = false;
  for await (const line of createInterface({ input: process.stdin })) {
    if (begun) report();
    else await begin(JSON.parse(line) as AgentsTask);
    begun = true;
  }
  process.exit(0);
}
