/**
 * The objects of the API server behind network policies. Changes go into an index; the pods of other nodes
 * are read only once there is a policy, since most clusters have none.
 */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type NetworkPolicy, networkPolicyResource } from '../../api/networking/v1/network-policy.ts';
import { type KubeObject, objectKey } from '../../apimachinery/meta.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Informer, InformerFactory } from '../../client/informer.ts';
import type { PolicyFacts } from './known-facts.ts';
import type { PolicyIndex } from './plan/policy-index.ts';
import { type PolicyPod, policyPodOf, samePolicyPod } from './plan/policy-pod.ts';

export interface PolicyObjectsOptions {
  /** Informers of policies and namespaces that are not started yet. */
  readonly informers: InformerFactory;
  /** Informers of the pods of all nodes that are not started yet. */
  readonly peerInformers: InformerFactory;
  /** Pods of this node; the caller starts the informer. */
  readonly ownPods: Informer<Pod>;
  readonly index: PolicyIndex;
  readonly log: Logger;
  readonly onChange: () => void;
}

export class PolicyObjects {
  readonly #options: PolicyObjectsOptions;
  readonly #policies: Informer<NetworkPolicy>;
  readonly #namespaces: Informer<KubeObject>;
  readonly #peers: Informer<Pod>;
  /** Pods by NAMESPACE/NAME, as they are in the index. */
  readonly #pods = new Map<string, PolicyPod>();
  /** Facts of an earlier run, until the API server has answered. */
  #former: PolicyFacts | undefined;
  #startsPeers: ((signal: AbortSignal) => void) | undefined;

  constructor(options: PolicyObjectsOptions) {
    const { informers, peerInformers, log } = options;
    this.#options = options;
    this.#policies = informers.informerFor(networkPolicyResource);
    this.#namespaces = informers.informerFor<KubeObject>({ ...namespaceResource, part: 'metadata' });
    this.#peers = peerInformers.informerFor(podResource);
    this.#startsPeers = (signal) => {
      peerInformers.start(signal).catch((error) => {
        if (!signal.aborted) log.error('pods of other nodes cannot be read', { error: errorMessage(error) });
      });
    };
    this.#listen();
  }

  /** True if the index has everything that the rules depend on. */
  get isKnown(): boolean {
    if (this.#former) return true;
    const { hasSynced } = this.#options.ownPods;
    const isSynced = hasSynced && this.#policies.hasSynced && this.#namespaces.hasSynced;
    return isSynced && (this.#peers.hasSynced || this.#policies.lister.list().length === 0);
  }

  /** Puts the facts of an earlier run into the index. */
  restore(facts: PolicyFacts): void {
    const { index } = this.#options;
    this.#former = facts;
    for (const policy of facts.policies) index.setPolicy(objectKey(policy), policy);
    for (const [name, labels] of Object.entries(facts.namespaces)) index.setNamespace(name, labels);
    for (const [key, pod] of Object.entries(facts.pods)) this.#setPod(key, pod);
    for (const [ip, pod] of Object.entries(facts.local)) index.setLocal(ip, pod);
  }

  /** Reads until the signal aborts; resolves when the informers have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const { informers, peerInformers, onChange } = this.#options;
    await informers.start(signal);
    this.#forgetFormer();
    onChange();
    if (this.#policies.lister.list().length > 0) this.#startPeers(signal);
    this.#policies.addEventHandler({ onAdd: () => this.#startPeers(signal) });
    await Promise.all([informers.stopped(), peerInformers.stopped()]);
  }

  /** Returns the facts to keep for a start without an API server; undefined while they are not known. */
  facts(local: Readonly<Record<string, PolicyPod>>): PolicyFacts | undefined {
    if (this.#former || !this.isKnown) return undefined;
    const namespaces = this.#namespaces.lister.list();
    return {
      policies: this.#policies.lister
        .list()
        .map(({ apiVersion, kind, metadata: { name, namespace }, spec }) => ({
          ...{ apiVersion, kind, spec },
          metadata: { name, namespace } as NetworkPolicy['metadata'],
        })),
      namespaces: Object.fromEntries(
        namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]),
      ),
      pods: Object.fromEntries(this.#pods),
      local,
    };
  }

  #startPeers(signal: AbortSignal): void {
    this.#startsPeers?.(signal);
    this.#startsPeers = undefined;
    void this.#peers.synced.then(() => {
      this.#forgetFormer();
      this.#options.onChange();
    });
  }

  /** Removes facts of an earlier run that the API server no longer has. */
  #forgetFormer(): void {
    const { index } = this.#options;
    const [former, policies] = [this.#former, this.#policies];
    const isUsed = policies.lister.list().length > 0;
    if (!former || !policies.hasSynced || (isUsed && !this.#peers.hasSynced)) return;
    this.#former = undefined;
    for (const key of goneFrom(policies, former.policies.map(objectKey))) index.setPolicy(key, undefined);
    for (const name of goneFrom(this.#namespaces, Object.keys(former.namespaces))) {
      index.setNamespace(name, undefined);
    }
    for (const key of goneFrom(this.#peers, Object.keys(former.pods))) this.#setPod(key, undefined);
  }

  #listen(): void {
    const { index, onChange, ownPods } = this.#options;
    const policyChanged = (policy: NetworkPolicy) => {
      const key = objectKey(policy);
      index.setPolicy(key, this.#policies.lister.get(key));
      onChange();
    };
    this.#policies.addEventHandler({
      onAdd: policyChanged,
      onUpdate: (policy, old) => {
        if (policy.metadata.generation !== old.metadata.generation) policyChanged(policy);
      },
      onDelete: policyChanged,
    });
    const namespaceChanged = ({ metadata: { name } }: KubeObject) => {
      const namespace = this.#namespaces.lister.get(name);
      index.setNamespace(name, namespace && (namespace.metadata.labels ?? {}));
      onChange();
    };
    this.#namespaces.addEventHandler({
      onAdd: namespaceChanged,
      onUpdate: namespaceChanged,
      onDelete: namespaceChanged,
    });
    const podChanged = (pod: Pod) => {
      const key = objectKey(pod);
      const now = this.#peers.lister.get(key);
      if (this.#setPod(key, now && policyPodOf(now))) onChange();
    };
    this.#peers.addEventHandler({ onAdd: podChanged, onUpdate: podChanged, onDelete: podChanged });
    const ownChanged = (pod: Pod) => {
      if (this.#ownChanged(pod)) onChange();
    };
    ownPods.addEventHandler({ onAdd: ownChanged, onUpdate: ownChanged });
    void ownPods.synced.then(onChange);
  }

  /**
   * Updates the labels of a pod of this node. The entry of a pod that was deleted stays until its
   * address is released: its containers may still run.
   */
  #ownChanged(pod: Pod): boolean {
    const { index } = this.#options;
    const known = policyPodOf(pod);
    let isChanged = false;
    for (const ip of known?.ips ?? []) {
      const local = index.local(ip);
      const next = policyPodOf(pod, known?.ips);
      if ((local && local.uid !== pod.metadata.uid) || samePolicyPod(local, next)) continue;
      index.setLocal(ip, next);
      isChanged = true;
    }
    return isChanged;
  }

  #setPod(key: string, pod: PolicyPod | undefined): boolean {
    if (samePolicyPod(this.#pods.get(key), pod)) return false;
    if (pod) this.#pods.set(key, pod);
    else this.#pods.delete(key);
    this.#options.index.setPod(key, pod);
    return true;
  }
}

const goneFrom = <T extends KubeObject>({ lister }: Informer<T>, keys: readonly string[]) =>
  keys.filter((key) => !lister.get(key));
