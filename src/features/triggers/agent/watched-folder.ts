/**
 * Reports the changes of the files in one folder. A change counts as reported once its event is stored in the
 * API, and is then recorded.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  StatusError,
} from '../../../apimachinery/status-error.ts';
import { Backoff } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import { keepDoing, Wake } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../client/client.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { tolerate } from '../../../controller-runtime/tolerate.ts';
import { nameMatcher } from '../api/file-name-pattern.ts';
import { type FolderWatch, folderWatchResource, watchingReason } from '../api/folder-watch.ts';
import { triggerEventResource } from '../api/trigger-event.ts';
import { FolderAlarm } from './folder-alarm.ts';
import type { FolderMemory } from './folder-memory.ts';
import { FolderProblem, type Listing, listFolder, openWatched, readContent } from './open-folder.ts';
import { fileEvent } from './plan/file-event.ts';
import {
  type FolderChange,
  type Mark,
  planChanges,
  type Resting,
  reportedBefore,
} from './plan/folder-changes.ts';

export interface WatchedFolderOptions {
  readonly watch: FolderWatch;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly memory: FolderMemory;
  /** Folders of this node that may be watched, with everything in them. */
  readonly allowed: readonly string[];
  /** Maximum number of files in the folder; default `maxWatchedFiles`. */
  readonly maxFiles?: number;
}

type Status = NonNullable<FolderWatch['status']>;

/**
 * Interval in milliseconds at which the folder is read in any case, because the kernel may have dropped an
 * event.
 */
const lookEvery = 60_000;
/** Delay after an event, so that events that follow at once do not cause another read. */
const quietMs = 50;
/** Minimum pause after a reading of the folder, as a multiple of the time that the reading took. */
const restOfLook = 5;
/** Interval between attempts while too many events wait for delivery. */
const roomEvery = 2000;
const changesBetweenWrites = 200;
const maxMessageLength = 1000;

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

export class WatchedFolder {
  readonly #options: WatchedFolderOptions;
  readonly #isMeant: (name: string) => boolean;
  readonly #alarm = new FolderAlarm(() => this.#wake.call());
  readonly #wake = new Wake();
  #reported: Map<string, Mark> | undefined;
  #resting: Resting = new Map();
  /** Number of changes that were reported and are not on disk yet. */
  #unsaved = 0;
  #written: Status;

  constructor(options: WatchedFolderOptions) {
    this.#options = options;
    const { pattern } = options.watch.spec;
    this.#isMeant = pattern === undefined ? () => true : nameMatcher(pattern);
    this.#written = options.watch.status ?? {};
  }

  /** Watches until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, watch } = this.#options;
    const backoff = new Backoff({ initialMs: 1000, maxMs: 30_000 }, random);
    let lookMs = 0;
    const settleMs = () => Math.max(quietMs, restOfLook * lookMs);
    const onError = (error: unknown) =>
      log.warn('cannot find the changes in a folder; trying again', {
        name: watch.metadata.name,
        error: errorMessage(error),
      });
    const turns = { wake: this.#wake, settleMs, backoff, wakesRetry: true, onError };
    await keepDoing({ clock, signal, ...turns }, async () => {
      const begun = clock.monotonic();
      try {
        return Math.min(lookEvery, (await this.#look(signal)) ?? lookEvery);
      } catch (error) {
        if (signal.aborted || !(error instanceof FolderProblem)) throw error;
        await this.#writeStatus({ reason: error.reason, message: error.message });
        return lookEvery;
      } finally {
        lookMs = clock.monotonic() - begun;
      }
    });
    this.#alarm.close();
  }

  /** Reads the folder and reports its changes; returns the milliseconds after which it must be read again. */
  async #look(signal: AbortSignal): Promise<number | undefined> {
    const { watch, allowed, clock } = this.#options;
    const begun = clock.monotonic();
    this.#alarm.begin();
    try {
      await using folder = await openWatched(watch, allowed);
      const listing = await listFolder(folder, {
        isMeant: this.#isMeant,
        recursive: watch.spec.recursive,
        maxFiles: this.#options.maxFiles,
        onFolder: (path, inner) => this.#alarm.add(path, inner),
      });
      const look = { begun, ended: clock.monotonic() };
      this.#reported ??= await this.#remembered(listing);
      const plan = planChanges(this.#reported, listing.files, this.#resting, look);
      this.#resting = plan.resting;
      const isWhole = await this.#reportAll(folder, plan.changes, this.#reported, signal);
      await this.#writeStatus({
        reason: watchingReason,
        message: this.#notes(listing),
        ...(!isWhole && { waiting: true }),
      });
      return isWhole ? plan.again : roomEvery;
    } catch (error) {
      if (error instanceof FolderProblem && error.reason === 'FolderMissing')
        await this.#alarm.addNearest(join(watch.spec.folder, watch.spec.path));
      throw error;
    } finally {
      this.#alarm.end();
    }
  }

  async #remembered(listing: Listing): Promise<Map<string, Mark>> {
    const { watch, memory, log } = this.#options;
    try {
      const reported = await memory.read(watch);
      if (reported) return reported;
    } catch (error) {
      log.warn('cannot read which changes of a folder were reported; some are reported again', {
        error: errorMessage(error),
      });
    }
    const reported = reportedBefore(listing.files, Date.parse(watch.spec.since));
    await memory.write(watch, reported);
    return reported;
  }

  /** Reports the changes. Returns false when no more events can be stored now. */
  async #reportAll(
    folder: FileHandle,
    changes: readonly FolderChange[],
    reported: Map<string, Mark>,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      for (const change of changes) {
        signal.throwIfAborted();
        // A request to the API server is not aborted, because the event may still be stored.
        const outcome = await this.#reportWatched(folder, change);
        if (outcome === 'full') return false;
        if (outcome === 'changed') continue;
        remember(reported, change);
        if (++this.#unsaved >= changesBetweenWrites) await this.#save(reported);
      }
      return true;
    } finally {
      // Includes changes that an earlier pass could not save.
      if (this.#unsaved > 0) await this.#save(reported);
    }
  }

  async #save(reported: Map<string, Mark>): Promise<void> {
    await this.#options.memory.write(this.#options.watch, reported);
    this.#unsaved = 0;
  }

  async #report(folder: FileHandle, change: FolderChange): Promise<'reported' | 'full' | 'changed'> {
    const { watch, client, clock } = this.#options;
    const isRead = watch.spec.includeContent && change.type !== 'Deleted';
    const content = isRead ? await readContent(folder, change.path, change.mark) : undefined;
    // The file has changed again: the next pass reports it.
    if (isRead && !content) return 'changed';
    const draft = fileEvent(watch, change, content, clock.now(), digest);
    try {
      // In a namespace that is being deleted the event would not be delivered, so it need not be stored.
      const created = client.resource(triggerEventResource).create(draft);
      await tolerate(created, isAlreadyExists, isNamespaceTerminating, isNotFound);
      return 'reported';
    } catch (error) {
      if (error instanceof StatusError && error.status.reason === 'TooManyRequests') return 'full';
      throw error;
    }
  }

  /** Reports a change of a type that the trigger watches; other changes are only remembered. */
  async #reportWatched(folder: FileHandle, change: FolderChange) {
    const isWatched = this.#options.watch.spec.types.includes(change.type);
    return isWatched ? this.#report(folder, change) : undefined;
  }

  #notes({ unnamed }: Listing): string {
    const notes: string[] = [];
    if (unnamed > 0) notes.push(`${unnamed} files have names that are not UTF-8 and are not reported`);
    if (this.#alarm.fault !== undefined)
      notes.push(`it is read only once a minute, because it cannot be watched: ${this.#alarm.fault}`);
    return notes.join('; ');
  }

  /** Writes a status once; a write that failed is repeated in the next pass. */
  async #writeStatus({ reason, message, waiting = false }: Status): Promise<void> {
    const { watch, client, log } = this.#options;
    const { name, namespace = '' } = watch.metadata;
    const status = { reason, message: message?.slice(0, maxMessageLength), waiting };
    if (deepEqual(status, this.#written)) return;
    try {
      await ifPresent(
        client.resource(folderWatchResource).patch(name, namespace, 'merge', { status }, 'status'),
      );
      this.#written = status;
    } catch (error) {
      log.warn('cannot write the status of a watched folder', { name, error: errorMessage(error) });
    }
  }
}

function remember(reported: Map<string, Mark>, change: FolderChange): void {
  if (change.type === 'Deleted') reported.delete(change.path);
  else reported.set(change.path, change.mark);
}
