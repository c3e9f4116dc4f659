/** Secrets that hold a token of a service account, the form of tokens before TokenRequest. */
import type { Secret } from '../types.gen.ts';

export const serviceAccountTokenType = 'kubernetes.io/service-account-token';

/** The author of the Secret names the account; a controller adds the uid of the account with that name. */
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

/** Returns the name of the account whose token the Secret holds; undefined for any other Secret. */
export const accountOf = ({ type, metadata }: Secret): string | undefined =>
  type === serviceAccountTokenType ? metadata.annotations?.[accountNameAnnotation] : undefined;
