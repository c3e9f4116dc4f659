/**
 * Keeps the discovery of extension servers. It is read in the background, so that one that hangs delays no
 * client: its former resources stay, marked as stale.
 */
import { type APIService, apiServiceResource } from '../../api/apiregistration/v1/api-service.ts';
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { DelegatedVersion } from '../../apiserver/delegation.ts';
import { onAbort } from '../../base/abort.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
import type { EndWatch } from '../../storage/cache.ts';
import type { KubeContext } from '../context.ts';
import { entryAfter, inOrder } from './discovery-plan.ts';
import { isAvailable } from './extension-server.ts';

/** Milliseconds after which the discovery of the servers is read again: they do not report changes. */
const refreshMs = 30_000;

export interface ExtensionDiscoveryOptions extends Pick<KubeContext, 'cache' | 'clock'> {
  delegates(group: string, version: string): boolean;
  /** Resolves to the resources of a version; undefined if its server does not answer. */
  read(name: string, signal: AbortSignal): Promise<readonly JsonObject[] | undefined>;
}

const prefix = storagePrefix(apiServiceResource);

export class ExtensionDiscovery {
  readonly #options: ExtensionDiscoveryOptions;
  readonly #wake = new Wake();
  #versions: readonly DelegatedVersion[] = [];

  constructor(options: ExtensionDiscoveryOptions) {
    this.#options = options;
  }

  /** Versions that extension servers have; another array after every change. */
  get versions(): readonly DelegatedVersion[] {
    return this.#versions;
  }

  /** Follows the APIServices. Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let end: EndWatch | undefined;
    const follow = () => {
      end = this.#watch(() => {
        if (!signal.aborted) follow();
      });
      this.#wake.call();
    };
    follow();
    const forget = onAbort(signal, () => end?.());
    const restMs = () => (this.#versions.length > 0 ? refreshMs : Number.POSITIVE_INFINITY);
    await keepDoing({ clock, signal, restMs, wake: this.#wake }, () => this.#read(signal));
    forget();
  }

  #watch(onExpired: () => void): EndWatch {
    const { cache } = this.#options;
    return cache.watch(prefix, cache.revision, { onEvents: () => this.#wake.call(), onExpired });
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { cache, delegates } = this.#options;
    const services = cache
      .list(prefix)
      .map(({ object }) => object as APIService)
      .filter(({ spec }) => delegates(spec.group ?? '', spec.version ?? ''));
    const found = await Promise.all(services.map((service) => this.#entryOf(service, signal)));
    const versions = inOrder(found);
    if (!signal.aborted && !deepEqual(versions, this.#versions)) this.#versions = versions;
  }

  async #entryOf(service: APIService, signal: AbortSignal): Promise<DelegatedVersion> {
    const { group, version } = service.spec;
    const former = this.#versions.find((one) => one.group === group && one.version === version);
    const name = service.metadata.name;
    const resources = isAvailable(service) ? await this.#options.read(name, signal) : undefined;
    return entryAfter(service, resources, former);
  }
}
