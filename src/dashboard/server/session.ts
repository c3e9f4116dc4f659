/**
 * Sessions of the dashboard. Everything of a session is in its cookie, sealed with a key that the masters
 * share, so that each of them can open it and none has to store it. The cookie contains a digest of the
 * session's proof (src/apiserver/authentication/browser-session.ts).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isRecord } from '../../apimachinery/equality.ts';
import type { SessionCredentials } from '../../apiserver/authentication/browser-session.ts';
import type { AccountKeys } from '../../kube-apiserver/service-accounts/keys.ts';
import { type Lasting, readLasting, writeLasting } from './credential.ts';
import { seal, unseal } from './seal.ts';

/** Maximum length of the sealed cookie: browsers keep cookies of 4096 bytes. */
export const maxSealed = 3800;
const purpose = 'minik8s dashboard session';

export interface SessionKeys {
  readonly keys: Pick<AccountKeys, 'derive'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const digestOf = (proof: string) => createHash('sha256').update(proof).digest('base64url');

/** Returns a new session; undefined if its credential is too long for a cookie. */
export function newSession(content: Lasting, { keys }: SessionKeys): SessionCredentials | undefined {
  const [key] = keys.derive(purpose);
  if (!key) throw new Error('there is no key yet that seals sessions');
  const proof = randomBytes(32).toString('base64url');
  const sealed = seal(
    key,
    purpose,
    JSON.stringify({ proof: digestOf(proof), content: writeLasting(content) }),
  );
  return sealed.length > maxSealed ? undefined : { sealed, proof };
}

/** Returns the content of a session; undefined for one that is forged, over, or has another proof. */
export function openSession(
  { sealed, proof }: SessionCredentials,
  { keys, now }: SessionKeys,
): Lasting | undefined {
  if (sealed.length > maxSealed) return undefined;
  const text = unseal(keys.derive(purpose), purpose, sealed);
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isRecord(value) || typeof value.proof !== 'string' || typeof value.content !== 'string')
    return undefined;
  const expected = Buffer.from(value.proof);
  const shown = Buffer.from(digestOf(proof));
  if (expected.length !== shown.length || !timingSafeEqual(expected, shown)) return undefined;
  const content = readLasting(value.content);
  return content && content.until > now() ? content : undefined;
}
