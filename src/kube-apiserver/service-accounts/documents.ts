/**
 * Documents with which other programs verify tokens of this cluster: the issuer's configuration and its
 * public keys (OpenID Connect Discovery 1.0; upstream: pkg/serviceaccount/openidmetadata.go).
 */
import type { Document } from '../../apiserver/options.ts';
import { respond, respondJson } from '../../apiserver/respond.ts';
import type { KubeContext } from '../context.ts';
import type { KubeApiServerOptions } from '../options.ts';
import { publicJwk, signingAlgorithms } from './jws.ts';
import { announcedMs } from './key-set.ts';

const keysPath = '/openid/v1/jwks';

/** Cached for as long as a new key is published before it signs. */
const cached = { 'cache-control': `public, max-age=${announcedMs / 1000}` };

export function issuerDocuments(
  { issuer, accountKeys }: Pick<KubeContext, 'accountKeys' | 'issuer'>,
  { advertiseAddress, issuer: given }: Pick<KubeApiServerOptions, 'advertiseAddress' | 'issuer'>,
): ReadonlyMap<string, Document> {
  const [name = ''] = issuer.issuers;
  const keysAt = given?.jwksURI ?? `${advertiseAddress ? `https://${advertiseAddress}` : name}${keysPath}`;
  const configuration = JSON.stringify({
    issuer: name,
    jwks_uri: keysAt,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: signingAlgorithms,
  });
  return new Map([
    ['/.well-known/openid-configuration', () => respondJson(200, configuration, cached)],
    [
      keysPath,
      () => {
        const keys = { keys: accountKeys.publicKeys.map(publicJwk) };
        return respond(200, JSON.stringify(keys), { ...cached, 'content-type': 'application/jwk-set+json' });
      },
    ],
  ]);
}
