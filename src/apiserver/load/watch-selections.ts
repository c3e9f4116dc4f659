/**
 * Selections of open watches. Equal selections share one object and are compared with an object once. The
 * total size of one user's selections is limited, because each event is compared with every term of every
 * watch of its prefix.
 */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Keyed, Selection } from '../reads/selection.ts';
import { newTooManyRequests } from './shed.ts';

/**
 * Maximum number of terms in the selectors of one user's watches: requirements and the values of sets. A node
 * has one or two terms in each of its 2,000 watches. Comparing the maximum with an event takes a few
 * milliseconds, storing it some megabytes.
 */
export const maxWatchTerms = 50_000;

/**
 * Number of cached results after which the cache is cleared, since objects come and go while a watch may stay
 * for an hour.
 */
const maxKnown = 512;

/** A selection that several watches share. */
class SharedSelection implements Selection {
  readonly #own: Selection;
  #known = new WeakMap<Keyed, boolean>();
  #knownCount = 0;
  watches = 0;

  constructor(own: Selection) {
    this.#own = own;
  }

  get definition() {
    return this.#own.definition;
  }
  get prefix() {
    return this.#own.prefix;
  }
  get key() {
    return this.#own.key;
  }
  get indexed() {
    return this.#own.indexed;
  }
  get everything() {
    return this.#own.everything;
  }
  get readsObjects() {
    return this.#own.readsObjects;
  }
  get text() {
    return this.#own.text;
  }
  get terms() {
    return this.#own.terms;
  }

  /** Results are cached: an object must not be changed after it has been compared. */
  matches(candidate: Keyed): boolean {
    if (this.watches < 2) return this.#own.matches(candidate);
    const known = this.#known.get(candidate);
    if (known !== undefined) return known;
    if (this.#knownCount++ >= maxKnown) {
      this.#known = new WeakMap();
      this.#knownCount = 1;
    }
    const matches = this.#own.matches(candidate);
    this.#known.set(candidate, matches);
    return matches;
  }
}

export interface WatchedSelection {
  /** Equal to the given selection. */
  readonly selection: Selection;
  /** Must be called once, when the watch ends. */
  leave(): void;
}

export class WatchSelections {
  readonly #limit: number;
  readonly #shared = new Map<ResourceDefinition, Map<string, SharedSelection>>();
  readonly #termsOf = new Map<string, number>();

  constructor(limit = maxWatchTerms) {
    this.#limit = limit;
  }

  /** Throws 429 if the user's watches would have too many terms with one more selection. */
  check(user: string, { terms }: Selection): void {
    if (terms === 0 || this.termsOf(user) + terms <= this.#limit) return;
    throw newTooManyRequests(
      `too many terms in the selectors of watches: those of one user may have at most ${this.#limit} together`,
      retryAfterSeconds,
    );
  }

  /** Returns the number of terms in the selectors of the user's open watches. */
  termsOf(user: string): number {
    return this.#termsOf.get(user) ?? 0;
  }

  /** Counts the selection of a new watch. `served` is the kind in the version that the client addressed. */
  enter(user: string, served: ResourceDefinition, selection: Selection): WatchedSelection {
    const { terms, text } = selection;
    if (text === undefined) return { selection, leave: () => undefined };
    const ofKind = this.#shared.get(served) ?? new Map<string, SharedSelection>();
    this.#shared.set(served, ofKind);
    const shared = ofKind.get(text) ?? new SharedSelection(selection);
    ofKind.set(text, shared);
    shared.watches++;
    this.#count(user, terms);
    const leave = () => {
      this.#count(user, -terms);
      if (--shared.watches > 0) return;
      ofKind.delete(text);
      if (ofKind.size === 0) this.#shared.delete(served);
    };
    return { selection: shared, leave };
  }

  #count(user: string, terms: number): void {
    const now = this.termsOf(user) + terms;
    if (now > 0) this.#termsOf.set(user, now);
    else this.#termsOf.delete(user);
  }
}

/** Seconds; an open watch may stay open for long. */
const retryAfterSeconds = 5;
