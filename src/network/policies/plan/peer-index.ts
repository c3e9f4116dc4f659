/**
 * The pods behind each peer that policies name, updated pod by pod: a changed pod is compared with each peer,
 * a new peer with each pod. Deterministic; the caller owns the state.
 */
import { type Labels, matches } from '../../../apimachinery/labels.ts';
import type { Peer } from './compiled-policy.ts';
import type { PolicyPod } from './policy-pod.ts';

export interface PeerMembers {
  readonly peer: Peer;
  /** Pods by the key under which they were set. */
  readonly pods: ReadonlyMap<string, PolicyPod>;
  /** Changes with `pods`. */
  readonly version: number;
}

interface Entry {
  readonly peer: Peer;
  readonly pods: Map<string, PolicyPod>;
  version: number;
  users: number;
}

export class PeerIndex {
  readonly #peers = new Map<string, Entry>();
  readonly #pods = new Map<string, PolicyPod>();
  readonly #namespaces = new Map<string, Labels>();
  #version = 0;

  /** Adds a user of the peer. */
  acquire(peer: Peer): void {
    const known = this.#peers.get(peer.key);
    if (known) known.users++;
    else this.#peers.set(peer.key, this.#read(peer));
  }

  release({ key }: Peer): void {
    const entry = this.#peers.get(key);
    if (entry && --entry.users === 0) this.#peers.delete(key);
  }

  members(key: string): PeerMembers {
    const entry = this.#peers.get(key);
    if (!entry) throw new Error(`no policy has the peer ${key}`);
    return entry;
  }

  /** Sets a pod, or removes it. */
  setPod(key: string, pod: PolicyPod | undefined): void {
    if (pod) this.#pods.set(key, pod);
    else this.#pods.delete(key);
    for (const entry of this.#peers.values()) this.#place(entry, key, pod);
  }

  /** Sets the labels of a namespace; undefined for one that does not exist. */
  setNamespace(name: string, labels: Labels | undefined): void {
    if (labels) this.#namespaces.set(name, labels);
    else this.#namespaces.delete(name);
    const inside = [...this.#pods].filter(([, { namespace }]) => namespace === name);
    for (const entry of this.#peers.values()) for (const [key, pod] of inside) this.#place(entry, key, pod);
  }

  #read(peer: Peer): Entry {
    const entry: Entry = { peer, pods: new Map(), version: ++this.#version, users: 1 };
    for (const [key, pod] of this.#pods) if (this.#isBehind(peer, pod)) entry.pods.set(key, pod);
    return entry;
  }

  #place(entry: Entry, key: string, pod: PolicyPod | undefined): void {
    const before = entry.pods.get(key);
    const after = pod && this.#isBehind(entry.peer, pod) ? pod : undefined;
    if (before === after) return;
    entry.version = ++this.#version;
    if (after) entry.pods.set(key, after);
    else entry.pods.delete(key);
  }

  #isBehind(peer: Peer, pod: PolicyPod): boolean {
    if (peer.kind === 'block') return false;
    const { namespace, namespaces, pods } = peer;
    if (namespace !== undefined && namespace !== pod.namespace) return false;
    if (namespaces) {
      const labels = this.#namespaces.get(pod.namespace);
      if (!labels || !matches(namespaces, labels)) return false;
    }
    return matches(pods, pod.labels);
  }
}
