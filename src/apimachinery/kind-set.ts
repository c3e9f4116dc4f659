/**
 * The served kinds. Some exist from the start; others are added and removed while the server runs, such as
 * those of CustomResourceDefinitions. Code that derives something from the kinds listens, or compares `all`
 * with an earlier `all`.
 */
import { apiVersionOf, isMainVersion, type ResourceDefinition } from './resource-definition.ts';

export interface Kinds {
  /** All kinds, in every served version. The list is a new one after every change. */
  readonly all: readonly ResourceDefinition[];
  /** Kinds whose objects are stored, each once; they can be listed and watched. New lists as for `all`. */
  readonly stored: readonly ResourceDefinition[];
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  /** Returns the kind in the version in which it is stored. Throws when there is no such kind. */
  get(group: string, plural: string): ResourceDefinition;
  /**
   * Calls `listener` after each change, in the same turn of the event loop. Returns a function that removes
   * the listener.
   */
  onChange(listener: () => void): () => void;
  /** Returns a signal that aborts when the kind is removed; undefined for a kind that is never removed. */
  removalOf(definition: ResourceDefinition): AbortSignal | undefined;
}

const pathOf = (definition: ResourceDefinition) => `${apiVersionOf(definition)}/${definition.plural}`;

/** Returns the kinds whose objects are stored under their own definition. */
export const storedOf = (definitions: readonly ResourceDefinition[]): readonly ResourceDefinition[] =>
  definitions.filter((one) => isMainVersion(one) && !one.isReview && !one.isMeasured);

export class KindSet implements Kinds {
  #all: readonly ResourceDefinition[] = [];
  #stored: readonly ResourceDefinition[] = [];
  #byPath = new Map<string, ResourceDefinition>();
  readonly #removals = new Map<ResourceDefinition, AbortController>();
  readonly #listeners = new Set<() => void>();

  /**
   * Creates a set in which `definitions` are permanent. Throws when two definitions serve the same address.
   */
  constructor(definitions: readonly ResourceDefinition[]) {
    this.#set(definitions);
  }

  get all(): readonly ResourceDefinition[] {
    return this.#all;
  }

  get stored(): readonly ResourceDefinition[] {
    return this.#stored;
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byPath.get(`${apiVersionOf({ group, version })}/${plural}`);
  }

  get(group: string, plural: string): ResourceDefinition {
    const found = this.#all.find((d) => d.group === group && d.plural === plural && isMainVersion(d));
    if (!found) throw new Error(`no definition for ${plural} in group ${JSON.stringify(group)}`);
    return found;
  }

  /** Adds kinds. Throws when another kind is served at an address. */
  add(...definitions: readonly ResourceDefinition[]): void {
    this.replace([], definitions);
  }

  /** Removes kinds that were added. Their stored objects stay, and the same kind may be added again. */
  remove(...definitions: readonly ResourceDefinition[]): void {
    this.replace(definitions, []);
  }

  /**
   * Removes and adds kinds in one change, so that an address is served all the time. Throws as `add` and
   * `remove` do; then nothing has changed.
   */
  replace(removed: readonly ResourceDefinition[], added: readonly ResourceDefinition[]): void {
    const wrong = removed.find((definition) => !this.#removals.has(definition));
    if (wrong) throw new Error(`${pathOf(wrong)} cannot be removed: it was not added`);
    const gone = new Set(removed);
    this.#set([...this.#all.filter((definition) => !gone.has(definition)), ...added]);
    for (const definition of removed) {
      this.#removals.get(definition)?.abort();
      this.#removals.delete(definition);
    }
    for (const definition of added) this.#removals.set(definition, new AbortController());
    this.#notify();
  }

  onChange(listener: () => void): () => void {
    // A new function for each call, so that one listener can be registered twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  removalOf(definition: ResourceDefinition): AbortSignal | undefined {
    return this.#removals.get(definition)?.signal;
  }

  #set(all: readonly ResourceDefinition[]): void {
    const byPath = new Map<string, ResourceDefinition>();
    for (const definition of all) {
      const path = pathOf(definition);
      if (byPath.has(path)) throw new Error(`two definitions serve ${path}: remove one from the registry`);
      byPath.set(path, definition);
    }
    this.#byPath = byPath;
    this.#all = all;
    this.#stored = storedOf(all);
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
