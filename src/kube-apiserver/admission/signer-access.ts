/** Decides whether a user may act for a signer (upstream: pkg/certauthorization). */
import { certificateSigningRequestResource } from '../../api/certificates/v1/certificate-signing-request.ts';
import type { UserInfo } from '../../apiserver/request/user.ts';
import type { KubeContext } from '../context.ts';

/**
 * Returns whether the user has the verb on the signer itself or on all signers of its domain, which is
 * written as `example.com/*`.
 */
export async function mayActForSigner(
  server: Pick<KubeContext, 'authorize'>,
  user: UserInfo,
  verb: 'approve' | 'sign' | 'attest',
  signerName: string,
): Promise<boolean> {
  const { group } = certificateSigningRequestResource;
  for (const name of [signerName, signerName.replace(/\/.*/, '/*')]) {
    const access = { type: 'resource', user, verb, group, resource: 'signers', namespace: '', name } as const;
    if ((await server.authorize(access)).allowed) return true;
  }
  return false;
}
