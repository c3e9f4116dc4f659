/**
 * Bootstrap tokens, with which a machine joins. A token `<id>.<secret>` is the Secret
 * `kube-system/bootstrap-token-<id>` (plugin/pkg/auth/authenticator/token/bootstrap); the rules are
 * upstream's.
 */
import { timingSafeEqual } from 'node:crypto';
import { type Secret, secretResource } from '../../api/core/v1/secret.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import type { Authenticator } from '../../apiserver/authentication/authenticator.ts';
import { bearerToken } from '../../apiserver/authentication/bearer-token.ts';
import { bootstrappersGroup } from '../../apiserver/request/user.ts';
import type { Cache } from '../../storage/cache.ts';

const tokenForm = /^(?<id>[a-z0-9]{6})\.(?<secret>[a-z0-9]{16})$/;
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** The two parts of a token. */
interface Token {
  readonly id: string;
  readonly secret: string;
}

export interface BootstrapTokenOptions {
  readonly cache: Cache;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Reads the watch cache on every request, so that a created, removed or expired token takes effect at once.
 */
export function bootstrapTokenAuthenticator(options: BootstrapTokenOptions): Authenticator {
  return ({ authorization }) => {
    const found = validToken(authorization, 'usage-bootstrap-authentication', options);
    if (!found) return undefined;
    const groups = fieldOf(found.secret, 'auth-extra-groups')
      .toString('utf8')
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== '');
    if (!groups.every((group) => groupForm.test(group))) return undefined;
    return { name: `system:bootstrap:${found.id}`, groups: [bootstrappersGroup, ...groups] };
  };
}

/** Usage of a token with which a machine becomes a master; such a token has no other usage. */
export const masterUsage = 'usage-minik8s-master';

/**
 * Returns the id of a valid token for masters in a header Authorization; undefined for anything else. A token
 * that never expires is not valid here, because its holder receives the keys of the cluster.
 */
export function masterTokenId(
  authorization: string | undefined,
  options: BootstrapTokenOptions,
): string | undefined {
  const found = validToken(authorization, masterUsage, options);
  return found && fieldOf(found.secret, 'expiration').length > 0 ? found.id : undefined;
}

interface FoundToken {
  readonly id: string;
  readonly secret: Secret;
}

/** Returns the token of the header if it exists, has not expired, and is for this usage. */
function validToken(
  authorization: string | undefined,
  usage: string,
  { cache, now }: BootstrapTokenOptions,
): FoundToken | undefined {
  const shown = bearerToken(authorization)?.match(tokenForm)?.groups as Token | undefined;
  if (!shown) return undefined;
  const key = storageKey(secretResource, 'kube-system', `bootstrap-token-${shown.id}`);
  const secret = cache.get(key)?.object as Secret | undefined;
  return secret && isValid(secret, shown, usage, now()) ? { id: shown.id, secret } : undefined;
}

const fieldOf = (found: Secret, name: string) => Buffer.from(found.data?.[name] ?? '', 'base64');

function isValid(found: Secret, { id, secret }: Token, usage: string, now: number): boolean {
  const text = (name: string) => fieldOf(found, name).toString('utf8');
  const expected = fieldOf(found, 'token-secret');
  const shown = Buffer.from(secret);
  return (
    found.type === 'bootstrap.kubernetes.io/token' &&
    !isTerminating(found) &&
    expected.length === shown.length &&
    timingSafeEqual(expected, shown) &&
    text('token-id') === id &&
    !isOver(text('expiration'), now) &&
    text(usage) === 'true'
  );
}

/**
 * Returns whether the token has expired. An invalid time counts as expired, so that it cannot create a token
 * that never expires.
 */
function isOver(expiration: string, now: number): boolean {
  return expiration !== '' && !(Date.parse(expiration) > now);
}
