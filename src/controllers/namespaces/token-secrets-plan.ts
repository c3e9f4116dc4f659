/**
 * Plans the content of a Secret that holds a token of its service account (upstream:
 * pkg/controller/serviceaccount, tokens_controller.go). Pure.
 */
import type { Secret } from '../../api/core/v1/secret.ts';
import { accountOf, accountUidAnnotation } from '../../api/core/v1/service-account/secret.ts';
import type { ServiceAccount } from '../../api/core/v1/types.gen.ts';
import { isTerminating } from '../../apimachinery/meta.ts';

export type TokenSecretPlan =
  | { readonly type: 'none' }
  /** The account has been deleted or replaced. */
  | { readonly type: 'delete' }
  | { readonly type: 'fill'; readonly needsToken: boolean };

/** Returns the plan. `authority` is in PEM; `account` is the account with the name in the Secret. */
export function planTokenSecret(
  secret: Secret,
  account: ServiceAccount | undefined,
  authority: string,
): TokenSecretPlan {
  if (accountOf(secret) === undefined || isTerminating(secret)) return { type: 'none' };
  const uid = secret.metadata.annotations?.[accountUidAnnotation];
  if (!account || (uid && uid !== account.metadata.uid)) return { type: 'delete' };
  // The Secret is deleted only after the account is gone.
  if (isTerminating(account)) return { type: 'none' };
  const { data = {} } = secret;
  const isWhole = uid && data.token && data.namespace && data['ca.crt'] === encoded(authority);
  return isWhole || secret.immutable ? { type: 'none' } : { type: 'fill', needsToken: !data.token };
}

/** Returns the Secret with all missing fields filled. `token` is used if the Secret has none yet. */
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

/** Returns the text in Base64. */
const encoded = (text: string) =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
