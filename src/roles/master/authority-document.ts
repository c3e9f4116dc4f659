/**
 * The document of the cluster's authorities: nodes read which authorities to trust, and administrators read
 * the progress of a rotation, and carry out its steps. The document contains no keys.
 */
import { authorityPath } from '../../api/certificates/v1/conditions.ts';
import { issuersAnnotation, trustsAnnotation } from '../../api/core/v1/node/annotations.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Document } from '../../apiserver/options.ts';
import { respondJson, respondText } from '../../apiserver/respond.ts';
import { type Current, replaceable } from '../../base/current.ts';
import { authorityHash } from '../../pki/authority-hash.ts';
import { type RotatingNode, rotationPhases, standingOf } from '../../pki/authority-rotation.ts';
import { type Credentials, newAuthority } from '../../pki/credentials.ts';
import type { Cache } from '../../storage/cache.ts';
import type { AuthorityRotation } from './authority-rotation.ts';
import type { FrontProxy } from './front-proxy.ts';

export interface AuthorityDocumentOptions {
  readonly rotation: AuthorityRotation;
  readonly credentials: Credentials;
  /**
   * Certificates (PEM) that the masters trust: the former authority as long as the API server has a
   * certificate of it.
   */
  readonly authority: Current<string>;
  /** The authority of the front proxy, which is replaced in the same steps. */
  readonly frontProxy: Pick<FrontProxy, 'rotate'>;
  readonly now: () => number;
}

export function authorityDocument(
  options: AuthorityDocumentOptions,
): (cache: Cache) => ReadonlyMap<string, Document> {
  return (cache) => {
    const answer = () => respondJson(200, stateOf(options, nodesIn(cache)));
    const document: Document = async (request) => {
      if (request.method !== 'POST') return answer();
      return (await refused(request.url, options, nodesIn(cache))) ?? answer();
    };
    return new Map([[authorityPath, document]]);
  };
}

/** Carries out the step that the query names. Resolves to the error response if the step is refused. */
async function refused(
  url: string,
  { rotation, credentials, frontProxy, now }: AuthorityDocumentOptions,
  nodes: readonly RotatingNode[],
): Promise<Response | undefined> {
  const query = new URL(url, 'https://localhost').searchParams;
  const step = rotationPhases.find((phase) => phase === query.get('step'));
  if (step === undefined) return respondText(400, `step must be one of ${rotationPhases.join(', ')}\n`);
  const waited = query.get('force') === 'true' ? [] : nodes;
  const own = credentials.authorities.value.server;
  let refusal = await rotation.refusal(step, waited);
  if (refusal === undefined) {
    // An interrupted command continues from the phase of the cluster's authority, which therefore changes
    // last.
    await frontProxy.rotate(step);
    refusal = await rotation.step(step, { nodes: waited, own, make: () => newAuthority(now()) });
  }
  return refusal === undefined ? undefined : respondText(409, `${refusal}\n`);
}

/** Returns the part of the document that nodes follow, in JSON, for nodes that watch it. */
export function watchedAuthorities(
  options: Pick<AuthorityDocumentOptions, 'credentials' | 'authority'>,
): ReadonlyMap<string, Current<string>> {
  const text = () => JSON.stringify(servedBy(options));
  const current = replaceable(text());
  const { credentials, authority } = options;
  for (const source of [credentials.authorities, authority])
    (source as Current<unknown>).onChange(() => current.replace(text()));
  return new Map([[authorityPath, current]]);
}

/**
 * Returns the authorities to trust, and the one that signs certificates of nodes. Nodes must trust a signer
 * from its first signature; a master that follows a rotation trusts a new signer a moment later.
 */
function servedBy({ credentials, authority }: Pick<AuthorityDocumentOptions, 'credentials' | 'authority'>) {
  const { trusted, signer } = credentials.authorities.value;
  const isTrusted = authority.value.includes(signer.certificate.trim());
  return { trusted: isTrusted ? authority.value : trusted, signer: signer.certificate };
}

function stateOf(options: AuthorityDocumentOptions, nodes: readonly RotatingNode[]) {
  const record = options.rotation.record.value;
  const next = record && authorityHash(record.next.certificate);
  return {
    ...servedBy(options),
    ...(record && { phase: record.phase, former: record.former, next }),
    nodes: nodes.map((node) => ({
      name: node.name,
      ...(next !== undefined && { standing: standingOf(node, next) }),
    })),
  };
}

const nodesIn = (cache: Cache): RotatingNode[] =>
  cache
    .list(storagePrefix(nodeResource))
    .map(({ object }) => object as Node)
    .filter(({ status }) => status?.phase !== 'Pending')
    .map(({ metadata: { name, annotations = {} } }) => ({
      name,
      trusts: listed(annotations[trustsAnnotation]),
      issuers: listed(annotations[issuersAnnotation]),
    }));

const listed = (text = '') => text.split(',').filter((hash) => hash !== '');
