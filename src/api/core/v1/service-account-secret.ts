/** Secrets that hold a token of a service account, as tokens were before they could be asked for. */
import type { Secret } from './types.gen.ts';

export const serviceAccountTokenType = 'kubernetes.io/service-account-token';

/** Its writer names the account; a controller adds which one of that name it is. */
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

/** The name of the account whose token the Secret holds, or is to hold; undefined for any other Secret. */
export const accountOf = ({ type, metadata }: Secret): string | undefined =>
  type === serviceAccountTokenType ? metadata.annotations?.[accountNameAnnotation] : undefined;
