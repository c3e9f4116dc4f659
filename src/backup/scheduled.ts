/** Backups that a master creates by itself, at an interval, of which it keeps some. */
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Created } from './create.ts';
import { dueInMs, outdatedNames } from './schedule-plan.ts';
import type { BackupStore } from './store.ts';

export interface ScheduleOptions {
  readonly intervalMs: number;
  readonly store: Pick<BackupStore, 'path' | 'list' | 'remove'>;
  /** Number of backups to keep. */
  readonly keep: number;
  /** Creates a backup in the store, unless the signal aborts before. */
  readonly create: (signal: AbortSignal) => Promise<Created>;
  /** Called once for each backup and each failure, with a line for the administrator. */
  readonly report: (outcome: 'BackupCreated' | 'BackupFailed', message: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Milliseconds from the start to the first backup, so that it does not compete with connecting nodes. */
const startMs = 60_000;
/** Delays after a failure in milliseconds. */
const retry = { initialMs: 60_000, maxMs: 3_600_000 };

/**
 * Creates backups until the signal aborts. A backup that was due while no master ran is created a minute
 * after the start.
 */
export function scheduleBackups(options: ScheduleOptions, signal: AbortSignal): Promise<void> {
  const { intervalMs, store, clock, random, report } = options;
  const log = options.log.named('backup');
  const backoff = new Backoff(retry, random);
  const onError = (error: unknown) => {
    const message = `the cluster was not backed up to ${store.path}: ${errorMessage(error)}`;
    log.error(message);
    report('BackupFailed', message);
  };
  const names = async () => (await store.list(signal)).map(({ name }) => name);
  // The backup exists by now, so a failure from here on is no failure of the backup.
  const removeOutdated = async () => {
    const all = await names();
    for (const name of outdatedNames(all, clock.now(), options.keep))
      await store
        .remove(name, signal)
        .catch((error) => log.warn('an old backup cannot be removed', { name, error: errorMessage(error) }));
    return all;
  };
  const withoutList = (error: unknown) => {
    log.warn('old backups cannot be listed', { error: errorMessage(error) });
    return undefined;
  };
  return keepDoing({ clock, signal, backoff, onError, restsFirst: true, restMs: startMs }, async () => {
    const waitMs = dueInMs(await names(), clock.now(), intervalMs);
    if (waitMs > 0) return waitMs;
    const { path, size, manifest } = await options.create(signal);
    log.info('backup created', { path, keys: manifest.keys, revision: manifest.revision, bytes: size });
    report('BackupCreated', `${path}: ${manifest.keys} keys at revision ${manifest.revision}, ${size} bytes`);
    const all = await removeOutdated().catch(withoutList);
    return all ? dueInMs(all, clock.now(), intervalMs) : intervalMs;
  });
}
