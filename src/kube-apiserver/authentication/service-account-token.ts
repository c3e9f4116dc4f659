/**
 * Authenticates tokens of service accounts. A token must be signed by this cluster, be valid now and for the
 * requested audience, and belong to an account that still exists, as must the object that the token is bound
 * to (upstream: pkg/serviceaccount, jwt.go and claims.go). Signatures are verified once for each token,
 * everything else on each request.
 */
import { createHash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { podResource } from '../../api/core/v1/pod/pod.ts';
import { secretResource } from '../../api/core/v1/secret.ts';
import { serviceAccountTokenType } from '../../api/core/v1/service-account/secret.ts';
import { serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import { serviceAccountUserName } from '../../apimachinery/account-user.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { Authenticator, KnownUser } from '../../apiserver/authentication/authenticator.ts';
import { bearerToken } from '../../apiserver/authentication/bearer-token.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import type { Cache } from '../../storage/cache.ts';
import type { Store } from '../../storage/store.ts';
import { type AccountClaims, type ObjectRef, readClaims } from '../service-accounts/claims.ts';
import type { Issuer } from '../service-accounts/issuer.ts';
import { type ReadToken, tokenReader } from '../service-accounts/jws.ts';

export interface AccountAuthenticatorOptions {
  /** Keys that verify signatures; another array after every change. */
  readonly keys: { readonly publicKeys: readonly KeyObject[] };
  readonly issuer: Issuer;
  readonly cache: Cache;
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Seconds by which clocks may differ, and for which a token is valid after it or its bound object has
 * expired.
 */
const leeway = 60;
/** Maximum number of cached tokens: a pod has one or two tokens, and a cluster some ten thousand pods. */
const maxVerified = 16_384;
/**
 * Maximum number of characters of a cached token. Longer ones, with audiences of megabytes, are verified each
 * time, because many of them would fill the memory.
 */
const maxKeptLength = 8192;

export function serviceAccountAuthenticator(options: AccountAuthenticatorOptions): Authenticator {
  const { keys, issuer, now } = options;
  let verifiedBy: readonly KeyObject[] = [];
  let read: ReadToken = () => undefined;
  let verified = new BoundedMap<AccountClaims>(maxVerified);

  const claimsOf = (token: string): AccountClaims | undefined => {
    if (verifiedBy !== keys.publicKeys) {
      verifiedBy = keys.publicKeys;
      read = tokenReader(verifiedBy);
      verified = new BoundedMap(maxVerified);
    }
    const digest = createHash('sha256').update(token).digest('base64');
    const known = verified.get(digest);
    if (known) return known;
    const claims = read(token);
    const found = claims && readClaims(claims, issuer.issuers);
    if (found && token.length <= maxKeptLength) verified.set(digest, found);
    return found;
  };

  return async ({ authorization, audiences: asked = issuer.audiences }) => {
    const token = bearerToken(authorization);
    const claims = token && claimsOf(token);
    if (!claims || !isInTime(claims, now() / 1000)) return undefined;
    const meant = claims.audiences.length > 0 ? claims.audiences : issuer.audiences;
    const audiences = meant.filter((one) => asked.includes(one));
    if (audiences.length === 0) return undefined;
    return (await isThere(options, token, claims)) ? { ...userOf(claims), audiences } : undefined;
  };
}

/** Returns whether the token is valid at `now`, in seconds. */
function isInTime(claims: AccountClaims, now: number): boolean {
  const { issuedAt = now, notBefore = now, expires = now } = claims;
  return now + leeway >= Math.max(issuedAt, notBefore) && now - leeway <= expires;
}

type Reader = Pick<AccountAuthenticatorOptions, 'cache' | 'now' | 'store'>;

async function isThere(server: Reader, token: string, claims: AccountClaims): Promise<boolean> {
  const { namespace, account, pod, secret, node, contentOf } = claims;
  const lives = (ref: ResourceRef, place: string, of: ObjectRef) => livesOn(server, ref, place, of);
  if (contentOf !== undefined) return isContent(server, token, claims, contentOf);
  if (!(await lives(serviceAccountResource, namespace, account))) return false;
  if (secret && !(await lives(secretResource, namespace, secret))) return false;
  if (pod) return lives(podResource, namespace, pod);
  return !node || lives(nodeResource, '', node);
}

/** Returns whether the object exists. A deleted object counts until its grace period has passed. */
async function livesOn(
  server: Reader,
  ref: ResourceRef,
  namespace: string,
  { name, uid }: ObjectRef,
): Promise<boolean> {
  const found = await findObject(server, ref, namespace, name);
  if (!found || found.metadata.uid !== uid) return false;
  const { deletionTimestamp } = found.metadata;
  if (!deletionTimestamp) return true;
  return !(Date.parse(deletionTimestamp) < server.now() - leeway * 1000);
}

/**
 * Returns whether a token without expiration is valid: a Secret that is not being deleted must contain it.
 */
async function isContent(
  server: Reader,
  token: string,
  { namespace, account }: AccountClaims,
  name: string,
): Promise<boolean> {
  const isKept = (object: KubeObject | undefined) => object && !object.metadata.deletionTimestamp;
  const secret = await findObject(server, secretResource, namespace, name);
  if (!secret || !isKept(secret) || secret.type !== serviceAccountTokenType) return false;
  if (secret.metadata.labels?.[invalidSince]) return false;
  const kept = Buffer.from(secret.data?.token ?? '', 'base64');
  const shown = Buffer.from(token);
  if (kept.length !== shown.length || !timingSafeEqual(kept, shown)) return false;
  const owner = await findObject(server, serviceAccountResource, namespace, account.name);
  return Boolean(isKept(owner)) && owner?.metadata.uid === account.uid;
}

/** Label with which an administrator invalidates the token of a Secret. */
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';

const extraPrefix = 'authentication.kubernetes.io/';

function userOf({ namespace, account, pod, node, id }: AccountClaims): KnownUser {
  const extra = {
    ...(pod && { 'pod-name': pod.name, 'pod-uid': pod.uid }),
    ...(node && { 'node-name': node.name, ...(node.uid && { 'node-uid': node.uid }) }),
    ...(id && { 'credential-id': `JTI=${id}` }),
  };
  const entries = Object.entries(extra).map(([key, value]) => [`${extraPrefix}${key}`, [value]] as const);
  return {
    name: serviceAccountUserName(namespace, account.name),
    uid: account.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    ...(entries.length > 0 && { extra: Object.fromEntries(entries) }),
  };
}
