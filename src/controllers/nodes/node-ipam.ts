/**
 * Assigns each node a range of pod addresses of its own, one of each family of the cluster, once its machine
 * has registered, and keeps pods away from nodes that came with an unusable range. Invariant: no two nodes
 * ever get overlapping ranges. Assigned ranges that the cache does not show yet count as taken. A range is
 * free again when its node is deleted.
 */

import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { type PrefixRange, rangesMeet, rangeText, readRange } from '../../base/address-families.ts';
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
  nodePrefix6,
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
  /** Ranges of all pods, one or one of each family (`familyRanges`); default 10.244.0.0/16. */
  readonly clusterCidr?: string;
  /** Prefix length of a node's range of IPv4; default 24. */
  readonly nodeMaskSize?: number;
}

/** Creates the controller. Throws if the options name a range into which a node's range does not fit. */
export function nodeIpam(options: NodeIpamOptions = {}): ControllerFactory {
  const { clusterCidr = '10.244.0.0/16', nodeMaskSize = nodePrefix } = options;
  const cluster = readCluster(clusterCidr);
  const least = cluster[0]?.prefix ?? 0;
  if (!Number.isInteger(nodeMaskSize) || nodeMaskSize < least || nodeMaskSize > 30)
    throw new Error(`nodeMaskSize ${nodeMaskSize} does not fit into ${clusterCidr}; use ${least} to 30`);
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

/** Returns the range of IPv4 and, if there is one, that of IPv6. */
function readCluster(clusterCidr: string): readonly PrefixRange[] {
  const [first, second, ...more] = clusterCidr.split(',').map(readRange);
  if (first?.family !== 4)
    throw new Error(
      `clusterCidr ${JSON.stringify(clusterCidr)} is not an IPv4 range; use one such as 10.244.0.0/16`,
    );
  if (!clusterCidr.includes(',')) return [first];
  if (second?.family === 6 && second.prefix <= nodePrefix6 && more.length === 0) return [first, second];
  throw new Error(
    `clusterCidr ${JSON.stringify(clusterCidr)} has no second range of IPv6 with at most ${nodePrefix6} bits; use one such as fd00:10:244::/56`,
  );
}

const nodeIpamController = (
  context: ControllerContext,
  cluster: readonly PrefixRange[],
  prefix: number,
): ControllerDefinition => new NodeIpamController(context, cluster, prefix).definition();

class NodeIpamController {
  readonly #context: ControllerContext;
  readonly #cluster: readonly PrefixRange[];
  readonly #prefix: number;
  readonly #nodes: Lister<Node>;
  /** Ranges assigned by this process, by node uid, until the cache shows them. */
  readonly #given = new Map<string, readonly PrefixRange[]>();
  /** Nodes without a free range; they are checked again when a node is deleted. */
  readonly #waiting = new Set<ObjectKey>();

  constructor(context: ControllerContext, cluster: readonly PrefixRange[], prefix: number) {
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
    const taken = this.#taken();
    const ranges: PrefixRange[] = [];
    for (const cluster of this.#cluster) {
      const prefix = cluster.family === 4 ? this.#prefix : nodePrefix6;
      const range = nextFreeRange(cluster, prefix, taken);
      if (!range) {
        this.#waiting.add(key);
        const message = `no free /${prefix} is left in ${rangeText(cluster)} for node ${key}; delete unused nodes or enlarge the cluster's pod range`;
        events.event(node, 'Warning', 'CIDRNotAvailable', message);
        return;
      }
      ranges.push(range);
    }
    this.#waiting.delete(key);
    await this.#give(node, ranges);
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

  #taken(): PrefixRange[] {
    const known = this.#nodes.list();
    const uids = new Set(known.map((node) => node.metadata.uid));
    for (const node of known) if (node.spec.podCIDR) this.#given.delete(node.metadata.uid);
    for (const uid of this.#given.keys()) if (!uids.has(uid)) this.#given.delete(uid);
    return [...known.flatMap(rangesOf), ...[...this.#given.values()].flat()];
  }

  async #give(node: Node, ranges: readonly PrefixRange[]): Promise<void> {
    const { client } = this.#context;
    this.#given.set(node.metadata.uid, ranges);
    try {
      const next = deepCopy(node);
      next.spec.podCIDRs = ranges.map(rangeText);
      next.spec.podCIDR = next.spec.podCIDRs[0];
      await client.resource(nodeResource).update(next);
    } catch (error) {
      this.#given.delete(node.metadata.uid);
      throw error;
    }
  }
}

const meet = (ranges: readonly PrefixRange[], range: PrefixRange) =>
  ranges.some((one) => rangesMeet(one, range));
