/**
 * Assigns each node a range of pod addresses of its own once its machine has registered, and keeps pods away
 * from nodes that came with an unusable range. Invariant: no two nodes ever get overlapping ranges. Assigned
 * ranges that the cache does not show yet count as taken. A range is free again when its node is deleted.
 */

import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { formatRange, type IPv4Range, overlaps, parseRange } from '../../base/addresses.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { nextFreeRange } from './free-range.ts';
import {
  claimProblem,
  hasReported,
  nodePrefix,
  rangeConditions,
  rangeProblem,
  rangesOf,
} from './node-ipam-plan.ts';

export const nodeIpamRights: AccountRights = {
  kubernetes: [
    ['get list watch update patch', 'core', 'nodes'],
    ['update patch', 'core', 'nodes/status'],
    writeEvents,
  ],
};

export interface NodeIpamOptions {
  /** Range of all pods; default 10.244.0.0/16. */
  readonly clusterCidr?: string;
  /** Prefix length of a node's range; default 24. */
  readonly nodeMaskSize?: number;
}

/** Creates the controller. Throws if the options name a range into which a node's range does not fit. */
export function nodeIpam(options: NodeIpamOptions = {}): ControllerFactory {
  const { clusterCidr = '10.244.0.0/16', nodeMaskSize = nodePrefix } = options;
  const cluster = readCluster(clusterCidr);
  if (!Number.isInteger(nodeMaskSize) || nodeMaskSize < cluster.prefix || nodeMaskSize > 30)
    throw new Error(
      `nodeMaskSize ${nodeMaskSize} does not fit into ${clusterCidr}; use ${cluster.prefix} to 30`,
    );
  return (context) => nodeIpamController(context, cluster, nodeMaskSize);
}

/**
 * Returns the check by which the API server validates a range that a kubelet chooses for its node. Throws
 * like nodeIpam.
 */
export function podRangeClaims(
  clusterCidr: string,
): (node: Node, others: readonly Node[]) => string | undefined {
  const cluster = readCluster(clusterCidr);
  return (node, others) => claimProblem(node, others, cluster);
}

function readCluster(clusterCidr: string): IPv4Range {
  const cluster = parseRange(clusterCidr);
  if (cluster) return cluster;
  throw new Error(
    `clusterCidr ${JSON.stringify(clusterCidr)} is not an IPv4 range; use one such as 10.244.0.0/16`,
  );
}

const nodeIpamController = (
  context: ControllerContext,
  cluster: IPv4Range,
  prefix: number,
): ControllerDefinition => new NodeIpamController(context, cluster, prefix).definition();

class NodeIpamController {
  readonly #context: ControllerContext;
  readonly #cluster: IPv4Range;
  readonly #prefix: number;
  readonly #nodes: Lister<Node>;
  /** Ranges assigned by this process, by node uid, until the cache shows them. */
  readonly #given = new Map<string, IPv4Range>();
  /** Nodes without a free range; they are checked again when a node is deleted. */
  readonly #waiting = new Set<ObjectKey>();

  constructor(context: ControllerContext, cluster: IPv4Range, prefix: number) {
    const { informers } = context;
    this.#context = context;
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.#nodes = informers.informerFor(nodeResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'node-ipam',
      // One worker only, so that two nodes never get the same range.
      workers: 1,
      watches: [watched(nodeResource, (node) => this.#concerned(node))],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<undefined> {
    const { events } = this.#context;
    const node = this.#nodes.get(key);
    if (!node || isTerminating(node)) {
      this.#waiting.delete(key);
      return;
    }
    if (node.spec.podCIDR) {
      await this.#check(node);
      return;
    }
    if (this.#given.has(node.metadata.uid) || !hasReported(node)) return;
    const range = nextFreeRange(this.#cluster, this.#prefix, this.#taken());
    if (!range) {
      this.#waiting.add(key);
      const message = `no free /${this.#prefix} is left in ${formatRange(this.#cluster)} for node ${key}; delete unused nodes or enlarge the cluster's pod range`;
      events.event(node, 'Warning', 'CIDRNotAvailable', message);
      return;
    }
    this.#waiting.delete(key);
    await this.#give(node, range);
  }

  async #check(node: Node): Promise<void> {
    const { clock, client, events } = this.#context;
    const problem = rangeProblem(node, this.#nodes.list(), this.#cluster);
    const conditions = rangeConditions(node, problem, rfc3339(clock.now()));
    if (!conditions) return;
    await client
      .resource(nodeResource)
      .updateStatus({ ...deepCopy(node), status: { ...node.status, conditions } });
    if (problem) events.event(node, 'Warning', 'PodCIDRConflict', problem);
    else events.event(node, 'Normal', 'PodCIDRUsable', 'the pod range of this node can be used now');
  }

  /**
   * Returns the keys of the node, of nodes with an overlapping range and, after a deletion, of nodes that
   * wait for a range.
   */
  #concerned(node: Node): readonly ObjectKey[] {
    const { name, uid } = node.metadata;
    const ranges = rangesOf(node);
    const touched = this.#nodes.list().filter((other) => rangesOf(other).some((one) => meet(ranges, one)));
    const gone = this.#nodes.get(name)?.metadata.uid !== uid;
    return [name, ...touched.map(({ metadata }) => metadata.name), ...(gone ? this.#waiting : [])];
  }

  #taken(): IPv4Range[] {
    const known = this.#nodes.list();
    const uids = new Set(known.map((node) => node.metadata.uid));
    for (const node of known) if (node.spec.podCIDR) this.#given.delete(node.metadata.uid);
    for (const uid of this.#given.keys()) if (!uids.has(uid)) this.#given.delete(uid);
    return [...known.flatMap(rangesOf), ...this.#given.values()];
  }

  async #give(node: Node, range: IPv4Range): Promise<void> {
    const { client } = this.#context;
    this.#given.set(node.metadata.uid, range);
    try {
      const next = deepCopy(node);
      next.spec.podCIDR = formatRange(range);
      next.spec.podCIDRs = [next.spec.podCIDR];
      await client.resource(nodeResource).update(next);
    } catch (error) {
      this.#given.delete(node.metadata.uid);
      throw error;
    }
  }
}

const meet = (ranges: readonly IPv4Range[], range: IPv4Range) => ranges.some((one) => overlaps(one, range));
