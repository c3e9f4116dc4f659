/** A host that is a node for the network only: a Node object, the overlay, and pods without containers. */
import type { ChildProcess } from 'node:child_process';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { runOverlay } from '../../../src/network/overlay/overlay.ts';
import { type OverlayMode, podMtu } from '../../../src/network/overlay/plan.ts';
import { renderHostLink, renderPodLink, renderTable } from '../../../src/network/rules.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { renderTable as renderServices } from '../../../src/service-proxy/render.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import { end, type Host } from '../../e2e/harness/host.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { admin, type TestServer } from '../../fixtures/api-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

export const clusterCIDR = '10.244.0.0/16';

export class OverlayNode {
  readonly name: string;
  readonly host: Host;
  readonly podCIDR: string;
  readonly log = new RecordingLogger();
  readonly #server: TestServer;
  readonly #admin: Client;
  #stop: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();

  /** Creates node-NUMBER, whose pods have addresses of 10.244.NUMBER.0/24. */
  constructor(server: TestServer, host: Host, number: number) {
    this.name = `node-${number}`;
    this.host = host;
    this.podCIDR = `10.244.${number}.0/24`;
    this.#server = server;
    this.#admin = createClient(inProcessTransport(server.handlerFor(admin)));
    host.after(() => this.stop());
  }

  /** Runs programs on the host. */
  readonly exec: Exec = (file, args, options) => systemExec(...this.host.command(file, args), options);

  /** Registers the Node, as an agent does when its machine becomes a node. */
  async register(): Promise<void> {
    const nodes = this.#admin.resource(nodeResource);
    const node = await nodes.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: this.name },
      spec: { podCIDR: this.podCIDR, podCIDRs: [this.podCIDR] },
    });
    const addresses = [{ type: 'InternalIP', address: this.host.address }];
    await nodes.updateStatus({ ...node, status: { addresses } });
  }

  /** Deletes the Node. */
  async unregister(): Promise<void> {
    await this.#admin.resource(nodeResource).delete(this.name);
  }

  async patch(body: object): Promise<Node> {
    return this.#admin.resource(nodeResource).patch(this.name, '', 'merge', body);
  }

  start(mode: OverlayMode = 'vxlan'): void {
    const user = { name: `system:node:${this.name}`, groups: ['system:nodes', 'system:authenticated'] };
    const client = createClient(inProcessTransport(this.#server.handlerFor(user)));
    const [clock, random, log] = [systemClock, new SeededRandom(1), this.log];
    this.#stop = new AbortController();
    this.#running = runOverlay(
      {
        rules: undefined,
        client,
        informers: createInformerFactory({ client, clock, random, log }),
        exec: this.exec,
        clock,
        log,
        nodeName: this.name,
        nodeIP: this.host.address,
        clusterCIDR,
        serviceCIDR: '10.96.0.0/16',
        mode,
      },
      this.#stop.signal,
    );
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    await this.#running;
  }

  async setUp(): Promise<void> {
    await this.host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    await this.exec('nft', ['-f', '-'], { input: renderTable({ podCIDR: this.podCIDR, clusterCIDR }, []) });
  }

  /** Writes the service rules that the proxy would write here. */
  async serve(rules: ServicePortRules): Promise<void> {
    const input = renderServices('10.96.0.0/16', elementsOf([rules]));
    await this.exec('nft', ['-f', '-'], { input });
  }

  /** Creates a network namespace with an address of this node, as the agent does for a pod. */
  async pod(ip: string, mode: OverlayMode = 'vxlan'): Promise<TestPod> {
    const pid = await emptyPod(this.host);
    await this.exec('ip', ['-batch', '-'], { input: renderHostLink(ip, pid, undefined, podMtu(mode, 1500)) });
    const pod = new TestPod(ip, pid);
    await pod.exec('ip', ['-batch', '-'], { input: renderPodLink(ip) });
    return pod;
  }
}

/** Starts a process that holds an empty network namespace; both end with the host. Returns its process ID. */
export async function emptyPod(host: Host): Promise<number> {
  const child = host.spawn('unshare', ['--net', 'sleep', '1000']);
  host.after(() => end(child, 'SIGTERM'));
  const { pid } = child;
  if (pid === undefined) throw new Error('no process for the pod');
  const namespaceOf = async (process: string) =>
    (await systemExec('readlink', [`/proc/${process}/ns/net`])).stdout;
  const here = await host.run('readlink', '/proc/self/ns/net');
  const machine = await namespaceOf('self');
  await waitFor('a namespace of the pod', async () => {
    const there = await namespaceOf(String(pid));
    return there !== machine && there.trim() !== here;
  });
  return pid;
}

export class TestPod {
  readonly ip: string;
  /** Process ID of the process that holds the network namespace. */
  readonly pid: number;

  constructor(ip: string, pid: number) {
    this.ip = ip;
    this.pid = pid;
  }

  readonly exec: Exec = (file, args, options) =>
    systemExec('nsenter', [`--net=/proc/${this.pid}/ns/net`, file, ...args], {
      timeoutMs: 60_000,
      ...options,
    });

  spawn(host: Host, program: string, ...args: string[]): ChildProcess {
    return host.spawn('nsenter', [`--net=/proc/${this.pid}/ns/net`, program, ...args]);
  }
}
