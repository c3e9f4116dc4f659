/** What has to be done so that a Secret holds a token of its account (upstream: pkg/controller/serviceaccount, tokens_controller.go). Pure. */
import type { Secret } from '../../api/core/v1/secret.ts';
import { accountOf, accountUidAnnotation } from '../../api/core/v1/service-account-secret.ts';
import type { ServiceAccount } from '../../api/core/v1/types.gen.ts';
import { isTerminating } from '../../apimachinery/meta.ts';

export type TokenSecretPlan =
  | { readonly type: 'none' }
  /** Its account has gone, or is another one by now. */
  | { readonly type: 'delete' }
  | { readonly type: 'fill'; readonly needsToken: boolean };

/** `authority` in PEM; `account`: the one of that name. */
export function planTokenSecret(
  secret: Secret,
  account: ServiceAccount | undefined,
  authority: string,
): TokenSecretPlan {
  if (accountOf(secret) === undefined || isTerminating(secret)) return { type: 'none' };
  const uid = secret.metadata.annotations?.[accountUidAnnotation];
  if (!account || (uid && uid !== account.metadata.uid)) return { type: 'delete' };
  // What ends with its account is deleted when that has gone.
  if (isTerminating(account)) return { type: 'none' };
  const { data = {} } = secret;
  const isWhole = uid && data.token && data.namespace && data['ca.crt'] === encoded(authority);
  return isWhole || secret.immutable ? { type: 'none' } : { type: 'fill', needsToken: !data.token };
}

/** The Secret with all that it lacks; `token` where it has none yet. */
export function filledSecret(
  secret: Secret,
  account: ServiceAccount,
  authority: string,
  token: string | undefined,
): Secret {
  const { namespace = '', annotations } = secret.metadata;
  const { data = {} } = secret;
  return {
    ...secret,
    metadata: {
      ...secret.metadata,
      annotations: { ...annotations, [accountUidAnnotation]: account.metadata.uid },
    },
    data: {
      ...data,
      'ca.crt': encoded(authority),
      namespace: data.namespace || encoded(namespace),
      ...(token !== undefined && { token: encoded(token) }),
    },
  };
}

/** Base64 of text. */
const encoded = (text: string) =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
