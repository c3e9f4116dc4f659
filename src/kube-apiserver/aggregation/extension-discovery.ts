/**
 * Keeps the discovery of extension servers. It is read in the background, so that a server that hangs delays
 * no client: its former resources stay, marked as stale.
 */
import { type APIService, apiServiceResource } from '../../api/apiregistration/v1/api-service.ts';
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import type { ExtensionKind, ExtensionKinds } from '../../apimachinery/extension-kinds.ts';
import { apiVersionOf, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { DelegatedDescription, DelegatedVersion } from '../../apiserver/delegation.ts';
import { onAbort } from '../../base/abort.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
import type { EndWatch } from '../../storage/cache.ts';
import type { KubeContext } from '../context.ts';
import { entryAfter, extensionKindsOf, inOrder } from './discovery-plan.ts';
import { ExtensionOpenApi, type FetchDocument } from './extension-openapi.ts';
import { isAvailable } from './extension-server.ts';

/** Milliseconds after which the discovery of the servers is read again: they do not report changes. */
const refreshMs = 30_000;

export interface ExtensionDiscoveryOptions extends Pick<KubeContext, 'cache' | 'clock'> {
  delegates(group: string, version: string): boolean;
  /** Resolves to the resources of a version; undefined if its server does not answer. */
  read(name: string, signal: AbortSignal): Promise<readonly JsonObject[] | undefined>;
  readonly document: FetchDocument;
}

const prefix = storagePrefix(apiServiceResource);

export class ExtensionDiscovery {
  readonly #options: ExtensionDiscoveryOptions;
  readonly #wake = new Wake();
  readonly #describe = new Wake();
  readonly #openApi: ExtensionOpenApi;
  readonly #listeners = new Set<() => void>();
  #kinds: readonly ExtensionKind[] = [];
  #versions: readonly DelegatedVersion[] = [];

  constructor(options: ExtensionDiscoveryOptions) {
    this.#options = options;
    this.#openApi = new ExtensionOpenApi(options.document);
  }

  /** Versions that extension servers have; another array after every change. */
  get versions(): readonly DelegatedVersion[] {
    return this.#versions;
  }

  get descriptions(): readonly DelegatedDescription[] {
    return this.#openApi.descriptions;
  }

  /** Kinds that controllers can read and delete. */
  readonly kinds: ExtensionKinds = (() => {
    const current = () => this.#kinds;
    return {
      get current() {
        return current();
      },
      unknownVersions: () => this.#unknownVersions(),
      onChange: (listener) => {
        const entry = () => listener();
        this.#listeners.add(entry);
        return () => void this.#listeners.delete(entry);
      },
    };
  })();

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
    const reading = keepDoing({ clock, signal, restMs, wake: this.#wake }, () => this.#read(signal));
    // A loop of its own, so that a server which hangs only here delays no discovery.
    const describing = keepDoing(
      { clock, signal, restMs: Number.POSITIVE_INFINITY, wake: this.#describe },
      () => this.#openApi.read(this.#services(), isAvailable, signal),
    );
    await Promise.all([reading, describing]);
    forget();
  }

  #watch(onExpired: () => void): EndWatch {
    const { cache } = this.#options;
    return cache.watch(prefix, cache.revision, { onEvents: () => this.#wake.call(), onExpired });
  }

  async #read(signal: AbortSignal): Promise<void> {
    const services = this.#services();
    const found = await Promise.all(services.map((service) => this.#entryOf(service, signal)));
    const versions = inOrder(found);
    if (signal.aborted) return;
    if (!deepEqual(versions, this.#versions)) this.#versions = versions;
    this.#keepKinds();
    this.#describe.call();
  }

  #services(): readonly APIService[] {
    const { cache, delegates } = this.#options;
    return cache
      .list(prefix)
      .map(({ object }) => object as APIService)
      .filter(({ spec }) => delegates(spec.group ?? '', spec.version ?? ''));
  }

  #keepKinds(): void {
    const next = extensionKindsOf(this.#versions, this.#kinds);
    if (next.length === this.#kinds.length && next.every((kind, index) => kind === this.#kinds[index]))
      return;
    this.#kinds = next;
    for (const listener of [...this.#listeners]) listener();
  }

  /** An APIService whose discovery was never read counts too. */
  #unknownVersions(): readonly string[] {
    const isKnown = ({ spec }: APIService) =>
      this.#versions.some(
        ({ group, version, freshness }) =>
          group === spec.group && version === spec.version && freshness === 'Current',
      );
    return this.#services()
      .filter((service) => !isKnown(service))
      .map(({ spec }) => apiVersionOf({ group: spec.group ?? '', version: spec.version ?? '' }));
  }

  async #entryOf(service: APIService, signal: AbortSignal): Promise<DelegatedVersion> {
    const { group, version } = service.spec;
    const former = this.#versions.find((one) => one.group === group && one.version === version);
    const name = service.metadata.name;
    const resources = isAvailable(service) ? await this.#options.read(name, signal) : undefined;
    return entryAfter(service, resources, former);
  }
}
