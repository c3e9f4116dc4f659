/**
 * The rotation of the authority. All masters follow the record of the rotation in etcd. Like the authority
 * that masters share, the record is stored outside `/registry/`, where no request to the API can reach it.
 */
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { type Current, type Replaceable, replaceable } from '../../base/current.ts';
import { keepDoing } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import {
  parseRotation,
  type RotatingNode,
  type RotationRecord,
  recordAfter,
  refusalOf,
  type Step,
} from '../../pki/authority-rotation.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import type { Store } from '../../storage/store.ts';
import { authorityKey } from './shared-authority.ts';

const prefix = '/pki/';
export const rotationKey = `${prefix}rotation`;

/** Keys in the store: of the authority that masters share, and of the record of its rotation. */
interface Places {
  readonly authority: string;
  readonly rotation: string;
}

const clusterPlaces: Places = { authority: authorityKey, rotation: rotationKey };

export interface StepOptions {
  readonly nodes: readonly RotatingNode[];
  /** Authority of the cluster now. */
  readonly own: KeyAndCertificate;
  readonly make: () => Promise<KeyAndCertificate>;
}

export class AuthorityRotation {
  readonly #store: Store;
  readonly #isShared: () => boolean;
  readonly #places: Places;
  readonly #record: Replaceable<RotationRecord | undefined> = replaceable(undefined);
  #text: string | undefined;

  private constructor(store: Store, isShared: () => boolean, places: Places) {
    this.#store = store;
    this.#isShared = isShared;
    this.#places = places;
  }

  /** Reads the record; `isShared` returns whether masters take the authority from this store. */
  static async open(
    store: Store,
    isShared: () => boolean,
    places = clusterPlaces,
  ): Promise<AuthorityRotation> {
    const rotation = new AuthorityRotation(store, isShared, places);
    await rotation.#read();
    await rotation.#settle();
    return rotation;
  }

  get record(): Current<RotationRecord | undefined> {
    return this.#record;
  }

  /** Follows the record in the store. Resolves when the signal aborts. */
  async follow({ clock, log }: { readonly clock: Clock; readonly log: Logger }, signal: AbortSignal) {
    const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 });
    const onError = (error: unknown) =>
      log.warn('cannot read the rotation of the authority; trying again', { error: errorMessage(error) });
    await keepDoing({ clock, signal, restMs: 0, backoff, onError }, async () => {
      const after = await this.#store.currentRevision();
      await this.#read();
      for await (const { events } of this.#store.watch(prefix, after, signal))
        if (events.some(({ key }) => key === this.#places.rotation)) await this.#read();
    });
  }

  /** Resolves to the reason for which a step would be refused, in one line; to undefined if there is none. */
  async refusal(step: Step, nodes: readonly RotatingNode[]): Promise<string | undefined> {
    const stored = await this.#store.get(this.#places.rotation);
    return refusalOf(step, stored && parseRotation(stored.value.toString()), nodes);
  }

  /**
   * Does a step. Resolves to the reason if it is refused, in one line. A step that was done already is not an
   * error, so that a command can be repeated.
   */
  async step(step: Step, { nodes, own, make }: StepOptions): Promise<string | undefined> {
    const stored = await this.#store.get(this.#places.rotation);
    const record = stored && parseRotation(stored.value.toString());
    const refusal = refusalOf(step, record, nodes);
    if (refusal !== undefined) return refusal;
    const next = await recordAfter(step, record, own, make);
    const value = Buffer.from(JSON.stringify(next));
    if (stored) await this.#store.update(this.#places.rotation, value, stored.revision);
    else await this.#store.create(this.#places.rotation, value);
    await this.#read();
    await this.#settle();
    return undefined;
  }

  async #read(): Promise<void> {
    const text = (await this.#store.get(this.#places.rotation))?.value.toString();
    if (text === this.#text) return;
    this.#record.replace(text === undefined ? undefined : parseRotation(text));
    this.#text = text;
  }

  /** Stores the new authority of a finished rotation under the key from which other masters read it. */
  async #settle(): Promise<void> {
    const record = this.#record.value;
    if (!this.#isShared() || record?.phase !== 'finish') return;
    const stored = await this.#store.get(this.#places.authority);
    const value = Buffer.from(JSON.stringify(record.next));
    if (stored && !stored.value.equals(value))
      await this.#store.update(this.#places.authority, value, stored.revision);
  }
}
