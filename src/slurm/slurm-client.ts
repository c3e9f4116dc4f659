/** The client of one login host: takes its jobs from the store, runs them on the cluster and writes what came of them. */
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import type { JobStore } from './job-store.ts';

export interface SlurmClientOptions {
  readonly store: JobStore;
  /** Read again whenever the Secret changes. A string says why it cannot be used. */
  readonly connection: Current<ConnectionSettings | string>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends the client. What runs on the cluster goes on, and whoever comes next goes on with it. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when the signal aborts and everything has stopped. Only one may run for a connection at a time (a Lease); should there be
 * two for a moment, each job is still submitted once.
 */
export async function runSlurmClient(_options: SlurmClientOptions): Promise<void> {
  throw new Error('not there yet');
}
