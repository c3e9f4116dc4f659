/**
 * The document of the cluster's authorities: nodes read which authorities to trust, and administrators read
 * how far a rotation is, and do its steps. It has no keys.
 */
import { authorityPath } from '../../api/certificates/v1/conditions.ts';
import { issuersAnnotation, trustsAnnotation } from '../../api/core/v1/node/annotations.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Document } from '../../apiserver/options.ts';
import { respondJson, respondText } from '../../apiserver/respond.ts';
import { authorityHash } from '../../pki/authority-hash.ts';
import { type RotatingNode, rotationPhases, standingOf } from '../../pki/authority-rotation.ts';
import { type Credentials, newAuthority } from '../../pki/credentials.ts';
import type { Cache } from '../../storage/cache.ts';
import type { AuthorityRotation } from './authority-rotation.ts';
import type { FrontProxy } from './front-proxy.ts';

export interface AuthorityDocumentOptions {
  readonly rotation: AuthorityRotation;
  readonly credentials: Credentials;
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

/** Does the step that the query names. Resolves to the answer if it is refused. */
async function refused(
  url: string,
  { rotation, credentials, frontProxy, now }: AuthorityDocumentOptions,
  nodes: readonly RotatingNode[],
): Promise<Response | undefined> {
  const query = new URL(url, 'https://localhost').searchParams;
  const step = rotationPhases.find((phase) => phase === query.get('step'));
  if (step === undefined) return respondText(400, `step must be one of ${rotationPhases.join(', ')}\n`);
  const refusal = await rotation.step(step, {
    nodes: query.get('force') === 'true' ? [] : nodes,
    own: credentials.authorities.value.server,
    make: () => newAuthority(now()),
  });
  if (refusal !== undefined) return respondText(409, `${refusal}\n`);
  await frontProxy.rotate(step);
  return undefined;
}

function stateOf({ rotation, credentials }: AuthorityDocumentOptions, nodes: readonly RotatingNode[]) {
  const { signer, trusted } = credentials.authorities.value;
  const record = rotation.record.value;
  const next = record && authorityHash(record.next.certificate);
  return {
    trusted,
    signer: signer.certificate,
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
