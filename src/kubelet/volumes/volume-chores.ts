/**
 * The chores of this node for volumes that are no longer used: it removes folders, and empties volumes for
 * their next claim. The result is written to the volume's status. An agent that is interrupted continues at
 * its next start.
 */

import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import {
  type Chore,
  choreOf,
  emptiedReason,
  removedReason,
  stuckReason,
  volumesOfNode,
} from '../../api/core/v1/volume/chores.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { retry } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from '../../client/reflector.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

export interface VolumeChoresOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Each chore is safe to repeat after an interruption, and ends soon after the signal aborts. */
  readonly run: Readonly<Record<Chore, (volume: PersistentVolume, signal: AbortSignal) => Promise<void>>>;
}

const doneReason: Readonly<Record<Chore, string>> = { remove: removedReason, empty: emptiedReason };

interface Wanted {
  /** Aborts when nothing is left to do for the volume. */
  readonly end: AbortController;
  /** The resourceVersion in which the volume was last seen. */
  version: string;
}

export class VolumeChores implements ReflectorSink<PersistentVolume> {
  readonly #options: VolumeChoresOptions;
  readonly #wanted = new Map<string, Wanted>();
  /** Work in progress by the volume's name; the promises never reject. */
  readonly #busy = new Map<string, Promise<void>>();
  #signal = AbortSignal.abort();

  constructor(options: VolumeChoresOptions) {
    this.#options = options;
  }

  /** Does the chores until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, nodeName, clock, random, log } = this.#options;
    this.#signal = signal;
    const scope = { labelSelector: volumesOfNode(nodeName) };
    const resource = client.resource(persistentVolumeResource);
    await runReflector({ resource, scope, sink: this, clock, random, log }, signal);
    await Promise.all(this.#busy.values());
  }

  replace(volumes: readonly PersistentVolume[]): void {
    const names = new Set(volumes.map(({ metadata }) => metadata.name));
    for (const name of this.#wanted.keys()) if (!names.has(name)) this.#forget(name);
    for (const volume of volumes) this.#see(volume);
  }

  apply({ type, object }: ObjectEvent<PersistentVolume>): void {
    if (type === 'DELETED') this.#forget(object.metadata.name);
    else this.#see(object);
  }

  #see(volume: PersistentVolume): void {
    const { name, resourceVersion: version } = volume.metadata;
    if (!choreOf(volume, this.#options.nodeName)) {
      this.#forget(name);
      return;
    }
    const known = this.#wanted.get(name);
    if (known) known.version = version;
    else this.#wanted.set(name, { end: new AbortController(), version });
    if (!this.#busy.has(name)) this.#busy.set(name, this.#work(name));
  }

  #forget(name: string): void {
    this.#wanted.get(name)?.end.abort();
    this.#wanted.delete(name);
  }

  /**
   * Works until the volume's chore has succeeded or is no longer wanted. Begins only after the caller has
   * stored the promise.
   */
  async #work(name: string): Promise<void> {
    const { clock } = this.#options;
    await Promise.resolve();
    const backoff = new Backoff({ initialMs: 1000, maxMs: 300_000 });
    let written = '';
    const onError = async (error: unknown) => {
      written = await this.#failed(name, errorMessage(error), written);
    };
    while (!this.#signal.aborted) {
      const wanted = this.#wanted.get(name);
      if (!wanted) break;
      const signal = AbortSignal.any([this.#signal, wanted.end.signal]);
      await retry({ clock, signal, backoff, onError }, () => this.#doWanted(name, wanted, signal));
    }
    this.#busy.delete(name);
  }

  async #doWanted(name: string, wanted: Wanted, signal: AbortSignal): Promise<void> {
    const { version } = wanted;
    await this.#do(name, signal);
    // A newer version of the volume, seen meanwhile, may request another chore.
    if (this.#wanted.get(name) === wanted && wanted.version === version) this.#wanted.delete(name);
  }

  /**
   * Writes the failure into the status; returns the message that was written last. The same message is not
   * written twice in succession, because another client may have changed the status since.
   */
  #failed(name: string, message: string, written: string): Promise<string> {
    this.#options.log.warn('the cleanup of a volume failed; retrying', { volume: name, error: message });
    if (message === written) return Promise.resolve(written);
    return this.#writeStatus(name, { phase: 'Failed', reason: stuckReason, message }).then(
      () => message,
      () => written,
    );
  }

  /** Reads the volume from the API server first: it may be in use again. */
  async #do(name: string, signal: AbortSignal): Promise<void> {
    const { client, nodeName, run } = this.#options;
    const volume = await ifPresent(client.resource(persistentVolumeResource).get(name));
    const chore = volume && choreOf(volume, nodeName);
    if (!chore) return;
    await run[chore](volume, signal);
    await this.#writeStatus(name, { phase: 'Released', reason: doneReason[chore] });
  }

  async #writeStatus(name: string, fields: Readonly<Record<string, string>>): Promise<void> {
    const resource = this.#options.client.resource(persistentVolumeResource);
    const volume = await ifPresent(resource.get(name));
    if (!volume || !choreOf(volume, this.#options.nodeName)) return;
    const { reason: _, message: __, ...others } = { ...volume.status };
    const status = { ...others, phase: '', ...fields };
    if (deepEqual(status, volume.status)) return;
    await ifPresent(tolerate(resource.updateStatus({ ...volume, status }), isConflict));
  }
}
