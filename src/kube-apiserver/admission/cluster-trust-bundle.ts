/**
 * Checks ClusterTrustBundles: a user who writes a bundle of a signer must be allowed to attest for this
 * signer (upstream: the plugin ClusterTrustBundleAttest), and a bundle has certificates of authorities alone
 * (upstream: validateTrustBundle).
 */
import { X509Certificate } from 'node:crypto';
import {
  type ClusterTrustBundle,
  clusterTrustBundleResource as resource,
  trustBundlePath,
} from '../../api/certificates/v1/cluster-trust-bundle.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import { newForbidden, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { Steps } from '../../apimachinery/steps.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { UserInfo } from '../../apiserver/request/user.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import { type PemBlock, pemBlocks } from '../../formats/pem.ts';
import type { KubeContext } from '../context.ts';
import { changesOwnersAlone } from './owner-changes.ts';
import { mayActForSigner } from './signer-access.ts';

type Parts = Pick<KubeContext, 'authorize' | 'clock' | 'turns'>;

export const clusterTrustBundles = (server: Parts): AdmissionPlugin => ({
  name: 'ClusterTrustBundleAttest',
  async validate({ definition, object, old, user }) {
    if (definition.group !== resource.group || definition.plural !== resource.plural || !object) return;
    const bundle = object as ClusterTrustBundle;
    const before = old as ClusterTrustBundle | undefined;
    await requireAuthorities(server, bundle, before);
    if (!before || !changesOwnersAlone(bundle, before)) await requireAttestation(server, user, bundle);
  },
});

/** Checks the certificates, but not again those of an unchanged text: a later parser may be stricter. */
async function requireAuthorities(
  server: Parts,
  { metadata, spec: { trustBundle } }: ClusterTrustBundle,
  before: ClusterTrustBundle | undefined,
): Promise<void> {
  if (trustBundle === before?.spec.trustBundle) return;
  const causes = await new RequestWork(server).through(bundleCauses(trustBundle));
  if (causes.length > 0) throw newInvalid(resource, metadata.name, causes);
}

async function requireAttestation(
  server: Parts,
  user: UserInfo,
  { metadata, spec: { signerName = '' } }: ClusterTrustBundle,
): Promise<void> {
  if (signerName === '' || (await mayActForSigner(server, user, 'attest', signerName))) return;
  const why = `user not permitted to attest for signerName ${JSON.stringify(signerName)}`;
  throw newForbidden(resource, metadata.name, why);
}

const refused = (why: string): StatusCause => invalidCause(trustBundlePath, '<value omitted>', why);

/** Returns the causes in a bundle; other requests get a turn between two certificates. */
export function* bundleCauses(text: string): Steps<StatusCause[]> {
  const causes: StatusCause[] = [];
  const places = new Map<string, number[]>();
  let count = 0;
  for (const block of pemBlocks(text)) {
    const index = count++;
    const fault = faultOf(block);
    if (fault !== undefined) causes.push(refused(`entry ${index} ${fault}`));
    const content = Buffer.from(block.bytes).toString('latin1');
    places.set(content, [...(places.get(content) ?? []), index]);
    yield;
  }
  if (causes.length > 0) return causes;
  if (count === 0) return [refused('at least one trust anchor must be provided')];
  return [...places.values()]
    .filter(({ length }) => length > 1)
    .map((indices) => refused(`duplicate trust anchor (indices [${indices.join(' ')}])`));
}

/** Returns why a block is not the certificate of an authority; undefined if it is one. */
function faultOf({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  const certificate = certificateOf(bytes);
  if (!certificate) return 'does not parse as X.509';
  return certificate.ca ? undefined : 'does not have the CA bit set';
}

function certificateOf(bytes: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}
