/** Back-off for containers and image pulls that keep failing (pkg/kubelet: MaxContainerBackOff). */

import type { Container } from '../../../api/core/v1/types.gen.ts';
import { backoffMs } from '../../../base/backoff.ts';
import { specHash } from '../../containers/plan/spec-hash.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { Failure, PodMemory, StartFailure } from './actions.ts';

/** 10 s, 20 s, 40 s … 5 min for the first, second, third failure in a row. */
const backoff = { initialMs: 10_000, maxMs: 300_000 };
/** A container that ran this long has recovered. */
const resetMs = 600_000;

/** The back-off of a container, or of starting it, after this many failures in a row. */
export const restartDelayMs = (failures: number) => backoffMs(backoff, failures);

/** Exits in a row that count against an exited container: what was counted before it started, unless it ran long. */
export function crashesOf(container: ContainerState): number {
  // One of which it is not known when it started, or ended, did not run long.
  const { createdAt, crashes, startedAt = Infinity, finishedAt = createdAt } = container;
  return finishedAt - startedAt >= resetMs ? 0 : crashes;
}

/** When an exited container may start again: at once the first time, then later and later after each exit. */
export function restartAt(container: ContainerState): number {
  return (container.finishedAt ?? container.createdAt) + restartDelayMs(crashesOf(container));
}

/** The failure that follows `previous` (the same reason in a row counts up). */
export function nextFailure<R extends string>(
  previous: Failure<R> | undefined,
  reason: R,
  message: string,
  now: number,
): Failure<R> {
  const count = previous?.reason === reason ? previous.count + 1 : 1;
  return { reason, message, count, failedAt: now, retryAt: now + restartDelayMs(count) };
}

/** What keeps the container from starting at once: a failure of its definition before does not. */
export function startFailureOf(
  { startFailures }: Pick<PodMemory, 'startFailures'>,
  wanted: Pick<Container, 'name' | 'image'>,
): StartFailure | undefined {
  const failure = startFailures.get(wanted.name);
  return failure?.specHash === specHash(wanted) ? failure : undefined;
}
