/** Registers the node, and keeps its status current and its Lease renewed while the API server answers. */

import { type Lease, leaseResource, nodeLeaseNamespace } from '../../api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { podRangesOf } from '../../api/core/v1/node/pod-ranges.ts';
import { localVolumesAnnotation } from '../../api/core/v1/volume/local-volumes.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { isConflict, isNotFound, StatusError } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { DeviceCounts } from '../devices/plan/device-counts.ts';
import type { EngineState } from '../runtime/engine-state.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { NodeState } from './node-state.ts';
import { changeEvents, type ReportedConditions } from './plan/node-conditions.ts';
import {
  computeNodeStatus,
  type NodeFacts,
  type NodeImage,
  newLease,
  nodeLabels,
  nodeStatusPatch,
  type ReservedResources,
  renewedLease,
} from './plan/node-status.ts';
import type { PressureMonitor } from './pressure-monitor.ts';

export type { NodeFacts } from './plan/node-status.ts';

export interface NodeAgentOptions {
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly pressure: PressureMonitor;
  /** Receives the newest state of the Node. */
  readonly nodeState: NodeState;
  readonly engine: Pick<EngineState, 'runtimeVersion' | 'handlers'>;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly nodeIPv6?: string | undefined;
  /** Directory of the volumes that are folders of this machine. */
  readonly localVolumes: string;
  readonly facts: NodeFacts;
  readonly maxPods: number;
  /** Resources that are subtracted from the allocatable ones. */
  readonly systemReserved?: ReservedResources;
  /** Interval of the lease's renewal and of the node's checks. */
  readonly heartbeatMs: number;
  /** The range with which the Node is registered, or one of each family with a comma between them. */
  readonly podCIDR?: string;
  /** Conditions that other parts of this node report; a change is reported at once. */
  readonly conditions?: Current<ReportedConditions>;
  /** Number of devices by resource; a change is reported at once. */
  readonly devices: Current<DeviceCounts>;
  readonly server?: { readonly port: number };
  /** Annotations that the node keeps on its Node; a change is reported at once. */
  readonly annotations?: Current<Readonly<Record<string, string>>>;
  /** Called each time that the Node has been found to exist and to belong to this agent. */
  readonly onRegistered?: () => void;
  /** Called when the Node's status reports that pods can run here; may be called more than once. */
  readonly onReady?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
  /**
   * Called when the Node was deleted. With this callback nothing is reported until the Node exists again;
   * without it the agent creates the Node again.
   */
  readonly onRemoved?: () => void;
}

/** Interval at which an unchanged status is written. */
const statusMs = 300_000;
const retryMs = 1000;

export class NodeReporter {
  readonly #options: NodeAgentOptions;
  readonly #state: NodeState;
  #registered = false;
  #removed = false;
  #hasEmittedStart = false;
  /** True when the node was last reported as unschedulable. */
  #closed = false;
  #lease: Lease | undefined;
  #problem: string | undefined = 'the container runtime has not answered yet';
  #reportedAt = 0;
  /** True when a change must be reported that the report in progress may not contain. */
  readonly #wake = new Wake();

  constructor(options: NodeAgentOptions) {
    this.#options = options;
    this.#state = options.nodeState;
  }

  /** Passes the API server's copy as it changes; undefined when the Node was deleted. */
  observe(node: Node | undefined): void {
    // The control plane missed heartbeats of this node and set its conditions to Unknown.
    const lost = node?.status?.conditions?.some(
      ({ type, status }) => type === 'Ready' && status === 'Unknown',
    );
    const closed = node?.spec?.unschedulable === true;
    const news = !node || !this.#state.node || lost || closed !== this.#closed;
    this.#state.node = node;
    this.#removed = !node && this.#options.onRemoved !== undefined;
    if (!node) this.#registered = false;
    if (this.#removed) this.#options.onRemoved?.();
    else if (news) this.#wake.call();
  }

  /** Sets the reason why no pod can run here; undefined when pods can. A change is reported at once. */
  setProblem(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    this.#wake.call();
  }

  /** Marks the node as permanently not ready, for this reason. */
  announceShutdown(reason: string): void {
    this.#state.shutdownReason = reason;
    this.#wake.call();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, heartbeatMs, pressure } = this.#options;
    let lastError = '';
    const forgetDevices = this.#options.devices.onChange(() => this.#wake.call());
    const forget = this.#watchConditions();
    const forgetAnnotations = this.#options.annotations?.onChange(() => this.#wake.call());
    await keepDoing({ clock, signal, wake: this.#wake }, async () => {
      // Pressure is also measured while no API server answers, because pods must still be evicted.
      await pressure.measure();
      try {
        await this.#beat();
        lastError = '';
        return heartbeatMs;
      } catch (error) {
        const message = errorMessage(error);
        if (message !== lastError)
          log.warn('cannot update the status of this node; trying again', { error: message });
        lastError = message;
        // Approving the node creates its Node, and the watch delivers it at once.
        return isForbidden(error) ? heartbeatMs : retryMs;
      }
    });
    forget();
    forgetDevices();
    forgetAnnotations?.();
  }

  /**
   * Reports changes of the other parts' conditions. They are set again at every check, so only different
   * values are reported.
   */
  #watchConditions(): () => void {
    const { conditions } = this.#options;
    if (!conditions) return () => {};
    let last = conditions.value;
    return conditions.onChange((value) => {
      if (deepEqual(value, last)) return;
      last = value;
      this.#wake.call();
    });
  }

  async #beat(): Promise<void> {
    if (this.#removed) return;
    const node = this.#registered && this.#state.node ? this.#state.node : await this.#register();
    this.#emitOwnEvents(node);
    await this.#report(await this.#withAnnotations(node));
    await this.#renew(node);
  }

  async #register(): Promise<Node> {
    const { client, nodeName, facts, log, podCIDR, taints } = this.#options;
    const nodes = client.resource(nodeResource);
    const labels = { ...nodeLabels({ nodeName, facts }), ...this.#options.labels };
    const annotations = { [localVolumesAnnotation]: this.#options.localVolumes };
    const existing = await nodes.get(nodeName).catch(unlessNotFound);
    if (existing) {
      // The Node exists from an earlier run, or another client created it: fields of other writers stay.
      const range = podRangesOf(existing);
      if (podCIDR && range && range !== podCIDR) log.warn(`${otherRange(range, podCIDR)} (node ${nodeName})`);
      const own = { labels, annotations, taints: taints ?? [], podCIDR };
      this.#state.node = await nodes.patch(nodeName, '', 'merge', adoption(existing, own));
    } else {
      this.#state.node = await nodes.create({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: nodeName, labels, annotations },
        spec: { ...(podCIDR && rangeFields(podCIDR)), ...(taints && { taints: [...taints] }) },
      });
      log.info('registered this node', { node: nodeName });
    }
    this.#registered = true;
    this.#reportedAt = 0;
    this.#options.onRegistered?.();
    return this.#state.node;
  }

  /** Returns the Node with the annotations of this node, which are written where they differ. */
  async #withAnnotations(node: Node): Promise<Node> {
    const { annotations, client, nodeName } = this.#options;
    const own = Object.entries(annotations?.value ?? {});
    if (own.every(([name, value]) => node.metadata.annotations?.[name] === value)) return node;
    const body = { metadata: { uid: node.metadata.uid, annotations: annotations?.value } };
    const next = await client.resource(nodeResource).patch(nodeName, '', 'merge', body);
    this.#state.node = next;
    return next;
  }

  async #write(node: Node, status: NonNullable<Node['status']>): Promise<void> {
    const { client, nodeName, devices } = this.#options;
    const patch = nodeStatusPatch(status, node.status, devices.value);
    const body = { metadata: { uid: node.metadata.uid }, status: patch };
    this.#state.node = await client.resource(nodeResource).patch(nodeName, '', 'merge', body, 'status');
    this.#emit(node, changeEvents(node.status?.conditions ?? [], status.conditions ?? []));
  }

  async #report(node: Node): Promise<void> {
    const { clock, server, pressure, engine } = this.#options;
    const now = clock.now();
    const images = await this.#images(node);
    const problem = this.#state.shutdownReason ?? this.#problem;
    const devices = this.#options.devices.value;
    const status = computeNodeStatus(
      {
        ...this.#options,
        kubeletPort: server?.port,
        runtimeVersion: engine.runtimeVersion,
        runtimeHandlers: engine.handlers,
        images,
        problem,
        reported: this.#options.conditions?.value ?? {},
        devices,
        ...pressure.health(now),
        now,
      },
      node.status,
    );
    const due = now - this.#reportedAt >= statusMs;
    try {
      if (due || !deepEqual(timeless(status), timeless(node.status))) {
        await this.#write(node, status);
        this.#reportedAt = now;
      }
      if (problem === undefined) this.#options.onReady?.();
    } catch (error) {
      // The Node was deleted, or created again by another client.
      if (isNotFound(error)) this.observe(undefined);
      else if (isConflict(error)) this.#state.node = undefined;
      throw error;
    }
  }

  #emit(node: Node, reasons: readonly string[]): void {
    const { events, nodeName } = this.#options;
    for (const reason of reasons)
      events.event(node, 'Normal', reason, `Node ${nodeName} status is now: ${reason}`);
  }

  /**
   * Emits the event Starting once per agent, and an event each time that the node becomes unschedulable or
   * schedulable.
   */
  #emitOwnEvents(node: Node): void {
    if (!this.#hasEmittedStart) this.#options.events.event(node, 'Normal', 'Starting', 'Starting kubelet.');
    this.#hasEmittedStart = true;
    const closed = node.spec?.unschedulable === true;
    if (closed !== this.#closed) this.#emit(node, [closed ? 'NodeNotSchedulable' : 'NodeSchedulable']);
    this.#closed = closed;
  }

  async #images(node: Node): Promise<readonly NodeImage[]> {
    if (this.#problem !== undefined) {
      return (node.status?.images ?? []).map(({ names = [], sizeBytes = 0 }) => ({ names, sizeBytes }));
    }
    return this.#options.runtime.listImages();
  }

  async #renew(node: Node): Promise<void> {
    const { client, clock, nodeName, heartbeatMs } = this.#options;
    const leases = client.resource(leaseResource);
    const now = clock.now();
    try {
      const lease = this.#lease ?? (await leases.get(nodeName, nodeLeaseNamespace));
      this.#lease = await leases.update(renewedLease(nodeName, heartbeatMs, now, lease));
    } catch (error) {
      this.#lease = undefined;
      if (isConflict(error)) return this.#renew(node);
      if (!isNotFound(error)) throw error;
      this.#lease = await leases.create(newLease(node, heartbeatMs, now));
    }
  }
}

const isForbidden = (error: unknown) => error instanceof StatusError && error.status.code === 403;

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** Returns the fields of a Node with a range, or with those of a text of two. */
function rangeFields(text: string) {
  const podCIDRs = text.split(',');
  return { podCIDR: podCIDRs[0] ?? '', podCIDRs };
}

type Taints = NonNullable<NonNullable<Node['spec']>['taints']>;

const otherRange = (has: string, wanted: string) =>
  `this node has the pod range ${has}, not pod-cidr ${wanted}; to change the range, delete the Node and restart minik8s node, or correct pod-cidr`;

interface OwnFields {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: Taints;
  readonly podCIDR: string | undefined;
}

/**
 * Returns the patch for an existing Node. Taints are added only at the first registration: a node that has
 * reported before keeps the taints that administrators left. A podCIDR is set only on a Node without one:
 * pods may have addresses of the existing one.
 */
function adoption(existing: Node, { labels, annotations, taints, podCIDR }: OwnFields) {
  const present = existing.spec?.taints ?? [];
  const missing = taints.filter(
    ({ key, effect }) => !present.some((taint) => taint.key === key && taint.effect === effect),
  );
  const isNew = existing.status?.nodeInfo === undefined;
  const spec = {
    ...(isNew && missing.length > 0 && { taints: [...present, ...missing] }),
    ...(podCIDR && !existing.spec?.podCIDR && rangeFields(podCIDR)),
  };
  return { metadata: { labels, annotations }, ...(Object.keys(spec).length > 0 && { spec }) };
}

/** Returns the status without the fields that change at every check. */
function timeless(status: Node['status']) {
  return {
    ...status,
    conditions: status?.conditions?.map(({ lastHeartbeatTime: _, ...condition }) => condition),
  };
}
