/**
 * Restricts the pods that a node may create: mirror pods of its own static pods, bound to the node and owned
 * by its Node, without references to objects of the API (upstream: NodeRestriction, admitPodCreate).
 */
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { mirrorAnnotation } from '../../api/core/v1/pod/annotations.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { podReferences } from '../../api/core/v1/pod/references.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

/**
 * Returns why the pod is rejected; undefined if it is allowed. Throws a 404 if the Node does not exist.
 * `reservedImage` returns what an image is, if static pods must not run it.
 */
export async function restrictMirror(
  server: Pick<ServerContext, 'cache' | 'clock' | 'latest' | 'store'>,
  nodeName: string,
  pod: Pod,
  reservedImage: (image: string) => string | undefined,
): Promise<string | undefined> {
  const name = `node ${JSON.stringify(nodeName)}`;
  const { metadata, spec } = pod;
  if (metadata.annotations?.[mirrorAnnotation] === undefined)
    return `pod does not have ${JSON.stringify(mirrorAnnotation)} annotation, ${name} can only create mirror pods`;
  if (spec.nodeName !== nodeName) return `${name} can only create pods with spec.nodeName set to itself`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return `${name} can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== nodeResource.kind || owner.name !== nodeName)
    return `${name} can only create pods with an owner reference set to itself`;
  if (owner.controller !== true)
    return `${name} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true)
    return `${name} must not set blockOwnerDeletion on an owner reference`;
  const node = await findObject(server, nodeResource, '', nodeName);
  if (!node) throw newNotFound(nodeResource, nodeName);
  if (owner.uid !== node.metadata.uid)
    return `node ${nodeName} UID mismatch: expected ${owner.uid} got ${node.metadata.uid}`;
  return needsOfTheApi(pod, name, reservedImage);
}

function needsOfTheApi(
  pod: Pod,
  name: string,
  reservedImage: (image: string) => string | undefined,
): string | undefined {
  const cannot = (what: string) => `${name} can not create pods that reference ${what}`;
  if (pod.spec.serviceAccountName) return cannot('a service account');
  const { secrets, configMaps } = podReferences(pod);
  if (secrets.size > 0) return cannot('secrets');
  if (configMaps.size > 0) return cannot('configmaps');
  const [reserved] = pod.spec.containers.flatMap(({ image = '' }) => reservedImage(image) ?? []);
  if (reserved !== undefined) return cannot(reserved);
  const volumes = pod.spec.volumes ?? [];
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle)) return cannot('clustertrustbundles');
  if (sources.some(({ podCertificate }) => podCertificate)) return cannot('podcertificates');
  // The claim of an ephemeral volume is found by its name: it may be the claim of another pod.
  if (volumes.some((volume) => volume.persistentVolumeClaim || volume.ephemeral))
    return cannot('persistentvolumeclaims');
  return undefined;
}
