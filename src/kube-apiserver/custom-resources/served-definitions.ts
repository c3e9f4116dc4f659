/**
 * Serves the kinds of the CustomResourceDefinitions that the watch cache contains. Each server of a cluster
 * does this by itself. A controller has accepted the names of a definition before.
 */
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource,
} from '../../api/apiextensions/v1/custom-resource-definition.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { KindSet } from '../../apimachinery/kind-set.ts';
import { type ResourceDefinition, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import type { EngineContext } from '../../apiserver/server-context.ts';
import { answerWithin } from '../../base/answer-within.ts';
import { errorMessage } from '../../base/log.ts';
import type { CachedObject, EndWatch } from '../../storage/cache.ts';
import type { ConversionCaller } from './conversion/webhook-versions.ts';
import { isServed, kindsOfDefinition } from './definition-kinds.ts';

export interface ServedDefinitionsOptions
  extends Pick<EngineContext, 'cache' | 'clock' | 'fields' | 'latest' | 'log'> {
  readonly kinds: KindSet;
}

interface Entry {
  readonly revision: number;
  /** Everything on which the kinds depend; undefined while they are not served. */
  readonly basis: object | undefined;
  readonly kinds: readonly ResourceDefinition[];
}

/** Milliseconds for which a request for a kind that is not served waits for the latest definitions. */
const patienceMs = 5_000;

const prefix = storagePrefix(customResourceDefinitionResource);

export class ServedDefinitions {
  readonly #options: ServedDefinitionsOptions;
  /** Definitions by the key of their object. */
  #known = new Map<string, Entry>();
  #end: EndWatch | undefined;
  #converter: ConversionCaller | undefined;

  constructor(options: ServedDefinitionsOptions) {
    this.#options = options;
  }

  /** Sets the caller of conversion webhooks; called before `start`. */
  convertBy(converter: ConversionCaller): void {
    this.#converter = converter;
  }

  /** Serves the kinds of all definitions in the cache, which is filled, and then follows the definitions. */
  start(): void {
    const { cache } = this.#options;
    const from = cache.revision;
    this.#update();
    this.#end = cache.watch(prefix, from, {
      onEvents: () => this.#update(),
      // The cache itself is current; only events were lost.
      onExpired: () => this.start(),
    });
  }

  stop(): void {
    this.#end?.();
  }

  /**
   * Resolves when the kinds of all definitions that were written before the call are served, or when that
   * takes too long.
   */
  async untilCurrent(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    try {
      await answerWithin(clock, patienceMs, waitForNow(this.#options, { signal }));
    } catch (error) {
      log.debug('definitions of custom resources may be missing', { error: errorMessage(error) });
    }
    if (this.#end) this.#update();
  }

  /** Brings the served kinds in line with the cache. */
  #update(): void {
    const next = new Map<string, Entry>();
    for (const object of this.#options.cache.list(prefix)) next.set(object.key, this.#entryOf(object));
    try {
      this.#serve(next);
    } catch {
      this.#serveOneByOne(next);
    }
  }

  /** Throws if two definitions serve the same kind; then nothing has changed. */
  #serve(next: Map<string, Entry>): void {
    const { kinds, log } = this.#options;
    const removed: ResourceDefinition[] = [];
    const added: ResourceDefinition[] = [];
    for (const [key, { kinds: before }] of this.#known)
      if (next.get(key)?.kinds !== before) removed.push(...before);
    for (const [key, { kinds: after }] of next)
      if (this.#known.get(key)?.kinds !== after) added.push(...after);
    if (removed.length > 0 || added.length > 0) kinds.replace(removed, added);
    this.#known = next;
    if (removed.length === 0 && added.length === 0) return;
    log.debug('the served custom resources have changed', { removed: removed.length, added: added.length });
  }

  /**
   * Called after a failure. Serves the definitions that can be served; the others keep their former kinds.
   */
  #serveOneByOne(next: ReadonlyMap<string, Entry>): void {
    for (const key of new Set([...this.#known.keys(), ...next.keys()])) {
      const entries = new Map(this.#known);
      const entry = next.get(key);
      if (entry) entries.set(key, entry);
      else entries.delete(key);
      try {
        this.#serve(entries);
      } catch (error) {
        this.#options.log.error('the kinds of a definition cannot be served', {
          definition: key.slice(prefix.length),
          error: errorMessage(error),
        });
      }
    }
  }

  /**
   * Returns the entry of a definition. If the kinds have not changed, they stay the same objects, which keeps
   * their watches.
   */
  #entryOf(cached: CachedObject): Entry {
    const { fields, log } = this.#options;
    const { key, revision } = cached;
    const before = this.#known.get(key);
    if (before?.revision === revision) return before;
    const definition = cached.object as CustomResourceDefinition;
    const basis = basisOf(definition);
    if (before && deepEqual(before.basis, basis)) return { ...before, revision };
    try {
      const isFree = !isBuiltIn(this.#options.kinds, definition.spec);
      return {
        revision,
        basis,
        kinds: basis && isFree ? kindsOfDefinition(definition, fields, this.#converter) : [],
      };
    } catch (error) {
      const { name } = definition.metadata;
      log.error('the kinds of a definition cannot be served', {
        definition: name,
        error: errorMessage(error),
      });
      return { revision, basis, kinds: [] };
    }
  }
}

/** Returns whether the server has a kind of its own with these names, whose objects must stay its own. */
const isBuiltIn = (kinds: KindSet, { group, names }: CustomResourceDefinition['spec']): boolean =>
  kinds.all.some(
    (kind) => kind.group === group && kind.plural === names.plural && kinds.removalOf(kind) === undefined,
  );

/** Returns everything on which the kinds of a definition depend; undefined if they are not served. */
function basisOf(definition: CustomResourceDefinition): object | undefined {
  if (!isServed(definition)) return undefined;
  const { metadata, spec, status } = definition;
  const { acceptedNames, storedVersions } = status ?? {};
  const { generation, uid, deletionTimestamp } = metadata;
  const isDeleted = deletionTimestamp !== undefined && !spec.versions.some(({ served }) => served);
  return { generation: isDeleted ? 0 : generation, uid, spec, acceptedNames, storedVersions };
}
