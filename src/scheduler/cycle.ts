/** One pod's look at the nodes: what its plugins have worked out, and which nodes they let it have. */
import type { Cluster, NodeInfo, Plugin, PodInfo, Rejection, Trial } from './framework.ts';
import { NodeState } from './node-state.ts';

interface Active {
  readonly plugin: Plugin;
  readonly filter: NonNullable<Plugin['filter']>;
  readonly state: unknown;
}

export class Cycle {
  readonly pod: PodInfo;
  readonly #cluster: Cluster;
  readonly #active: readonly Active[];
  /** The same in the order in which it is found out soonest that a node does not fit. */
  readonly #order: Active[];
  /** Names of the only nodes that can do; undefined for all. */
  readonly nodes: readonly string[] | undefined;

  private constructor(
    pod: PodInfo,
    cluster: Cluster,
    active: readonly Active[],
    nodes: readonly string[] | undefined,
  ) {
    this.pod = pod;
    this.#cluster = cluster;
    this.#active = active;
    this.#order = [...active];
    this.nodes = nodes;
  }

  /** Asks every PreFilter. Returns why no node will do where one says so. */
  static begin(pod: PodInfo, cluster: Cluster, plugins: readonly Plugin[]): Cycle | Rejection {
    const active: Active[] = [];
    let nodes: readonly string[] | undefined;
    for (const plugin of plugins) {
      const { filter } = plugin;
      const prepared = plugin.preFilter?.(pod, cluster);
      if (prepared === 'skip') continue;
      if (prepared && 'refused' in prepared) return prepared.refused;
      const named = prepared?.nodes;
      if (named) nodes = nodes?.filter((name) => named.includes(name)) ?? named;
      if (filter) active.push({ plugin, filter, state: prepared?.state });
    }
    return new Cycle(pod, cluster, active, nodes);
  }

  /** Every reason of every plugin. */
  rejections(node: NodeInfo): readonly Rejection[] {
    let own: readonly Rejection[] = [];
    for (const { filter, state } of this.#active) {
      const found = filter(this.pod, node, state);
      if (found.length > 0) own = own.length > 0 ? [...own, ...found] : found;
    }
    return own.length > 0 ? own : this.#besideNominated(node);
  }

  /** The same as having no rejections, without looking for all of them. */
  fits(node: NodeInfo): boolean {
    const order = this.#order;
    for (let index = 0; index < order.length; index++) {
      const active = order[index] as Active;
      if (active.filter(this.pod, node, active.state).length === 0) continue;
      // Who refuses this node most likely refuses the next one, too.
      order.splice(index, 1);
      order.unshift(active);
      return false;
    }
    return this.#besideNominated(node).length === 0;
  }

  /** The node as a copy on which pods come and go. */
  trial(node: NodeInfo): Trial {
    return this.#trial(node);
  }

  /** Why the pod cannot have the room that is kept for those that wait there with no lower priority. */
  #besideNominated(node: NodeInfo): readonly Rejection[] {
    const nominated = this.#nominatedOn(node);
    if (nominated.length === 0) return [];
    const trial = this.#trial(node);
    for (const other of nominated) trial.add(other);
    return trial.rejections();
  }

  #nominatedOn(node: NodeInfo): readonly PodInfo[] {
    const { uid } = this.pod.pod.metadata;
    const found: PodInfo[] = [];
    for (const other of this.#cluster.nominatedOn(node.name))
      if (other.priority >= this.pod.priority && other.pod.metadata.uid !== uid) found.push(other);
    return found;
  }

  #trial(node: NodeInfo): NodeTrial {
    return new NodeTrial(this.pod, node, this.#active, this.#nominatedOn(node));
  }
}

class NodeTrial implements Trial {
  readonly #pod: PodInfo;
  readonly #node: NodeState;
  readonly #active: readonly Active[];
  readonly #states: unknown[];
  readonly #nominated: readonly PodInfo[];

  constructor(pod: PodInfo, node: NodeInfo, active: readonly Active[], nominated: readonly PodInfo[]) {
    this.#pod = pod;
    this.#node = NodeState.copyOf(node);
    this.#active = active;
    this.#states = active.map(({ state }) => state);
    this.#nominated = nominated;
  }

  add(pod: PodInfo): void {
    this.#node.add(pod);
    this.#change(pod, 1);
  }

  remove(pod: PodInfo): void {
    this.#node.remove(pod);
    this.#change(pod, -1);
  }

  rejections(): readonly Rejection[] {
    return this.#active.flatMap(({ filter }, index) => filter(this.#pod, this.#node, this.#states[index]));
  }

  /** With and without those that wait there: a pod may not rely on one that has not come yet. */
  fits(): boolean {
    if (this.rejections().length > 0) return false;
    if (this.#nominated.length === 0) return true;
    for (const other of this.#nominated) this.add(other);
    const fits = this.rejections().length === 0;
    for (const other of this.#nominated) this.remove(other);
    return fits;
  }

  #change(other: PodInfo, sign: 1 | -1): void {
    for (const [index, { plugin }] of this.#active.entries())
      if (plugin.stateWith)
        this.#states[index] = plugin.stateWith(this.#states[index], this.#pod, other, this.#node, sign);
  }
}
