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
import { bootstrappersGroup, type UserInfo } from '../../apiserver/request/user.ts';
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
export function bootstrapTokenAuthenticator({ cache, now }: BootstrapTokenOptions): Authenticator {
  return ({ authorization }) => {
    const shown = bearerToken(authorization)?.match(tokenForm)?.groups as Token | undefined;
    if (!shown) return undefined;
    const key = storageKey(secretResource, 'kube-system', `bootstrap-token-${shown.id}`);
    const found = cache.get(key)?.object as Secret | undefined;
    return found && userOf(found, shown, now());
  };
}

function userOf(found: Secret, { id, secret }: Token, now: number): UserInfo | undefined {
  const field = (name: string) => Buffer.from(found.data?.[name] ?? '', 'base64');
  const text = (name: string) => field(name).toString('utf8');
  const expected = field('token-secret');
  const shown = Buffer.from(secret);
  const groups = text('auth-extra-groups')
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
  const valid =
    found.type === 'bootstrap.kubernetes.io/token' &&
    !isTerminating(found) &&
    expected.length === shown.length &&
    timingSafeEqual(expected, shown) &&
    text('token-id') === id &&
    !isOver(text('expiration'), now) &&
    text('usage-bootstrap-authentication') === 'true' &&
    groups.every((group) => groupForm.test(group));
  return valid ? { name: `system:bootstrap:${id}`, groups: [bootstrappersGroup, ...groups] } : undefined;
}

/**
 * Returns whether the token has expired. An invalid time counts as expired, so that it cannot create a token
 * that never expires.
 */
function isOver(expiration: string, now: number): boolean {
  return expiration !== '' && !(Date.parse(expiration) > now);
}
