/**
 * The elements that the kernel should hold, updated service by service. Two services may share an element (a
 * pod behind both): the element is kept until its last owner releases it, and if the owners' values differ,
 * the first owner in alphabetical order decides. The owner of an external address is decided earlier
 * (api/core/v1/service/external-ports.ts). The table records the changes since the last transaction, so that
 * the cost depends on the change and not on the total.
 */
import { type ElementName, type Elements, elementNames, noElements } from './elements.ts';

export interface Difference {
  readonly removed: Elements;
  readonly added: Elements;
}

type Owners = Map<string, string>;

export class ElementTable {
  /** Owners of each element, with the values that they set. */
  readonly #wanted = perName(() => new Map<string, Owners>());
  /** Elements of each owner. */
  readonly #byOwner = new Map<string, Elements>();
  /** Elements changed since the last commit, with the kernel's value. */
  readonly #touched = perName(() => new Map<string, string | undefined>());

  /** Replaces all elements of `owner`. */
  replace(owner: string, elements: Elements): void {
    const old = this.#byOwner.get(owner);
    for (const name of elementNames) this.#replaceNamed(name, owner, old?.[name], elements[name]);
    if (elementNames.some((name) => elements[name].size > 0)) this.#byOwner.set(owner, elements);
    else this.#byOwner.delete(owner);
  }

  #replaceNamed(
    name: ElementName,
    owner: string,
    old: ReadonlyMap<string, string> | undefined,
    wanted: ReadonlyMap<string, string>,
  ): void {
    for (const key of old?.keys() ?? []) {
      if (!wanted.has(key)) this.#set(name, key, owner, undefined);
    }
    for (const [key, value] of wanted) {
      if (old?.get(key) !== value) this.#set(name, key, owner, value);
    }
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

  /** Returns the keys of the elements of one name. */
  keysOf(name: ElementName): ReadonlySet<string> {
    return new Set(this.#wanted[name].keys());
  }

  /** Returns the owner whose value an element has; undefined if there is no such element. */
  ownerOf(name: ElementName, key: string): string | undefined {
    return firstOf(this.#wanted[name].get(key))?.[0];
  }

  /** Returns all elements that the kernel should hold. */
  all(): Elements {
    const all = noElements();
    for (const name of elementNames) {
      // Elements without owners are not kept.
      for (const [key, owners] of this.#wanted[name]) all[name].set(key, effective(owners) as string);
    }
    return all;
  }

  /**
   * Returns the difference between the kernel and `all()`. A changed value is in both parts: nft cannot
   * overwrite an element.
   */
  difference(): Difference {
    const removed = noElements();
    const added = noElements();
    for (const name of elementNames) {
      this.#differenceOf(name, removed[name], added[name]);
    }
    return { removed, added };
  }

  #differenceOf(name: ElementName, removed: Map<string, string>, added: Map<string, string>): void {
    for (const [key, before] of this.#touched[name]) {
      const after = effective(this.#wanted[name].get(key));
      if (before === after) continue;
      if (before !== undefined) removed.set(key, before);
      if (after !== undefined) added.set(key, after);
    }
  }

  /** Records that the kernel now holds `all()`. */
  commit(): void {
    for (const name of elementNames) this.#touched[name].clear();
  }
}

function perName<T>(make: () => T): Readonly<Record<ElementName, T>> {
  return Object.fromEntries(elementNames.map((name) => [name, make()])) as Record<ElementName, T>;
}

/** Returns the value of the first owner. */
const effective = (owners: Owners | undefined): string | undefined => firstOf(owners)?.[1];

function firstOf(owners: Owners | undefined): readonly [owner: string, value: string] | undefined {
  let first: readonly [owner: string, value: string] | undefined;
  for (const entry of owners ?? []) if (!first || entry[0] < first[0]) first = entry;
  return first;
}
