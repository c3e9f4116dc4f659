/** Ends a node's pods because its machine shuts down: ordinary pods first, critical pods last. */

import { isPodTerminal } from '../../api/core/v1/pod/conditions.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import { type ShutdownPeriods, shutdownPhases } from './plan/shutdown-phases.ts';

export interface ShutdownOptions extends ShutdownPeriods {
  readonly workers: PodWorkers;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Resolves when all pods have ended or the periods are over; a phase ends as soon as its pods have ended. */
export async function endAllPods({ workers, clock, log, ...periods }: ShutdownOptions): Promise<void> {
  const pods = workers.pods().filter((pod) => !isPodTerminal(pod));
  for (const { pods: ending, periodMs } of shutdownPhases(pods, periods)) {
    log.info('stopping pods: this node is shutting down', { pods: ending.length, withinMs: periodMs });
    const over = new AbortController();
    const ended = Promise.all(ending.map(({ uid, end }) => workers.end(uid, end)));
    const late = sleep(clock, periodMs, over.signal).then(() => log.warn('some pods did not stop in time'));
    await Promise.race([ended, late]).finally(() => over.abort());
  }
}
