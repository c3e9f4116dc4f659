/**
 * The keys of service accounts' tokens, kept in the store as what masters share is (roles/control-plane/shared-authority.ts): outside
 * `/registry/`, so that no request to the API reaches them. All masters watch them; whichever finds first that one is due makes it.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { aborted } from '../../base/abort.ts';
import { Backoff } from '../../base/backoff.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import {
  KeyExistsError,
  RevisionMismatchError,
  type Store,
  type StoredValue,
  type StoreEvent,
} from '../../storage/store.ts';
import { newKeyPair, signToken } from './jws.ts';
import {
  allowUntil,
  firstKey,
  type KeySet,
  planKeys,
  readKeys,
  signerAt,
  type TokenKey,
  writeKeys,
} from './key-set.ts';

const prefix = '/service-accounts/';
export const accountKeysKey = `${prefix}keys`;

export interface AccountKeysOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a key signs, in milliseconds; without an end there is no other one. */
  readonly ageMs: number;
}

const retry = { initialMs: 100, maxMs: 30_000 };

export class AccountKeys {
  readonly #options: AccountKeysOptions;
  readonly #log: Logger;
  /** As they were read last; none before `open`. */
  #keys: KeySet = [];
  #publicKeys: readonly KeyObject[] = [];
  #revision = 0;
  #changed = Promise.withResolvers<void>();

  constructor(options: AccountKeysOptions) {
    this.#options = options;
    this.#log = options.log.named('service-account-keys');
  }

  /** Those that verify tokens; another value after every change. */
  get publicKeys(): readonly KeyObject[] {
    return this.#publicKeys;
  }

  /** Reads the keys, and makes the first where there are none. Rejects in one line when they cannot be read. */
  async open(): Promise<void> {
    const { store } = this.#options;
    const stored = await store.get(accountKeysKey);
    this.#take(stored ?? (await this.#makeFirst()));
  }

  /** Follows what other masters do, and makes a new key when one is due. Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#renew(signal)]);
  }

  /** The signed token. `until` says when it is over, in milliseconds since the epoch; null for one that never is. */
  async sign(claims: object, until: number | null): Promise<string> {
    for (;;) {
      const signer = signerAt(this.#keys, this.#options.clock.now());
      if (!signer?.privateKey) throw new Error('there is no key yet that signs tokens of service accounts');
      const allowed = allowUntil(this.#keys, signer, until);
      if (allowed === this.#keys) return signToken(createPrivateKey(signer.privateKey), claims);
      // Before the token: should this fail there is none that outlives its key.
      await this.#write(allowed);
    }
  }

  async #makeFirst(): Promise<StoredValue> {
    const { store, clock, ageMs } = this.#options;
    const value = writeKeys(firstKey(newKeyPair(), clock.now(), ageMs));
    try {
      return { key: accountKeysKey, value, revision: await store.create(accountKeysKey, value) };
    } catch (error) {
      if (!(error instanceof KeyExistsError)) throw error;
      const theirs = await store.get(accountKeysKey);
      if (!theirs) throw new Error(`${accountKeysKey} was removed from etcd meanwhile; start again`);
      return theirs;
    }
  }

  #take({ value, revision }: StoredValue): void {
    if (revision <= this.#revision) return;
    const keys = readKeys(value);
    if (!keys)
      throw new Error(
        `${accountKeysKey} in etcd does not hold the keys of service accounts: delete it, and new ones are made; no token that there is counts any more then`,
      );
    this.#keys = keys;
    this.#revision = revision;
    this.#publicKeys = keys.map(({ publicKey }) => createPublicKey(publicKey));
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Afterwards what is known is either this or what another master wrote meanwhile. */
  async #write(keys: KeySet): Promise<void> {
    const value = writeKeys(keys);
    try {
      const revision = await this.#options.store.update(accountKeysKey, value, this.#revision);
      this.#take({ key: accountKeysKey, value, revision });
    } catch (error) {
      if (!(error instanceof RevisionMismatchError)) throw error;
      this.#take(error.current ?? (await this.#makeFirst()));
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const backoff = new Backoff(retry);
    while (!signal.aborted) {
      const before = this.#revision;
      try {
        for await (const { events } of store.watch(prefix, before, signal))
          for (const event of events) await this.#apply(event);
      } catch (error) {
        if (signal.aborted) return;
        // What was missed is in what there is now; a store that is away is asked again.
        this.#log.debug('the watch of the keys ended', { error: errorMessage(error) });
        await this.#tolerate('read', () => this.open());
      }
      if (this.#revision > before) backoff.reset();
      await sleep(clock, backoff.next(), signal).catch(() => undefined);
    }
  }

  async #apply(event: StoreEvent): Promise<void> {
    if (event.key !== accountKeysKey) return;
    if (event.type === 'put') await this.#tolerate('read', async () => this.#take(event));
    else await this.#tolerate('replaced', () => this.open());
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, ageMs } = this.#options;
    const backoff = new Backoff(retry);
    while (!signal.aborted) {
      const changed = this.#changed.promise;
      const plan = planKeys(this.#keys, clock.now(), ageMs, newKeyPair);
      const done =
        plan.keys === this.#keys || (await this.#tolerate('renewed', () => this.#replace(plan.keys)));
      const waitMs = done ? plan.next - clock.now() : backoff.next();
      if (done) backoff.reset();
      await this.#pause(waitMs, changed, signal);
    }
  }

  async #replace(keys: KeySet): Promise<void> {
    const known = new Set(this.#keys.map((key: TokenKey) => key.publicKey));
    await this.#write(keys);
    const isNew = keys.some(({ publicKey }) => !known.has(publicKey));
    if (isNew) this.#log.info('made a new key for the tokens of service accounts; it signs in an hour');
  }

  /** Until then, or until the keys change. */
  async #pause(ms: number, changed: Promise<void>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const waiting = Number.isFinite(ms)
      ? sleep(this.#options.clock, ms, either).catch(() => undefined)
      : aborted(either);
    try {
      await Promise.race([waiting, changed]);
    } finally {
      over.abort();
    }
  }

  /** Whether it succeeded; a failure is logged, and what was known still counts. */
  async #tolerate(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#log.error(`the keys of service accounts' tokens could not be ${what}`, {
        error: errorMessage(error),
      });
      return false;
    }
  }
}
