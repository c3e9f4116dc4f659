/**
 * Marks nodes that no longer send heartbeats, and converts reported conditions of nodes to taints. A
 * heartbeat is the renewal of the node's Lease. Each node has one timer, which a heartbeat does not touch:
 * when the timer fires, the last heartbeat determines the next timer. Timestamps of nodes are never compared
 * with the own clock, so their clocks do not matter. heartbeat-monitor.ts prevents that a pause of the
 * control plane looks like the failure of all nodes; node-lifecycle-plan.ts decides about changes while no
 * node sends heartbeats.
 */

import { type Lease, leaseResource, nodeLeaseNamespace } from '../../api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { isPodTerminal, podCondition, podReady } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { doAll } from '../../controller-runtime/settle-all.ts';
import { HeartbeatMonitor } from './heartbeat-monitor.ts';
import {
  type Disruption,
  disruptionOf,
  type NodeLifecyclePlan,
  planNode,
  readiness,
} from './node-lifecycle-plan.ts';
import { nodeNameOf, podsByNode } from './pods-by-node.ts';

export const nodeLifecycleRights: AccountRights = {
  kubernetes: [
    ['get list watch update patch delete', 'core', 'nodes'],
    ['update patch', 'core', 'nodes/status'],
    ['update patch', 'core', 'pods/status'],
    ['get list watch delete', 'core', 'pods'],
    writeEvents,
  ],
  // The controller checks that the store answers before it declares a node unreachable.
  own: [['list', 'coordination.k8s.io', 'leases']],
};

export interface NodeLifecycleOptions {
  /** Milliseconds of silence after which a node counts as lost; default 40 s, as upstream. */
  readonly gracePeriodMs?: number | undefined;
}

/** Milliseconds for a node's first heartbeat (upstream's nodeStartupGracePeriod). */
const startupGrace = 60_000;

export const nodeLifecycle =
  (options: NodeLifecycleOptions = {}): ControllerFactory =>
  (context) =>
    nodeLifecycleController(context, options.gracePeriodMs ?? 40_000);

const nodeLifecycleController = (context: ControllerContext, gracePeriod: number): ControllerDefinition =>
  new NodeLifecycleController(context, gracePeriod).definition();

class NodeLifecycleController {
  readonly #context: ControllerContext;
  readonly #gracePeriod: number;
  readonly #nodes: Lister<Node>;
  readonly #pods: Lister<Pod>;
  readonly #leases: Lister<Lease>;
  /** Time at which the last heartbeat of each node arrived, or at which the node was first seen. */
  readonly #beatAt = new Map<string, number>();
  /** Nodes whose kubelet has ever reported the condition Ready, and nodes that are not ready. */
  readonly #speaking = new Set<string>();
  readonly #unready = new Set<string>();
  readonly #warned = new Set<string>();
  #disruption: Disruption = 'none';
  /** Nodes to check again because the number of unready nodes has changed the disruption state. */
  #concerned: readonly string[] = [];
  readonly #heartbeats: HeartbeatMonitor;
  readonly #began: number;

  constructor(context: ControllerContext, gracePeriod: number) {
    const { informers, clock, client } = context;
    this.#context = context;
    this.#gracePeriod = gracePeriod;
    const nodeInformer = informers.informerFor(nodeResource);
    this.#nodes = nodeInformer.lister;
    const podInformer = informers.informerFor(podResource);
    this.#pods = podInformer.lister;
    podInformer.addIndex(podsByNode, nodeNameOf);
    const leaseInformer = informers.informerFor(leaseResource, { namespace: nodeLeaseNamespace });
    this.#leases = leaseInformer.lister;
    this.#heartbeats = new HeartbeatMonitor({
      clock,
      tickMs: Math.max(1_000, gracePeriod / 8),
      probeStore: () => client.resource(leaseResource).list({ namespace: nodeLeaseNamespace, limit: 1 }),
    });
    leaseInformer.addEventHandler({
      onAdd: (lease) => this.#recordHeartbeat(lease.metadata.name),
      onUpdate: (lease, before) => {
        if (lease.spec.renewTime !== before.spec.renewTime) this.#recordHeartbeat(lease.metadata.name);
      },
      onDelete: ({ metadata: { name } }) => {
        if (!this.#nodes.get(name)) this.#beatAt.delete(name);
      },
    });
    this.#began = clock.now();
    nodeInformer.addEventHandler({
      onAdd: (node) => {
        this.#seen(node);
        this.#welcome(node);
      },
      onUpdate: (node, before) => this.#seen(node, before),
      onDelete: ({ metadata: { name, uid } }) => {
        for (const known of [this.#beatAt, this.#speaking, this.#unready]) known.delete(name);
        this.#warned.delete(uid);
        this.#count();
      },
    });
  }

  definition(): ControllerDefinition {
    return {
      name: 'node-lifecycle',
      workers: 8,
      watches: [
        watched(nodeResource, (node) => [node.metadata.name, ...this.#concerned]),
        watched(podResource, ({ spec, status }) => {
          const node = spec.nodeName ? this.#nodes.get(spec.nodeName) : undefined;
          const ready = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
          return node && ready && readiness(node) === 'Unknown' ? [node.metadata.name] : [];
        }),
      ],
      reconcile: (name, signal) => this.#reconcile(name, signal),
    };
  }

  #recordHeartbeat(name: string): void {
    const { clock } = this.#context;
    this.#beatAt.set(name, clock.now());
    this.#heartbeats.record(() => Math.max(this.#gracePeriod, 2 * longestInterval(this.#leases.list())));
  }

  #count(): void {
    const now = disruptionOf(this.#speaking.size, this.#unready.size);
    this.#concerned = now === this.#disruption ? [] : [...this.#unready];
    this.#disruption = now;
  }

  #seen(node: Node, before?: Node): void {
    const { clock } = this.#context;
    const { name } = node.metadata;
    if (!this.#beatAt.has(name) || (before && isPending(before))) this.#beatAt.set(name, clock.now());
    const ready = readiness(node);
    if (before && isNewsOfAgent(node, before)) this.#recordHeartbeat(name);
    if (ready !== undefined) this.#speaking.add(name);
    if (ready === undefined || ready === 'True') this.#unready.delete(name);
    else this.#unready.add(name);
    this.#count();
  }

  /**
   * Records the registration of nodes that are new in the cluster, not of all nodes that a new leader lists.
   */
  #welcome(node: Node): void {
    const { events } = this.#context;
    const { name, creationTimestamp = '' } = node.metadata;
    // Timestamps of objects are whole seconds.
    if (Date.parse(creationTimestamp) + 1000 <= this.#began) return;
    const what = `Node ${name} event: Registered Node ${name} in Controller`;
    events.event(node, 'Normal', 'RegisteredNode', what);
  }

  async #reconcile(name: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { clock } = this.#context;
    this.#heartbeats.follow(signal);
    const node = this.#nodes.get(name);
    if (!node || isTerminating(node) || isPending(node)) return undefined;
    const lease = this.#leases.get(`${nodeLeaseNamespace}/${name}`);
    if (lease) this.#warnOfSlowHeartbeat(node, lease);
    const silence = this.#heartbeats.silenceSince(this.#beatAt.get(name) ?? clock.now());
    const grace = lease ? this.#graceFor(lease) : Math.max(this.#gracePeriod, startupGrace);
    const allSilent = silence >= grace && this.#isSilentEverywhere();
    const now = rfc3339(clock.now());
    const plan = planNode({ node, silence, grace, disruption: allSilent ? 'full' : this.#disruption, now });
    await this.#write(node, plan);
    if (plan.lost || (plan.lostIn === undefined && this.#speaking.size === 1)) await this.#markPods(name);
    return this.#next(plan, allSilent);
  }

  #next({ lostIn }: NodeLifecyclePlan, allSilent: boolean): ReconcileResult | undefined {
    if (lostIn !== undefined) return { requeueAfter: Math.max(1, lostIn) };
    // Either the other nodes are lost too, which triggers an event, or their heartbeats arrive again.
    return allSilent && this.#disruption !== 'full' ? { requeueAfter: this.#gracePeriod / 8 } : undefined;
  }

  /**
   * Returns true if no node sends heartbeats. If this process is cut off, nodes time out one after the other;
   * the first ones must not be evicted because of that.
   */
  #isSilentEverywhere() {
    return (
      this.#speaking.size > 1 && this.#heartbeats.quietFor() > 1.5 * longestInterval(this.#leases.list())
    );
  }

  /**
   * Returns the grace period of a node. It may miss at least one heartbeat, whatever grace period is
   * configured.
   */
  #graceFor(lease: Lease) {
    return Math.max(this.#gracePeriod, 2 * intervalOf(lease));
  }

  #warnOfSlowHeartbeat(node: Node, lease: Lease): void {
    const { events } = this.#context;
    if (2 * intervalOf(lease) <= this.#gracePeriod || this.#warned.has(node.metadata.uid)) return;
    this.#warned.add(node.metadata.uid);
    const interval = intervalOf(lease) / 1000;
    events.event(
      node,
      'Warning',
      'HeartbeatTooSlow',
      `the node reports every ${interval} s, so it counts as lost after ${2 * interval} s instead of after the ${this.#gracePeriod / 1000} s of --node-monitor-grace-period; start the node with --heartbeat-interval ${Math.max(1, Math.floor(this.#gracePeriod / 4000))}s`,
    );
  }

  async #write(node: Node, { conditions, taints }: NodeLifecyclePlan): Promise<void> {
    const { client, events } = this.#context;
    const { name } = node.metadata;
    const api = client.resource(nodeResource);
    let current = node;
    if (conditions) {
      current = await api.updateStatus({ ...deepCopy(node), status: { ...node.status, conditions } });
      if (readiness(node) === 'True')
        events.event(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    }
    if (taints) await api.update({ ...deepCopy(current), spec: { ...current.spec, taints } });
  }

  async #markPods(name: string): Promise<void> {
    const { clock } = this.#context;
    const ready = this.#pods.byIndex(podsByNode, name).filter((pod) => podReady(pod) && !isPodTerminal(pod));
    await doAll(clock, ready, (pod) => this.#markPod(pod));
  }

  /**
   * Marks the pod as not ready, which removes it from all Services. A live kubelet reports it as ready again.
   */
  async #markPod(pod: Pod): Promise<void> {
    const { clock, client, events } = this.#context;
    const next = deepCopy(pod);
    const condition = podCondition(next, 'Ready');
    if (!condition) return;
    condition.status = 'False';
    condition.reason = 'NodeNotReady';
    condition.message = `node ${pod.spec.nodeName} has stopped renewing its Lease`;
    condition.lastTransitionTime = rfc3339(clock.now());
    if (await ifPresent(client.resource(podResource).updateStatus(next)))
      events.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
  }
}

/** Returns the milliseconds between two heartbeats. Kubelets set the lease duration to four intervals. */
const intervalOf = ({ spec }: Lease) => (spec.leaseDurationSeconds ?? 40) * 250;

const longestInterval = (all: readonly Lease[]) =>
  all.reduce((longest, lease) => Math.max(longest, intervalOf(lease)), 0);

/** Returns true for a pending Node: no kubelet reports for it before an administrator has approved it. */
const isPending = ({ status }: Node) => status?.phase === 'Pending';

/**
 * Returns true if the kubelet updated the condition Ready. Status Unknown is written by this controller, any
 * other status by the kubelet, with the time.
 */
function isNewsOfAgent(node: Node, before: Node): boolean {
  const [now, then] = [node, before].map(({ status }) =>
    status?.conditions?.find(({ type }) => type === 'Ready'),
  );
  if (!now || now.status === 'Unknown') return false;
  return then?.status !== now.status || then.lastHeartbeatTime !== now.lastHeartbeatTime;
}
