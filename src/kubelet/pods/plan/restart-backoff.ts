/** Back-off for containers and image pulls that keep failing (pkg/kubelet: MaxContainerBackOff). */

import type { Container } from '../../../api/core/v1/types.gen.ts';
import { backoffMs } from '../../../base/backoff.ts';
import { specHash } from '../../containers/plan/spec-hash.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { Failure, PodMemory, StartFailure } from './actions.ts';

/** Delays of 10 s, 20 s, 40 s … 5 min for the first, second, third consecutive failure. */
const backoff = { initialMs: 10_000, maxMs: 300_000 };
/** A container that ran this long has recovered. */
const resetMs = 600_000;

/**
 * Returns the back-off in milliseconds of a container, or of starting it, after this many consecutive
 * failures.
 */
export const restartDelayMs = (failures: number) => backoffMs(backoff, failures);

/**
 * Returns the consecutive exits that count against an exited container: the count before its start, or 0
 * after a long run.
 */
export function crashesOf(container: ContainerState): number {
  // A container whose start or end is not known did not run long.
  const { createdAt, crashes, startedAt = Infinity, finishedAt = createdAt } = container;
  return finishedAt - startedAt >= resetMs ? 0 : crashes;
}

/**
 * Returns when an exited container may start again: at once after the first exit, then with a growing delay.
 */
export function restartAt(container: ContainerState): number {
  return (container.finishedAt ?? container.createdAt) + restartDelayMs(crashesOf(container));
}

/** Returns the failure that follows `previous` (consecutive failures with the same reason count up). */
export function nextFailure<R extends string>(
  previous: Failure<R> | undefined,
  reason: R,
  message: string,
  now: number,
): Failure<R> {
  const count = previous?.reason === reason ? previous.count + 1 : 1;
  return { reason, message, count, failedAt: now, retryAt: now + restartDelayMs(count) };
}

/**
 * Returns the failure that delays the container's start; a failure of an earlier definition does not count.
 */
export function startFailureOf(
  { startFailures }: Pick<PodMemory, 'startFailures'>,
  wanted: Pick<Container, 'name' | 'image'>,
): StartFailure | undefined {
  const failure = startFailures.get(wanted.name);
  return failure?.specHash === specHash(wanted) ? failure : undefined;
}
