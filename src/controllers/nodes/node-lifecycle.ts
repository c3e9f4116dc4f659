/**
 * Marks nodes that no longer send heartbeats, and converts reported conditions of nodes to taints. A
 * heartbeat is the renewal of the node's Lease. Each node has one timer, which a heartbeat does not touch:
 * when the timer fires, the last heartbeat determines the next timer. Timestamps of nodes are never compared
 * with the own clock, so their clocks do not matter. heartbeat-monitor.ts prevents that a pause of the
 * control plane looks like the failure of all nodes; node-lifecycle-plan.ts decides what is done while no
 * node sends heartbeats.
 */
import { type Lease, leaseResource, nodeLeaseNamespace } from '../../api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../../api/core/v1/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { isPodTerminal, podCondition, podReady } from '../../api/core/v1/pod-conditions.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
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

function nodeLifecycleController(context: ControllerContext, gracePeriod: number): ControllerDefinition {
  const { client, clock, events, informers } = context;
  const nodeInformer = informers.informerFor(nodeResource);
  const nodes = nodeInformer.lister;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  podInformer.addIndex(podsByNode, nodeNameOf);
  const leaseInformer = informers.informerFor(leaseResource, { namespace: nodeLeaseNamespace });
  const leases = leaseInformer.lister;

  /** Time at which the last heartbeat of each node arrived, or at which the node was first seen. */
  const heardAt = new Map<string, number>();
  /** Nodes whose kubelet has ever reported the condition Ready, and nodes that are not ready. */
  const speaking = new Set<string>();
  const unready = new Set<string>();
  const warned = new Set<string>();
  let disruption: Disruption = 'none';
  /** Nodes to check again because the number of unready nodes has changed the disruption state. */
  let concerned: readonly string[] = [];
  const heartbeats = new HeartbeatMonitor({
    clock,
    tickMs: Math.max(1_000, gracePeriod / 8),
    probeStore: () => client.resource(leaseResource).list({ namespace: nodeLeaseNamespace, limit: 1 }),
  });

  function heard(name: string): void {
    heardAt.set(name, clock.now());
    heartbeats.record(() => Math.max(gracePeriod, 2 * longestInterval(leases.list())));
  }

  function count(): void {
    const now = disruptionOf(speaking.size, unready.size);
    concerned = now === disruption ? [] : [...unready];
    disruption = now;
  }

  function seen(node: Node, before?: Node): void {
    const { name } = node.metadata;
    if (!heardAt.has(name) || (before && isPending(before))) heardAt.set(name, clock.now());
    const ready = readiness(node);
    if (before && isNewsOfAgent(node, before)) heard(name);
    if (ready !== undefined) speaking.add(name);
    if (ready === undefined || ready === 'True') unready.delete(name);
    else unready.add(name);
    count();
  }

  leaseInformer.addEventHandler({
    onAdd: (lease) => heard(lease.metadata.name),
    onUpdate: (lease, before) => {
      if (lease.spec.renewTime !== before.spec.renewTime) heard(lease.metadata.name);
    },
    onDelete: ({ metadata: { name } }) => {
      if (!nodes.get(name)) heardAt.delete(name);
    },
  });
  const began = clock.now();
  /**
   * Records the registration of nodes that are new in the cluster, not of all nodes that a new leader lists.
   */
  function welcome(node: Node): void {
    const { name, creationTimestamp = '' } = node.metadata;
    // Timestamps of objects are whole seconds.
    if (Date.parse(creationTimestamp) + 1000 <= began) return;
    const what = `Node ${name} event: Registered Node ${name} in Controller`;
    events.event(node, 'Normal', 'RegisteredNode', what);
  }

  nodeInformer.addEventHandler({
    onAdd: (node) => {
      seen(node);
      welcome(node);
    },
    onUpdate: seen,
    onDelete: ({ metadata: { name, uid } }) => {
      for (const known of [heardAt, speaking, unready]) known.delete(name);
      warned.delete(uid);
      count();
    },
  });

  async function reconcile(name: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    heartbeats.follow(signal);
    const node = nodes.get(name);
    if (!node || isTerminating(node) || isPending(node)) return undefined;
    const lease = leases.get(`${nodeLeaseNamespace}/${name}`);
    if (lease) warnOfSlowHeartbeat(node, lease);
    const silence = heartbeats.silenceSince(heardAt.get(name) ?? clock.now());
    const grace = lease ? graceFor(lease) : Math.max(gracePeriod, startupGrace);
    const nobody = silence >= grace && nobodyIsHeard();
    const now = rfc3339(clock.now());
    const plan = planNode({ node, silence, grace, disruption: nobody ? 'full' : disruption, now });
    await write(node, plan);
    if (plan.lost || (plan.lostIn === undefined && speaking.size === 1)) await markPods(name);
    if (plan.lostIn !== undefined) return { requeueAfter: Math.max(1, plan.lostIn) };
    // Either the other nodes are lost too, which arrives as an event, or their heartbeats arrive again.
    return nobody && disruption !== 'full' ? { requeueAfter: gracePeriod / 8 } : undefined;
  }

  /**
   * Returns true if no node sends heartbeats. If this process is cut off, nodes time out one after the other;
   * the first ones must not be evicted because of that.
   */
  const nobodyIsHeard = () =>
    speaking.size > 1 && heartbeats.quietFor() > 1.5 * longestInterval(leases.list());

  /**
   * Returns the grace period of a node. It may miss at least one heartbeat, whatever grace period is
   * configured.
   */
  const graceFor = (lease: Lease) => Math.max(gracePeriod, 2 * intervalOf(lease));

  function warnOfSlowHeartbeat(node: Node, lease: Lease): void {
    if (2 * intervalOf(lease) <= gracePeriod || warned.has(node.metadata.uid)) return;
    warned.add(node.metadata.uid);
    const interval = intervalOf(lease) / 1000;
    events.event(
      node,
      'Warning',
      'HeartbeatTooSlow',
      `the node reports every ${interval} s, so it counts as lost after ${2 * interval} s instead of after the ${gracePeriod / 1000} s of --node-monitor-grace-period; start the node with --heartbeat-interval ${Math.max(1, Math.floor(gracePeriod / 4000))}s`,
    );
  }

  async function write(node: Node, { conditions, taints }: NodeLifecyclePlan): Promise<void> {
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

  async function markPods(name: string): Promise<void> {
    const ready = pods.byIndex(podsByNode, name).filter((pod) => podReady(pod) && !isPodTerminal(pod));
    await doAll(clock, ready, markPod);
  }

  /**
   * Marks the pod as not ready, which removes it from all Services. A live kubelet reports it as ready again.
   */
  async function markPod(pod: Pod): Promise<void> {
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

  return {
    name: 'node-lifecycle',
    workers: 8,
    watches: [
      watched(nodeResource, (node) => [node.metadata.name, ...concerned]),
      watched(podResource, ({ spec, status }) => {
        const node = spec.nodeName ? nodes.get(spec.nodeName) : undefined;
        const ready = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
        return node && ready && readiness(node) === 'Unknown' ? [node.metadata.name] : [];
      }),
    ],
    reconcile,
  };
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
