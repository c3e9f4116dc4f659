/**
 * The ClusterTrustBundles of the cluster, watched as long as a pod on this node mounts one (upstream:
 * pkg/kubelet/clustertrustbundle). Volumes read them from memory.
 */
import {
  type ClusterTrustBundle,
  clusterTrustBundleResource,
} from '../../api/certificates/v1/cluster-trust-bundle.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { ClusterTrustBundleProjection } from '../../api/core/v1/types.gen.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from '../../client/reflector.ts';
import { anchorsIn, selectedBundles } from './plan/trust-anchors.ts';

export interface TrustBundlesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Timeout of a read in milliseconds. */
  readonly readTimeoutMs: number;
}

export class TrustBundles {
  readonly #options: TrustBundlesOptions;
  /** Pods that mount bundles, by uid. */
  readonly #pods = new Set<string>();
  #watch: BundleWatch | undefined;
  #onChange: (uid: string) => void = () => {};

  constructor(options: TrustBundlesOptions) {
    this.#options = options;
  }

  /** Called for each pod that mounts bundles when a bundle has been created, changed or deleted. */
  set onChange(listener: (uid: string) => void) {
    this.#onChange = listener;
  }

  /** Watches the bundles from now on if the pod mounts one. */
  observe(pod: Pod): void {
    const { uid } = pod.metadata;
    if (!mountsBundles(pod)) {
      this.forget(uid);
      return;
    }
    this.#pods.add(uid);
    this.#watch ??= new BundleWatch(this.#options, () => {
      for (const each of this.#pods) this.#onChange(each);
    });
  }

  /** Stops watching when no pod is left that mounts bundles. */
  forget(uid: string): void {
    this.#pods.delete(uid);
    if (this.#pods.size > 0) return;
    this.#watch?.stop();
    this.#watch = undefined;
  }

  /** Ends the watch. */
  close(): void {
    for (const uid of [...this.#pods]) this.forget(uid);
  }

  /**
   * Returns the certificates (PEM) of the bundles that the source selects, each once; undefined if it selects
   * none. Rejects if the bundles have never been read and cannot be read now.
   */
  async anchors(source: ClusterTrustBundleProjection): Promise<string | undefined> {
    const bundles = this.#watch
      ? await this.#known(this.#watch)
      : (await this.#options.client.resource(clusterTrustBundleResource).list()).items;
    const selected = selectedBundles(source, new Map(bundles.map((each) => [each.metadata.name, each])));
    return selected.length === 0 ? undefined : anchorsIn(selected);
  }

  /**
   * Returns a text that identifies the known versions of the selected bundles; a different text means that
   * they must be read again.
   */
  version(source: ClusterTrustBundleProjection): string {
    if (!this.#watch?.isRead) return 'unread';
    const selected = selectedBundles(source, this.#watch.bundles);
    return selected.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`).join();
  }

  /** Resolves with all bundles once they have been read. */
  async #known(watch: BundleWatch): Promise<readonly ClusterTrustBundle[]> {
    const done = new AbortController();
    const late = sleep(this.#options.clock, this.#options.readTimeoutMs, done.signal);
    try {
      await Promise.race([watch.read, late]);
    } finally {
      late.catch(() => undefined);
      done.abort();
    }
    // The message is upstream's.
    if (!watch.isRead) throw new Error('ClusterTrustBundle informer has not yet synced');
    return [...watch.bundles.values()];
  }
}

const mountsBundles = ({ spec }: Pod) =>
  (spec.volumes ?? []).some(({ projected }) =>
    projected?.sources?.some(({ clusterTrustBundle }) => clusterTrustBundle),
  );

class BundleWatch implements ReflectorSink<ClusterTrustBundle> {
  readonly #stop = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #onChange: () => void;
  bundles: ReadonlyMap<string, ClusterTrustBundle> = new Map();
  isRead = false;

  constructor({ client, clock, random, log }: TrustBundlesOptions, onChange: () => void) {
    this.#onChange = onChange;
    const resource = client.resource(clusterTrustBundleResource);
    const named = log.named(`source/${clusterTrustBundleResource.plural}`);
    const options = { resource, scope: {}, sink: this, clock, random, log: named, newest: true };
    void runReflector(options, this.#stop.signal);
  }

  /** Resolves after the first list, or when the watch ends. */
  get read(): Promise<void> {
    return this.#first.promise;
  }

  stop(): void {
    this.#stop.abort();
    this.#first.resolve();
  }

  replace(found: readonly ClusterTrustBundle[]): void {
    this.bundles = new Map(found.map((bundle) => [bundle.metadata.name, bundle]));
    this.isRead = true;
    this.#first.resolve();
    this.#onChange();
  }

  apply({ type, object }: ObjectEvent<ClusterTrustBundle>): void {
    const next = new Map(this.bundles);
    if (type === 'DELETED') next.delete(object.metadata.name);
    else next.set(object.metadata.name, object);
    this.bundles = next;
    this.#onChange();
  }
}
