/** A fault of a user that a real node makes. */
export interface MadeFault {
  /** A sentence about the mistake. */
  readonly mistake: string;
  /** The object that the user asks about. */
  readonly ask: string;
  readonly objects: readonly object[];
  /** Words of the first cause; all of them must occur. */
  readonly words: readonly RegExp[];
  /** Words of `ctl` that are run once the objects exist. */
  readonly next?: readonly string[];
}
