/**
 * Calls of functions that are assigned to an instance before they are sent: the part of the gateway that
 * workflows need.
 */

export interface PlacedCall {
  readonly namespace: string;
  readonly function: string;
  /** Unique id of the call; never reused. */
  readonly id: string;
}

/** A slot at an instance that is reserved for one call. */
export interface Place {
  /** UID of the instance's pod. */
  readonly instance: string;
  /** Releases the slot; does nothing when the call has been made. */
  release(): void;
}

export interface SentCall extends PlacedCall {
  readonly instance: string;
  /** Slot of the call; undefined for a call that was assigned by a process that has ended. */
  readonly place: Place | undefined;
  /** Milliseconds since the call may have been sent for the first time. */
  readonly ageMs: number;
  /** Body of the call in JSON. */
  readonly body: string;
}

export type CallOutcome =
  /** The function responded; `error` is the name that it gave its error. */
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly error: string | undefined;
      readonly isJson: boolean;
      readonly body: Buffer;
    }
  /** The call was certainly not made and may be assigned again. */
  | { readonly type: 'notMade'; readonly why: string }
  /** The result is unknown and will stay unknown. */
  | { readonly type: 'lost'; readonly why: string }
  /** The call may have been made: sending it again may give the response. */
  | { readonly type: 'unclear'; readonly why: string }
  /** The call exceeded the function's timeout. */
  | { readonly type: 'late'; readonly why: string };

export interface PlacedCalls {
  /** Returns true if the function has a free slot now. */
  hasRoom(call: PlacedCall): boolean;
  /**
   * Waits for a slot. Rejects with a Status: 404 if there is no such function, 503 if no slot becomes free in
   * time.
   */
  place(call: PlacedCall, signal: AbortSignal): Promise<Place>;
  /** Sends a call to its assigned instance. Rejects when the signal aborts. */
  send(call: SentCall, signal: AbortSignal): Promise<CallOutcome>;
}
