/**
 * Tokens of service accounts that are stored in Secrets: the contract between the signer and the controller.
 */

/** Resolves to a token without an expiry, which is valid while a Secret of that name holds it. */
export type SignSecretToken = (
  namespace: string,
  account: { readonly name: string; readonly uid: string },
  secret: string,
) => Promise<string>;
