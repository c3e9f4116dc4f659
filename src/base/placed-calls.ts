/** Calls of functions that are placed at an instance before they are made: what runs workflows needs of the gateway. */

export interface PlacedCall {
  readonly namespace: string;
  readonly function: string;
  /** Unique for ever. */
  readonly id: string;
}

/** A place at an instance that is held for one call. */
export interface Place {
  /** Uid of the pod. */
  readonly instance: string;
  /** Gives it back; nothing when the call has been made. */
  release(): void;
}

export interface SentCall extends PlacedCall {
  readonly instance: string;
  /** Undefined for a call that was placed by a process that has ended. */
  readonly place: Place | undefined;
  /** Milliseconds since the call may have been sent for the first time. */
  readonly ageMs: number;
  /** JSON. */
  readonly body: string;
}

export type CallOutcome =
  /** `error` is the name that the function gave its error. */
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly error: string | undefined;
      readonly isJson: boolean;
      readonly body: Buffer;
    }
  /** Certainly not made: it may be placed anew. */
  | { readonly type: 'notMade'; readonly why: string }
  /** Nobody knows whether it was made, and nobody will. */
  | { readonly type: 'lost'; readonly why: string }
  /** It may have been made: who asks again may be answered. */
  | { readonly type: 'unclear'; readonly why: string }
  /** It took longer than the function may. */
  | { readonly type: 'late'; readonly why: string };

export interface PlacedCalls {
  /** Whether the function would be given a place at once. */
  hasRoom(call: PlacedCall): boolean;
  /** Waits for a place. Rejects with a Status: 404 where there is no such function, 503 where there is no place in time. */
  place(call: PlacedCall, signal: AbortSignal): Promise<Place>;
  /** Sends it to the instance it was placed at. Rejects when the signal aborts. */
  send(call: SentCall, signal: AbortSignal): Promise<CallOutcome>;
}
