/**
 * The state machine of the reflector, as pure functions over five states (after kube-rs' watcher):
 *
 *   list ──page──▶ page ──▶ … ──▶ listed ──▶ watch ──410──▶ list
 *   any failure ──▶ wait ──▶ the state that failed, or a list when history is lost
 */
import type { KubeObject } from '../apimachinery/meta.ts';
import { isExpired, StatusError } from '../apimachinery/status-error.ts';

/**
 * Begins a list. `from` is the oldest acceptable resourceVersion: '0' accepts any, '' requires the newest.
 */
interface ListState {
  readonly phase: 'list';
  readonly from: string;
  readonly paged: boolean;
}

interface PageState<T> {
  readonly phase: 'page';
  readonly from: string;
  readonly continue: string;
  readonly items: readonly T[];
}

interface ListedState<T> {
  readonly phase: 'listed';
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

interface WatchState {
  readonly phase: 'watch';
  readonly resourceVersion: string;
  /** True if the previous watch was ended because it was silent for too long. */
  readonly wasSilent: boolean;
}

export type ActiveState<T> = ListState | PageState<T> | ListedState<T> | WatchState;

interface WaitState<T> {
  readonly phase: 'wait';
  readonly next: ActiveState<T>;
  readonly error: unknown;
}

export type ReflectorState<T> = ActiveState<T> | WaitState<T>;

export type WatchOutcome = {
  readonly resourceVersion: string;
  /** True if anything was received, including a bookmark. */
  readonly heard: boolean;
} & (
  | { readonly how: 'ended'; readonly ms: number }
  | { readonly how: 'silent' }
  | { readonly how: 'failed'; readonly error: unknown }
);

/** A watch without an event that ends sooner than this has failed (client-go: "very short watch"). */
const shortWatchMs = 1_000;

export const initialState: ListState = { phase: 'list', from: '0', paged: true };

/** Returns the state after a list or a page of it failed. */
export function afterListFailure<T extends KubeObject>(
  state: ListState | PageState<T>,
  error: unknown,
): ReflectorState<T> {
  // The snapshot of the pages is gone: request the whole list in one piece.
  if (state.phase === 'page' && isExpired(error)) return { phase: 'list', from: state.from, paged: false };
  // The version is compacted, or the server is behind (it lost data): list its current state.
  if (state.phase === 'list' && state.from !== '' && (isExpired(error) || isTooLarge(error))) {
    return { phase: 'list', from: '', paged: state.paged };
  }
  return { phase: 'wait', next: state, error };
}

export function afterWatch<T extends KubeObject>(
  state: WatchState,
  outcome: WatchOutcome,
): ReflectorState<T> {
  const { resourceVersion } = outcome;
  const again: ActiveState<T> = { phase: 'watch', resourceVersion, wasSilent: false };
  const relist: ActiveState<T> = { phase: 'list', from: resourceVersion, paged: true };
  switch (outcome.how) {
    case 'ended':
      if (outcome.heard || outcome.ms >= shortWatchMs) return again;
      return { phase: 'wait', next: again, error: new Error('the watch ended as soon as it began') };
    case 'silent':
      // After one silent watch, the connection may be dead. After two, the server may wait for a version that
      // it will never reach.
      return state.wasSilent && !outcome.heard ? relist : { ...again, wasSilent: true };
    case 'failed':
      return { phase: 'wait', next: isExpired(outcome.error) ? relist : again, error: outcome.error };
  }
}

/** Returns true if the server has not reached the version yet (apimachinery: IsTooLargeResourceVersion). */
const isTooLarge = (error: unknown) =>
  error instanceof StatusError &&
  error.status.details?.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') === true;
