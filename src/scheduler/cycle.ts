/** Scheduling cycle of one pod: the state of its plugins, and the nodes that they accept. */
import type { Cluster, Plugin, Rejection, Trial } from './framework.ts';
import type { NodeInfo, PodInfo } from './node-info.ts';
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
  /** Active plugins, ordered so that an unsuitable node is detected early. */
  readonly #order: Active[];
  /** Names of the only suitable nodes; undefined for all. */
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

  /** Runs every PreFilter. Returns the rejection if one plugin rejects all nodes. */
  static begin(pod: PodInfo, cluster: Cluster, plugins: readonly Plugin[]): Cycle | Rejection {
    const active: Active[] = [];
    let nodes: readonly string[] | undefined;
    for (const plugin of plugins) {
      const { filter } = plugin;
      const prepared = plugin.preFilter?.(pod, cluster);
      if (prepared === 'skip') continue;
      if (prepared && 'refused' in prepared) return prepared.refused;
      nodes = inBoth(nodes, prepared?.nodes);
      if (filter) active.push({ plugin, filter, state: prepared?.state });
    }
    return new Cycle(pod, cluster, active, nodes);
  }

  /** Returns all rejections of all plugins. */
  rejections(node: NodeInfo): readonly Rejection[] {
    let own: readonly Rejection[] = [];
    for (const { filter, state } of this.#active) {
      const found = filter(this.pod, node, state);
      if (found.length > 0) own = own.length > 0 ? [...own, ...found] : found;
    }
    return own.length > 0 ? own : this.#besideNominated(node);
  }

  /** Returns true if there are no rejections, without collecting all of them. */
  fits(node: NodeInfo): boolean {
    const order = this.#order;
    for (let index = 0; index < order.length; index++) {
      const active = order[index] as Active;
      if (active.filter(this.pod, node, active.state).length === 0) continue;
      // The plugin that has rejected this node is called first for the next one, which it most likely rejects
      // too.
      order.splice(index, 1);
      order.unshift(active);
      return false;
    }
    return this.#besideNominated(node).length === 0;
  }

  /** Returns a copy of the node to which pods can be added and from which they can be removed. */
  trial(node: NodeInfo): Trial {
    return this.#trial(node);
  }

  /**
   * Returns the rejections that are caused by pods with the same or a higher priority that are nominated for
   * the node.
   */
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

  /**
   * Checks the node with and without the nominated pods: a pod may not rely on a pod that has not arrived
   * yet.
   */
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

/** Returns the names that both lists have; an undefined list has all names. */
function inBoth(one: readonly string[] | undefined, other: readonly string[] | undefined) {
  if (!one || !other) return one ?? other;
  return one.filter((name) => other.includes(name));
}
