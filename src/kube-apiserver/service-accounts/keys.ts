/**
 * The keys of service account tokens. They are stored like the other data that masters share
 * (roles/master/shared-authority.ts): outside `/registry/`, so that no request to the API can read
 * them. All masters watch them; the first that finds a new key due creates it.
 */
import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
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
  /** Time in milliseconds for which a key signs; with infinity there is only one key. */
  readonly ageMs: number;
}

/** Symmetric keys for one purpose, and what they were derived from. */
interface Derived {
  readonly keys: KeySet;
  readonly signer: TokenKey | undefined;
  readonly secrets: readonly Buffer[];
}

const retry = { initialMs: 100, maxMs: 30_000 };

export class AccountKeys {
  readonly #options: AccountKeysOptions;
  readonly #log: Logger;
  /** The keys as last read; empty before `open`. */
  #keys: KeySet = [];
  #publicKeys: readonly KeyObject[] = [];
  #revision = 0;
  readonly #derived = new Map<string, Derived>();
  readonly #changed = new Wake();

  constructor(options: AccountKeysOptions) {
    this.#options = options;
    this.#log = options.log.named('service-account-keys');
  }

  /** Keys that verify tokens; another array after every change. */
  get publicKeys(): readonly KeyObject[] {
    return this.#publicKeys;
  }

  /**
   * Reads the keys, and creates the first one if there is none. Rejects with a one-line error if they cannot
   * be read.
   */
  async open(): Promise<void> {
    const { store } = this.#options;
    const stored = await store.get(accountKeysKey);
    this.#take(stored ?? (await this.#makeFirst()));
  }

  /**
   * Follows changes by other masters, and creates a new key when one is due. Resolves when the signal aborts.
   */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#renew(signal)]);
  }

  /**
   * Returns a signed token. `until` is its expiration in milliseconds since the epoch; null for a token that
   * never expires.
   */
  async sign(claims: object, until: number | null): Promise<string> {
    for (;;) {
      const signer = signerAt(this.#keys, this.#options.clock.now());
      if (!signer?.privateKey) throw new Error('there is no key yet that signs tokens of service accounts');
      const allowed = allowUntil(this.#keys, signer, until);
      if (allowed === this.#keys) return signToken(createPrivateKey(signer.privateKey), claims);
      // The limit is written before the token is signed, so that no token outlives its key if the write
      // fails.
      await this.#write(allowed);
    }
  }

  /**
   * Returns symmetric keys of 32 bytes for another purpose, which all masters derive alike: the one to use
   * now first, then those of other keys that sign soon or have signed within the last hours.
   */
  derive(purpose: string): readonly Buffer[] {
    const signer = signerAt(this.#keys, this.#options.clock.now());
    const known = this.#derived.get(purpose);
    if (known?.keys === this.#keys && known.signer === signer) return known.secrets;
    const others = this.#keys.filter((key) => key !== signer);
    const secrets = [...(signer ? [signer] : []), ...others].flatMap(({ privateKey }) =>
      privateKey === undefined ? [] : [Buffer.from(hkdfSync('sha256', privateKey, '', purpose, 32))],
    );
    this.#derived.set(purpose, { keys: this.#keys, signer, secrets });
    return secrets;
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
        `${accountKeysKey} in etcd does not hold the keys of service accounts: delete it, and new keys are created; all existing tokens become invalid then`,
      );
    this.#keys = keys;
    this.#revision = revision;
    this.#publicKeys = keys.map(({ publicKey }) => createPublicKey(publicKey));
    this.#changed.call();
  }

  /**
   * Writes the keys; afterwards the keys in memory are either these or those that another master wrote
   * meanwhile.
   */
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
    const { clock } = this.#options;
    const backoff = new Backoff(retry);
    await keepDoing({ clock, signal }, async () => {
      const before = this.#revision;
      await this.#watch(before, signal);
      if (this.#revision > before) backoff.reset();
      return backoff.next();
    });
  }

  /** Applies changes until the watch ends, and reads the keys again if it failed. */
  async #watch(after: number, signal: AbortSignal): Promise<void> {
    try {
      for await (const { events } of this.#options.store.watch(prefix, after, signal))
        for (const event of events) await this.#apply(event);
    } catch (error) {
      if (signal.aborted) return;
      // Missed changes are in the current value; an unavailable store is retried.
      this.#log.debug('the watch of the keys ended', { error: errorMessage(error) });
      await this.#tolerate('read', () => this.open());
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
    await keepDoing({ clock, signal, wake: this.#changed }, async () => {
      const plan = planKeys(this.#keys, clock.now(), ageMs, newKeyPair);
      const done =
        plan.keys === this.#keys || (await this.#tolerate('renewed', () => this.#replace(plan.keys)));
      if (!done) return backoff.next();
      backoff.reset();
      return plan.next - clock.now();
    });
  }

  async #replace(keys: KeySet): Promise<void> {
    const known = new Set(this.#keys.map((key: TokenKey) => key.publicKey));
    await this.#write(keys);
    const isNew = keys.some(({ publicKey }) => !known.has(publicKey));
    if (isNew)
      this.#log.info('made a new key for the tokens of service accounts; it begins to sign in an hour');
  }

  /** Returns whether `work` succeeded; a failure is logged, and the previous keys stay valid. */
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
