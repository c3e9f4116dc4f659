/** Record of the requests, answers and events of clients while masters were disturbed. */

export type Verb = 'create' | 'update' | 'delete';

/** `unknown`: no answer, or one that leaves open whether the write was made. */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown';

export interface WriteRecord {
  readonly verb: Verb;
  readonly name: string;
  /** Content that no other write has; absent for a delete. */
  readonly value?: string;
  /** Revision that the object must have for the write to be made; absent for a create. */
  readonly basedOn?: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly outcome: WriteOutcome;
  /** Revision in the answer to an acknowledged create or update. */
  readonly revision?: number;
}

export interface ReadRecord {
  readonly name: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** Undefined if the object was absent. */
  readonly revision: number | undefined;
}

export interface SeenEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** Empty for a bookmark. */
  readonly name: string;
  readonly value: string;
  readonly revision: number;
}

/** Events of one watch, resumed at its last revision whenever its connection ended. */
export interface Sight {
  readonly watcher: string;
  /** Revision after which the watch began. */
  readonly from: number;
  readonly events: readonly SeenEvent[];
}

export interface History {
  readonly writes: readonly WriteRecord[];
  readonly reads: readonly ReadRecord[];
  readonly sights: readonly Sight[];
  /** Revision up to which every watch has been read. */
  readonly end: number;
  /** Content of each object at the end, by name, as each master lists it. */
  readonly lists: readonly ReadonlyMap<string, string>[];
}
