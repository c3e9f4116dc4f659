/**
 * Policies, namespaces and pods, and the tables that enforce the policies for the pods of this node. Updated
 * object by object, so that a change costs what depends on it. The tables are a function of the current
 * objects alone, except for the names in them.
 */
import type { NetworkPolicy } from '../../../api/networking/v1/network-policy.ts';
import type { Labels } from '../../../apimachinery/labels.ts';
import { type Combination, combine, everyPod, namesSignature } from './combination.ts';
import {
  type CompiledPolicy,
  compilePolicy,
  type Direction,
  directions,
  type Peer,
  selects,
} from './compiled-policy.ts';
import { PeerIndex } from './peer-index.ts';
import type { PolicyPod } from './policy-pod.ts';
import { TableWriter } from './table-writer.ts';
import type { Family, PolicyTables } from './tables.ts';

interface Numbered extends CompiledPolicy {
  /** Distinguishes versions of a policy. */
  readonly id: number;
}

interface LocalPod {
  readonly pod: PolicyPod;
  /** Keys of the policies that select it. */
  readonly policies: Set<string>;
}

export class PolicyIndex {
  readonly #peers = new PeerIndex();
  readonly #policies = new Map<string, Numbered>();
  /** Pods of this node by address. */
  readonly #local = new Map<string, LocalPod>();
  readonly #writers: Readonly<Record<Family, TableWriter>>;
  #combinations = new Map<string, Combination>();
  #ids = 0;

  constructor() {
    this.#writers = { ip: new TableWriter('ip', this.#peers), ip6: new TableWriter('ip6', this.#peers) };
    this.#peers.acquire(everyPod);
  }

  /** The number of policies. */
  get size(): number {
    return this.#policies.size;
  }

  /** Sets a policy by its key NAMESPACE/NAME, or removes it. */
  setPolicy(key: string, policy: NetworkPolicy | undefined): void {
    const before = this.#policies.get(key);
    const after = policy && { ...compilePolicy(policy), id: ++this.#ids };
    this.#acquire(after);
    for (const peer of before ? peersOf(before) : []) this.#peers.release(peer);
    for (const { pod, policies } of this.#local.values()) {
      if (after && selects(after, pod)) policies.add(key);
      else policies.delete(key);
    }
    if (!after) this.#policies.delete(key);
  }

  #acquire(policy: Numbered | undefined): void {
    if (!policy) return;
    for (const peer of peersOf(policy)) this.#peers.acquire(peer);
    this.#policies.set(policy.key, policy);
  }

  /** Sets the labels of a namespace, or removes it. */
  setNamespace(name: string, labels: Labels | undefined): void {
    this.#peers.setNamespace(name, labels);
  }

  /** Sets a pod of the cluster, which policies may name as a peer, or removes it. */
  setPod(key: string, pod: PolicyPod | undefined): void {
    this.#peers.setPod(key, pod);
  }

  /** Sets the pod of this node that has the address, or removes it. */
  setLocal(ip: string, pod: PolicyPod | undefined): void {
    this.#peers.setPod(`address ${ip}`, pod);
    if (!pod) {
      this.#local.delete(ip);
      return;
    }
    const selecting = [...this.#policies.values()].filter((policy) => selects(policy, pod));
    this.#local.set(ip, { pod, policies: new Set(selecting.map(({ key }) => key)) });
  }

  local(ip: string): PolicyPod | undefined {
    return this.#local.get(ip)?.pod;
  }

  /** Returns the keys of the policies that select the pod with the address. */
  selecting(ip: string): readonly string[] {
    return [...(this.#local.get(ip)?.policies ?? [])];
  }

  /** Returns the tables of a family. */
  tables(family: Family): PolicyTables {
    const used = new Map<string, Combination>();
    const chosen = directions.map((direction) => [direction, this.#chosen(direction, used)] as const);
    this.#combinations = used;
    return this.#writers[family].write(
      Object.fromEntries(chosen) as Record<Direction, Map<string, Combination>>,
    );
  }

  /** Returns the combination of each isolated address. */
  #chosen(direction: Direction, used: Map<string, Combination>): Map<string, Combination> {
    const chosen = new Map<string, Combination>();
    for (const [ip, { pod, policies }] of this.#local) {
      const isolating = [...policies].sort().flatMap((key) => {
        const policy = this.#policies.get(key);
        return policy?.rules[direction] ? [policy] : [];
      });
      if (isolating.length > 0) chosen.set(ip, this.#combined(direction, isolating, pod, used));
    }
    return chosen;
  }

  /** Returns the same combination as before for the same policies and ports. */
  #combined(
    direction: Direction,
    policies: readonly Numbered[],
    pod: PolicyPod,
    used: Map<string, Combination>,
  ): Combination {
    const names = direction === 'ingress' ? namesSignature(policies, pod) : '';
    const key = `${direction} ${policies.map(({ id }) => id).join()} ${names}`;
    const combination = used.get(key) ?? this.#combinations.get(key) ?? combine(direction, policies, pod);
    used.set(key, combination);
    return combination;
  }
}

function peersOf({ rules }: CompiledPolicy): readonly Peer[] {
  return directions.flatMap((direction) => (rules[direction] ?? []).flatMap(({ peers }) => peers ?? []));
}
