/**
 * The kinds that are served. Some are there from the beginning; others come and go while the server runs, as those of
 * CustomResourceDefinitions do. Whoever makes something of the kinds listens, or compares `all` with what it was.
 */
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';

export interface Kinds {
  /** In every served version. A new list whenever a kind comes or goes. */
  readonly all: readonly ResourceDefinition[];
  /** Those whose objects are stored, each once, and so can be listed and watched. New lists as above. */
  readonly stored: readonly ResourceDefinition[];
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  /** In the version in which it is stored. Throws when there is no such kind. */
  get(group: string, plural: string): ResourceDefinition;
  /** Calls `listener` after each change, in the same turn of the loop. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
  /** Aborts when the kind goes; undefined for one that never does. */
  removalOf(definition: ResourceDefinition): AbortSignal | undefined;
}

const pathOf = (definition: ResourceDefinition) => `${apiVersionOf(definition)}/${definition.plural}`;

/** The kinds whose objects are stored under their own definition. */
export const storedOf = (definitions: readonly ResourceDefinition[]): readonly ResourceDefinition[] =>
  definitions.filter(({ conversion, isReview, isMeasured }) => !conversion && !isReview && !isMeasured);

export class KindSet implements Kinds {
  #all: readonly ResourceDefinition[] = [];
  #stored: readonly ResourceDefinition[] = [];
  #byPath = new Map<string, ResourceDefinition>();
  readonly #removals = new Map<ResourceDefinition, AbortController>();
  readonly #listeners = new Set<() => void>();

  /** `definitions` are there for good. Throws where two serve one address. */
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
    const found = this.#all.find((d) => d.group === group && d.plural === plural && !d.conversion);
    if (!found) throw new Error(`no definition for ${plural} in group ${JSON.stringify(group)}`);
    return found;
  }

  /** Throws when another kind is served at the address. */
  add(...definitions: readonly ResourceDefinition[]): void {
    this.#set([...this.#all, ...definitions]);
    for (const definition of definitions) this.#removals.set(definition, new AbortController());
    this.#tell();
  }

  /** Of those that were added. What is stored of it stays, and the same kind may come again. */
  remove(...definitions: readonly ResourceDefinition[]): void {
    const wrong = definitions.find((definition) => !this.#removals.has(definition));
    if (wrong) throw new Error(`${pathOf(wrong)} cannot be removed: it was not added`);
    this.#set(this.#all.filter((definition) => !definitions.includes(definition)));
    for (const definition of definitions) {
      this.#removals.get(definition)?.abort();
      this.#removals.delete(definition);
    }
    this.#tell();
  }

  onChange(listener: () => void): () => void {
    // Of its own, so that one function can listen twice.
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

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
