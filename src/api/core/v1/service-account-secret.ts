/** Secrets that hold a token of a service account, as tokens were before they could be asked for. */

export const serviceAccountTokenType = 'kubernetes.io/service-account-token';

/** The name of the account, which the writer of the Secret gives. */
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
