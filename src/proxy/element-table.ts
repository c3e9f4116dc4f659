/**
 * The elements the kernel should hold, built up service by service. Two services may want the same element (a
 * pod behind both): it stays until its last owner lets go, and where they disagree the owner first in the
 * alphabet has it; which of them has an external address is decided before (api/core/v1/external-ports.ts).
 * Knows what changed since the last transaction, so that a change costs what it touches and not what there
 * is.
 */
import { type ElementName, type Elements, elementNames, noElements } from './elements.ts';

export interface Difference {
  readonly removed: Elements;
  readonly added: Elements;
}

type Owners = Map<string, string>;

export class ElementTable {
  /** element → its owners with the value each wants. */
  readonly #wanted = perName(() => new Map<string, Owners>());
  /** What each owner wants. */
  readonly #byOwner = new Map<string, Elements>();
  /** Elements touched since the last commit, with the value the kernel has. */
  readonly #touched = perName(() => new Map<string, string | undefined>());

  /** Makes `elements` all that `owner` wants. */
  replace(owner: string, elements: Elements): void {
    const old = this.#byOwner.get(owner);
    for (const name of elementNames) {
      for (const key of old?.[name].keys() ?? []) {
        if (!elements[name].has(key)) this.#set(name, key, owner, undefined);
      }
      for (const [key, value] of elements[name]) {
        if (old?.[name].get(key) !== value) this.#set(name, key, owner, value);
      }
    }
    if (elementNames.some((name) => elements[name].size > 0)) this.#byOwner.set(owner, elements);
    else this.#byOwner.delete(owner);
  }

  #set(name: ElementName, key: string, owner: string, value: string | undefined): void {
    const owners = this.#wanted[name].get(key) ?? new Map<string, string>();
    const touched = this.#touched[name];
    if (!touched.has(key)) touched.set(key, effective(owners));
    if (value === undefined) owners.delete(owner);
    else owners.set(owner, value);
    if (owners.size === 0) this.#wanted[name].delete(key);
    else this.#wanted[name].set(key, owners);
  }

  /** Everything there should be. */
  all(): Elements {
    const all = noElements();
    for (const name of elementNames) {
      // An element is not kept without owners.
      for (const [key, owners] of this.#wanted[name]) all[name].set(key, effective(owners) as string);
    }
    return all;
  }

  /** What separates the kernel from `all()`. A changed value is in both: nft overwrites no element. */
  difference(): Difference {
    const removed = noElements();
    const added = noElements();
    for (const name of elementNames) {
      for (const [key, before] of this.#touched[name]) {
        const after = effective(this.#wanted[name].get(key));
        if (before === after) continue;
        if (before !== undefined) removed[name].set(key, before);
        if (after !== undefined) added[name].set(key, after);
      }
    }
    return { removed, added };
  }

  /** The kernel now holds `all()`. */
  commit(): void {
    for (const name of elementNames) this.#touched[name].clear();
  }
}

function perName<T>(make: () => T): Readonly<Record<ElementName, T>> {
  return Object.fromEntries(elementNames.map((name) => [name, make()])) as Record<ElementName, T>;
}

/** What the first of the owners wants. */
function effective(owners: Owners | undefined): string | undefined {
  let first: readonly [owner: string, value: string] | undefined;
  for (const entry of owners ?? []) if (!first || entry[0] < first[0]) first = entry;
  return first?.[1];
}
