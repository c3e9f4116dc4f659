/**
 * One-time codes, with which `ctl dashboard` opens a session in a browser. A code is stored outside
 * `/registry/`, where no request to the API can reach it, under its digest; its credential is encrypted with
 * a key that is derived from the code, so that neither etcd nor a backup contains a credential. Deleting the
 * key redeems the code: if several requests do this, on one master or on several, one of them succeeds.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { isRecord } from '../../apimachinery/equality.ts';
import { newTooManyRequests } from '../../apiserver/load/shed.ts';
import type { Clock } from '../../base/clock.ts';
import { RevisionMismatchError, type Store, type StoredValue } from '../../storage/store.ts';
import { type Lasting, readLasting, writeLasting } from './credential.ts';
import { seal, unseal } from './seal.ts';

export const codesPrefix = '/dashboard/codes/';
export const codeMs = 60_000;
/** Maximum number of codes that one user may have open, and all together. */
const maxOfUser = 8;
const maxOfAll = 1000;
const purpose = 'minik8s dashboard code';

export interface MadeCode {
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Stored beside the sealed credential, so that codes can be counted and removed without being opened. */
interface StoredCode {
  readonly user: string;
  readonly expires: number;
  readonly sealed: string;
}

export class OneTimeCodes {
  readonly #store: Store;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(store: Store, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Creates a code. Throws 429 if all users together have too many. */
  async make(user: string, content: Lasting): Promise<MadeCode> {
    await this.#makeRoom(user);
    const code = randomBytes(32).toString('base64url');
    const expires = Math.min(this.#clock.now() + codeMs, content.until);
    const stored: StoredCode = { user, expires, sealed: seal(keyOf(code), purpose, writeLasting(content)) };
    await this.#store.create(placeOf(code), Buffer.from(JSON.stringify(stored)));
    return { code, expires };
  }

  /** Returns the content of a code and ends the code; undefined if it is unknown, used or expired. */
  async redeem(code: string): Promise<Lasting | undefined> {
    const found = await this.#store.get(placeOf(code));
    if (!found || !(await this.#remove(found))) return undefined;
    const stored = read(found);
    if (!stored || stored.expires <= this.#clock.now()) return undefined;
    const text = unseal([keyOf(code)], purpose, stored.sealed);
    return text === undefined ? undefined : readLasting(text);
  }

  /** Removes expired codes, and the oldest of a user who has too many. */
  async #makeRoom(user: string): Promise<void> {
    const { items } = await this.#store.list(codesPrefix, { limit: maxOfAll + 1 });
    const isOver = (item: StoredValue) => !((read(item)?.expires ?? 0) > this.#clock.now());
    const open = items.filter((item) => !isOver(item));
    const own = open.filter((item) => read(item)?.user === user).sort((a, b) => a.revision - b.revision);
    const tooMany = own.slice(0, Math.max(0, own.length + 1 - maxOfUser));
    for (const item of [...items.filter(isOver), ...tooMany]) await this.#remove(item);
    if (open.length - tooMany.length >= maxOfAll)
      throw newTooManyRequests('too many one-time codes are open', codeMs / 1000);
  }

  /** Returns false if another request has removed the code. */
  async #remove({ key, revision }: StoredValue): Promise<boolean> {
    try {
      await this.#store.delete(key, revision);
      return true;
    } catch (error) {
      if (error instanceof RevisionMismatchError) return false;
      throw error;
    }
  }
}

const placeOf = (code: string) => `${codesPrefix}${createHash('sha256').update(code).digest('base64url')}`;
const keyOf = (code: string) => Buffer.from(hkdfSync('sha256', code, '', purpose, 32));

function read({ value }: StoredValue): StoredCode | undefined {
  const parsed: unknown = JSON.parse(value.toString());
  if (!isRecord(parsed)) return undefined;
  const { user, expires, sealed } = parsed;
  return typeof user === 'string' && typeof expires === 'number' && typeof sealed === 'string'
    ? { user, expires, sealed }
    : undefined;
}
