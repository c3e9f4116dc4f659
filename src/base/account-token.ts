/** Tokens of service accounts that Secrets hold, between whoever signs them and the controller that needs them. */

/** Resolves to a token without an end, good while a Secret of that name holds it. */
export type SignSecretToken = (
  namespace: string,
  account: { readonly name: string; readonly uid: string },
  secret: string,
) => Promise<string>;
