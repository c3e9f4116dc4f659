/**
 * Changes that mend a fault, as the first cause advises. They are carried out in this order; the object that
 * the user asks about has no problem then.
 */
export interface Mend {
  /** Command lines of `ctl`, in words. */
  readonly run?: readonly (readonly string[])[];
  /**
   * The first command that the answer names, or the first one that matches `of`. Gaps in it are patterns that
   * are replaced.
   */
  readonly named?: { readonly of?: RegExp; readonly gaps?: Readonly<Record<string, string>> };
  /** Objects that are deleted and created again, because their fields cannot be changed. */
  readonly again?: readonly object[];
  /** New objects. */
  readonly add?: readonly object[];
  /** True if the object no longer exists then. */
  readonly removes?: true;
}

/** A fault of a user that a real node makes. */
export interface MadeFault {
  /** A sentence about the mistake. */
  readonly mistake: string;
  /** The object that the user asks about. */
  readonly ask: string;
  readonly objects: readonly object[];
  /** Words of the first cause; all of them must occur. */
  readonly words: readonly RegExp[];
  readonly mend: Mend;
  /** Words of `ctl` that are run once the objects exist. */
  readonly next?: readonly string[];
}
