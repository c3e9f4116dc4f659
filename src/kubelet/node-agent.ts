/** Registers the node, keeps its status true and its lease alive. Works as long as the API server answers. */

import { type Lease, leaseResource } from '../api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../api/core/v1/node.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../apimachinery/status-error.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import {
  computeNodeStatus,
  leaseNamespace,
  type NodeFacts,
  type NodeImage,
  newLease,
  nodeLabels,
  renewedLease,
} from './plan/node-status.ts';
import type { ContainerRuntime } from './runtime/runtime.ts';

export type { NodeFacts } from './plan/node-status.ts';

export interface NodeAgentOptions {
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly facts: NodeFacts;
  readonly maxPods: number;
  readonly podCIDR?: string;
  readonly server?: { readonly port: number };
  /** Called when the API server has been told that pods can run here, the first time and perhaps again. */
  readonly onReady?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
}

const heartbeatMs = 10_000;
/** How often the status goes out when nothing in it but its age has changed. */
const statusMs = 300_000;
const retryMs = 1000;

export class NodeAgent {
  readonly #options: NodeAgentOptions;
  #node: Node | undefined;
  #lease: Lease | undefined;
  #problem: string | undefined = 'the container engine has not answered yet';
  #runtimeVersion = '';
  #reportedAt = 0;
  /** Something must be told, and the report under way may have been made without it. */
  #due = false;
  #endPause: () => void = () => {};

  constructor(options: NodeAgentOptions) {
    this.#options = options;
  }

  /** The server's copy as it changes; undefined when the Node was deleted (it registers again). */
  observe(node: Node | undefined): void {
    this.#node = node;
    if (!node) this.#wake();
  }

  /** Why no pod can run here, undefined when they can. A change is reported at once. */
  setProblem(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    this.#wake();
  }

  setRuntimeVersion(version: string): void {
    this.#runtimeVersion = version;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let told = '';
    while (!signal.aborted) {
      let wait = heartbeatMs;
      this.#due = false;
      try {
        await this.#beat();
        told = '';
      } catch (error) {
        const message = errorMessage(error);
        if (message !== told) log.warn('cannot report this node; it is tried again', { error: message });
        told = message;
        wait = retryMs;
      }
      await this.#pause(clock, wait, signal);
    }
  }

  /** Ends early when something happens that must be told. */
  async #pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    const early = new AbortController();
    this.#endPause = () => early.abort();
    if (!this.#due) await sleep(clock, ms, AbortSignal.any([signal, early.signal])).catch(() => undefined);
    this.#endPause = () => {};
  }

  #wake(): void {
    this.#due = true;
    this.#endPause();
  }

  async #beat(): Promise<void> {
    const node = this.#node ?? (await this.#register());
    await this.#report(node);
    await this.#renew(node);
  }

  async #register(): Promise<Node> {
    const { client, nodeName, facts, log, podCIDR, taints } = this.#options;
    const nodes = client.resource(nodeResource);
    const labels = { ...nodeLabels({ nodeName, facts }), ...this.#options.labels };
    try {
      this.#node = await nodes.create({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: nodeName, labels },
        spec: { ...(podCIDR && { podCIDR, podCIDRs: [podCIDR] }), ...(taints && { taints }) },
      });
      log.info('registered this node', { node: nodeName });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // It is ours from before: what others wrote on it stays.
      const body = { metadata: { labels } };
      this.#node = await nodes.patch(nodeName, '', 'merge', body);
    }
    this.#reportedAt = 0;
    return this.#node;
  }

  async #report(node: Node): Promise<void> {
    const { client, clock, nodeName, server } = this.#options;
    const now = clock.now();
    const images = await this.#images(node);
    const problem = this.#problem;
    const status = computeNodeStatus(
      {
        ...this.#options,
        kubeletPort: server?.port,
        runtimeVersion: this.#runtimeVersion,
        images,
        problem,
        now,
      },
      node.status,
    );
    const due = now - this.#reportedAt >= statusMs;
    try {
      if (due || !deepEqual(timeless(status), timeless(node.status))) {
        const body = { metadata: { uid: node.metadata.uid }, status };
        this.#node = await client.resource(nodeResource).patch(nodeName, '', 'merge', body, 'status');
        this.#reportedAt = now;
      }
      if (problem === undefined) this.#options.onReady?.();
    } catch (error) {
      // Deleted, or made anew by another: look again at the next beat.
      if (isNotFound(error) || isConflict(error)) this.#node = undefined;
      throw error;
    }
  }

  async #images(node: Node): Promise<readonly NodeImage[]> {
    if (this.#problem !== undefined) {
      return (node.status?.images ?? []).map(({ names = [], sizeBytes = 0 }) => ({ names, sizeBytes }));
    }
    return this.#options.runtime.listImages();
  }

  async #renew(node: Node): Promise<void> {
    const { client, clock, nodeName } = this.#options;
    const leases = client.resource(leaseResource);
    const now = clock.now();
    try {
      const lease = this.#lease ?? (await leases.get(nodeName, leaseNamespace));
      this.#lease = await leases.update(renewedLease(nodeName, now, lease));
    } catch (error) {
      this.#lease = undefined;
      if (isConflict(error)) return this.#renew(node);
      if (!isNotFound(error)) throw error;
      this.#lease = await leases.create(newLease(node, now));
    }
  }
}

/** Without what changes at every look. */
function timeless(status: Node['status']) {
  return {
    ...status,
    conditions: status?.conditions?.map(({ lastHeartbeatTime: _, ...condition }) => condition),
  };
}
