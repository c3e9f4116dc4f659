/**
 * Keeps the routes to other nodes' pods in sync with the Nodes. An event only triggers a round: a round plans
 * from all existing Nodes and applies the difference to the known state of the kernel. The kernel is read
 * after a start, after a failure, and periodically, since other programs may have changed it. The routes are
 * kept when the agent ends, so pods can reach one another meanwhile.
 */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { podRangesOf } from '../../api/core/v1/node/pod-ranges.ts';
import type { FurtherRanges } from '../../api/networking/v1/service-cidr.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { aborted, isAbort, onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { InformerFactory } from '../../client/informer.ts';
import { WorkQueue } from '../../controller-runtime/workqueue.ts';
import type { Exec } from '../../os/exec.ts';
import type { RuleKeeper } from '../../os/rule-watch.ts';
import { defaultNames, type NetworkNames } from '../rules.ts';
import { applyOverlay, readOverlay, readUnderlay } from './kernel.ts';
import {
  type OverlayMode,
  type OverlayPlan,
  planKey,
  planOverlay,
  routesToNodes,
  type Underlay,
} from './plan.ts';
import { vni, vxlanPort } from './render.ts';
import type { OverlayState } from './state.ts';

export interface OverlayOptions {
  /**
   * Client with this node's identity: the node annotates its own Node with the values that other nodes need.
   */
  readonly client: Client;
  /** Informers that are not started yet; the overlay starts them. */
  readonly informers: InformerFactory;
  readonly exec: Exec;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** The node's address of IPv6; undefined if it has none. */
  readonly nodeIPv6?: string | undefined;
  /** Ranges of all pods and of Services, each one or one of each family (`familyRanges`). */
  readonly clusterCIDR: string;
  readonly serviceCIDR: string;
  /** Ranges of ServiceCIDRs, in addition to `serviceCIDR`. */
  readonly furtherRanges?: FurtherRanges;
  readonly mode: OverlayMode;
  readonly names?: NetworkNames;
}

const rereadMs = 60_000;
const retry = { initialMs: 100, maxMs: 30_000 };

/** Syncs the overlay for each key until the queue is shut down. */
async function syncRounds(
  overlay: Overlay,
  queue: WorkQueue<'nodes'>,
  onFailure: (error: unknown, retryMs: number) => void,
): Promise<void> {
  for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
    try {
      await overlay.sync();
      queue.forget(key);
      queue.addAfter(key, rereadMs);
    } catch (error) {
      onFailure(error, queue.addRateLimited(key));
    }
    queue.done(key);
  }
}

/** Runs until the signal aborts; never rejects because of a failed round. */
export async function runOverlay(options: OverlayOptions, signal: AbortSignal): Promise<void> {
  const { informers, clock, log } = options;
  const nodes = informers.informerFor<KubeObject>({ ...nodeResource, part: 'metadata' });
  const queue = new WorkQueue<'nodes'>(clock, retry);
  const wake = () => queue.add('nodes');
  const overlay = new Overlay(options, () => nodes.lister.list());
  nodes.addEventHandler({
    onAdd: wake,
    onUpdate: (node, old) => {
      if (planKey(node) !== planKey(old) || overlay.waitsFor(node)) wake();
    },
    onDelete: wake,
  });
  const forget = onAbort(signal, () => queue.shutDown());
  options.furtherRanges?.onChange(wake);
  options.rules?.keep({
    what: 'the overlay',
    owns: (chain) => overlay.owns(chain),
    restore: () => {
      overlay.doubt();
      wake();
    },
  });
  try {
    // Existing routes must not be removed before the nodes are known.
    await informers.start(signal);
    wake();
    await syncRounds(overlay, queue, (error, retryMs) => {
      if (signal.aborted) return;
      const what = { error: errorMessage(error), retryMs };
      log.warn('the routes to other nodes could not be set up; trying again', what);
    });
  } catch (error) {
    if (!signal.aborted || !(isAbort(error) || error === signal.reason)) throw error;
  } finally {
    forget();
    await aborted(signal);
    await informers.stopped();
  }
}

class Overlay {
  readonly #options: OverlayOptions;
  readonly #nodes: () => readonly KubeObject[];
  readonly #names: NetworkNames;
  /** The known state of the kernel; undefined if unknown. */
  #kernel: OverlayState | undefined;
  #rival: string | undefined;
  #underlay: Underlay | undefined;
  #underlay6: Underlay | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #problems: ReadonlySet<string> = new Set();
  /** This node's Node as it was last read. */
  #own: Node | undefined;

  constructor(options: OverlayOptions, nodes: () => readonly KubeObject[]) {
    this.#options = options;
    this.#nodes = nodes;
    this.#names = options.names ?? defaultNames;
  }

  /** Returns true for a chain of the table that protects the link, which has rules while the link exists. */
  owns(chain: string): boolean {
    const table = `ip ${this.#names.vxlanTable}`;
    return this.#kernel?.senders !== undefined && chain.startsWith(`${table} `);
  }

  /** Lets the next round read the kernel again. */
  doubt(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  async sync(): Promise<void> {
    const { exec, clock, log, nodeIP, nodeIPv6 } = this.#options;
    const now = clock.now();
    if (!this.#kernel || now - this.#readAt >= rereadMs) {
      this.#underlay = await readUnderlay(exec, nodeIP);
      this.#underlay6 = nodeIPv6 === undefined ? undefined : await readUnderlay(exec, nodeIPv6);
      const { state, rival } = await readOverlay(exec, this.#names);
      this.#kernel = state;
      this.#rival = rival;
      this.#readAt = now;
    }
    const nodes = this.#nodes();
    const podCIDR = await this.#ownRange(nodes);
    const links = { underlay: this.#underlay, underlay6: this.#underlay6 };
    const furtherRanges = this.#options.furtherRanges?.current();
    const plan = planOverlay({ ...this.#options, podCIDR, furtherRanges, ...links }, nodes, this.#names);
    this.#report(plan.problems);
    const from = this.#kernel;
    // The state is unknown until the change has succeeded.
    this.#kernel = undefined;
    if (plan.state.vxlan && this.#rival !== undefined) {
      throw new Error(
        `link ${this.#rival} of this machine takes VXLAN packets with VNI ${vni} on UDP port ${vxlanPort}; remove it (ip link delete ${this.#rival}) or give --overlay host-routes`,
      );
    }
    await applyOverlay(exec, from, plan.state, this.#names);
    this.#kernel = plan.state;
    const [before, after] = [from, plan.state].map(routesToNodes);
    if (before !== after) log.info('routes to other nodes changed', { nodes: after });
    await this.#announce(plan);
  }

  /** Returns true if the range of this node's Node is still unknown, and this change may contain it. */
  waitsFor({ metadata: { name, uid } }: KubeObject): boolean {
    return name === this.#options.nodeName && rangeIn(this.#own, uid) === undefined;
  }

  /**
   * Returns the range of this node, which is not part of the metadata. A Node keeps its range, so it is read
   * only once.
   */
  async #ownRange(nodes: readonly KubeObject[]): Promise<string | undefined> {
    const { client, nodeName } = this.#options;
    const uid = nodes.find(({ metadata }) => metadata.name === nodeName)?.metadata.uid;
    if (uid === undefined) return undefined;
    if (rangeIn(this.#own, uid) === undefined) this.#own = await client.resource(nodeResource).get(nodeName);
    return rangeIn(this.#own, uid);
  }

  /** Publishes this node's annotations; other nodes send packets here only after that. */
  async #announce({ annotations }: OverlayPlan): Promise<void> {
    const { client, nodeName } = this.#options;
    const own = this.#nodes().find(({ metadata }) => metadata.name === nodeName);
    if (!annotations || !own) return;
    const stored = own.metadata.annotations ?? {};
    if (Object.entries(annotations).every(([key, value]) => (stored[key] ?? null) === value)) return;
    await client.resource(nodeResource).patch(nodeName, '', 'merge', { metadata: { annotations } });
  }

  #report(problems: readonly string[]): void {
    for (const problem of problems) {
      if (!this.#problems.has(problem)) this.#options.log.warn(problem);
    }
    this.#problems = new Set(problems);
  }
}

const rangeIn = (node: Node | undefined, uid: string): string | undefined =>
  node?.metadata.uid === uid ? podRangesOf(node) : undefined;
