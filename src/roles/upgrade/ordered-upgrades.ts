/**
 * Upgrades of this machine that an administrator has ordered by an annotation of the machine's Node or Lease.
 * The executable is downloaded from a master and compared with the digest of the order; `minik8s upgrade`
 * runs with it beside the service, so that it outlives the restart of this process and goes back if the new
 * version does not start. An order is carried out once.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  executableDocument,
  parseUpgradeOrder,
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../api/core/v1/node/upgrade.ts';
import type { Clock } from '../../base/clock.ts';
import { Wake } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Transport } from '../../client/transport.ts';
import type { Exec } from '../../os/exec.ts';
import { replaceFile } from '../../os/replace-file.ts';
import { type Attempt, attemptIn } from './attempt.ts';
import { besideService } from './beside-service.ts';

/** The object whose annotations carry the orders and the results. */
export interface OrderedObject {
  /** Annotations of the object; undefined while it is not known. */
  annotations(): Readonly<Record<string, string>> | undefined;
  annotate(name: string, value: string): Promise<void>;
}

export interface OrderedUpgradesOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
  /** Directory of the downloaded executable, and of the record of the last order. */
  readonly directory: string;
  /** Path of the installed executable. */
  readonly executable: string;
  /** Reads the executable that runs, and resolves to its SHA-256 digest. */
  readonly ownDigest: () => Promise<string | undefined>;
  readonly object: OrderedObject;
  /** Resolves to the masters that may serve the executable; they are asked in this order, and closed. */
  readonly sources: () => Promise<readonly Transport[]>;
}

/** Maximum size of a downloaded executable in bytes. */
const maxBytes = 1024 * 1024 * 1024;
/**
 * Interval in milliseconds at which a failed turn is repeated, and at which an upgrade in progress is
 * checked.
 */
const retryMs = 10_000;
const pendingMs = 1_000;

export class OrderedUpgrades {
  readonly #options: OrderedUpgradesOptions;
  readonly #wake = new Wake();
  /** Digest of the executable that runs, which stays the same; undefined until an order needs it. */
  #ownDigest: string | undefined;

  constructor(options: OrderedUpgradesOptions) {
    this.#options = options;
  }

  /** Must be called when the object has changed. */
  readonly changed = (): void => this.#wake.call();

  /** Works until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      this.#wake.forget();
      const restMs = await this.#turn(signal).catch((error) => {
        if (!signal.aborted) log.warn('an ordered upgrade is retried', { error: errorMessage(error) });
        return retryMs;
      });
      await this.#wake.wait(clock, restMs, signal);
    }
  }

  /** Resolves to the time in milliseconds until the next turn, if the object does not change earlier. */
  async #turn(signal: AbortSignal): Promise<number> {
    const { object, log } = this.#options;
    const annotations = object.annotations();
    if (annotations === undefined) return Number.POSITIVE_INFINITY;
    if (annotations[upgradableAnnotation] === undefined) await object.annotate(upgradableAnnotation, 'true');
    const order = parseUpgradeOrder(annotations[upgradeAnnotation]);
    const attempt = attemptIn(await textOf(this.#attemptFile), order);
    if (order === undefined && (attempt === undefined || attempt.isOver)) return Number.POSITIVE_INFINITY;
    const own = await this.#own();
    if (attempt && !attempt.isOver && !(await this.#isOver(attempt, own))) return pendingMs;
    if (order === undefined || order.id === attempt?.id || own === order.sha256)
      return Number.POSITIVE_INFINITY;
    log.info('an upgrade was ordered', { version: order.version });
    const next = { id: order.id, sha256: order.sha256, isOver: false };
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    await this.#keep(next);
    try {
      await this.#start(order, signal);
    } catch (error) {
      signal.throwIfAborted();
      await this.#report(next, errorMessage(error));
      return Number.POSITIVE_INFINITY;
    }
    return pendingMs;
  }

  /**
   * Resolves to the digest of the executable that runs. It is read once: the object of a master changes every
   * two seconds, and reading it takes 0.3 s of processor time.
   */
  async #own(): Promise<string | undefined> {
    this.#ownDigest ??= await this.#options.ownDigest();
    return this.#ownDigest;
  }

  /** Resolves to true if the attempt has ended; its failure is reported, once the unit has printed it. */
  async #isOver(attempt: Attempt, own: string | undefined): Promise<boolean> {
    if (own !== undefined && own === attempt.sha256) {
      await this.#end(attempt);
      return true;
    }
    const [, error] = /^error: (.+)$/m.exec(await textOf(this.#logFile)) ?? [];
    if (error === undefined) return false;
    await this.#report(attempt, error);
    return true;
  }

  async #report(attempt: Attempt, error: string): Promise<void> {
    this.#options.log.error('an ordered upgrade has failed', { error });
    await this.#options.object.annotate(upgradeResultAnnotation, JSON.stringify({ id: attempt.id, error }));
    await this.#end(attempt);
  }

  /**
   * Stores the number of the order, so that the order is not carried out again after the machine went back.
   */
  async #end(attempt: Attempt): Promise<void> {
    await this.#keep({ ...attempt, isOver: true });
    await rm(this.#file, { force: true });
    await rm(this.#logFile, { force: true });
  }

  async #keep(attempt: Attempt): Promise<void> {
    await replaceFile(this.#attemptFile, `${JSON.stringify(attempt)}\n`, { mode: 0o600 });
  }

  /** Downloads the executable and starts the unit; resolves when it runs. */
  async #start(order: UpgradeOrder, signal: AbortSignal): Promise<void> {
    const { exec, executable } = this.#options;
    await this.#download(order, signal);
    await rm(this.#logFile, { force: true });
    // The machine that has ordered the upgrade has created a backup.
    const upgrade = ['upgrade', '--yes', '--no-backup', '--file', this.#file, '--sha256', order.sha256];
    const limits = ['--allow-downgrade', '--timeout', `${Math.floor(order.timeoutSeconds)}s`];
    const [program, ...words] = besideService(this.#logFile, [executable, ...upgrade, ...limits]);
    await exec(program, words);
  }

  /** Rejects if no source serves the executable of the order. */
  async #download(order: UpgradeOrder, signal: AbortSignal): Promise<void> {
    const problems: string[] = [];
    for (const source of await this.#options.sources()) {
      const from = source.host === undefined ? 'the master' : `the master ${source.host}`;
      try {
        const digest = await this.#downloadFrom(source, signal);
        if (digest === order.sha256) return;
        problems.push(
          `${from} serves an executable with the SHA-256 digest ${digest}, not ${order.sha256}: upgrade all masters first`,
        );
      } catch (error) {
        signal.throwIfAborted();
        problems.push(`${from}: ${errorMessage(error)}`);
      } finally {
        source.close();
      }
    }
    throw new Error(problems.join('; ') || 'there is no other master that could serve the executable');
  }

  /** Resolves to the digest of the downloaded executable. */
  async #downloadFrom(source: Transport, signal: AbortSignal): Promise<string> {
    const response = await source.request({ method: 'GET', path: executableDocument, signal });
    const hash = createHash('sha256');
    let size = 0;
    await using file = await open(this.#file, 'w', 0o600);
    for await (const chunk of response.body) {
      if (response.status !== 200) continue;
      size += chunk.byteLength;
      if (size > maxBytes) throw new Error(`its executable has more than ${maxBytes} bytes`);
      hash.update(chunk);
      await file.write(chunk);
    }
    if (response.status !== 200)
      throw new Error(`it answered the download of its executable with status ${response.status}`);
    return hash.digest('hex');
  }

  get #file(): string {
    return join(this.#options.directory, 'minik8s');
  }

  get #attemptFile(): string {
    return join(this.#options.directory, 'attempt');
  }

  get #logFile(): string {
    return join(this.#options.directory, 'log');
  }
}

/** Resolves to the text of a file; to an empty one if there is no file. */
async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}
