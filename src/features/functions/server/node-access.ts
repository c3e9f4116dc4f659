/** Access of nodes to the versions of functions: the sources of images that they build for their pods. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Admission } from '../../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../../apiserver/server-context.ts';
import { findObject } from '../../../apiserver/stored-object.ts';
import {
  isNeededHere,
  type NodeAccess,
  type NodeCondition,
  notAllowed,
} from '../../../kube-apiserver/authorization/node-access.ts';
import { isFunctionImage, namespaceOfFunctionImage } from '../api/function-image.ts';
import { functionVersionLabel } from '../api/function-instance.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';

const { group, plural: versions } = functionVersionResource;

export const functionNodeAccess = (server: Pick<ServerContext, 'cache' | 'store'>): NodeAccess => ({
  rules: [
    { group, resources: [versions], verbs: ['get'], when: isVersionNeeded(server) },
    { group, resources: [`${versions}/status`], verbs: ['update'], when: isNeededHere },
  ],
  needsOf(pod) {
    const version = versionOf(pod);
    if (version === undefined) return [];
    return [versions, `${versions}/status`].map((resource) => ({ resource, names: [version] }));
  },
  restrictions: { [`${group}/${versions}`]: { check: restrictVersion } },
  // A static pod of such an image would let the node read the source of the function.
  reservedImage: (image) => (isFunctionImage(image) ? 'the image of a function' : undefined),
});

/**
 * Returns the version that the pod's label names, if a container has the image of a function: the label alone
 * is not sufficient.
 */
function versionOf({ metadata, spec }: Pod): string | undefined {
  const isInstance = spec.containers.some(
    ({ image }) => namespaceOfFunctionImage(image) === metadata.namespace,
  );
  return isInstance ? metadata.labels?.[functionVersionLabel] : undefined;
}

/**
 * Returns whether a pod of the node needs the version. A request for a deleted version is authorized, so that
 * it is answered with 404 and the node removes the image.
 */
const isVersionNeeded =
  (server: Parameters<typeof functionNodeAccess>[0]): NodeCondition =>
  async (request, node, { isNeeded }) => {
    const { namespace, name } = request;
    if (name === '') return false;
    if (await isNeeded(request, node)) return true;
    return (await findObject(server, functionVersionResource, namespace, name)) === undefined;
  };

/**
 * Restricts the status of a build: a node may report its result under its own name. The lock of libraries can
 * only be set once.
 */
function restrictVersion(node: string, { subresource, object, old }: Admission): string | undefined {
  const [next, before] = [object as FunctionVersion | undefined, old as FunctionVersion | undefined];
  if (subresource !== 'status' || !next || !before)
    return notAllowed(node, 'anything but the status of a version');
  const { lock, log = '', nodeName, conditions = [] } = next.status ?? {};
  if (nodeName !== before.status?.nodeName && nodeName !== node)
    return notAllowed(node, 'status.nodeName to the name of another node');
  if (before.status?.lock !== undefined && lock !== before.status.lock)
    return notAllowed(node, 'a lock that is set already');
  if (Buffer.byteLength(log) > maxLogBytes) return `the log of a build may have at most ${maxLogBytes} bytes`;
  const others = (all: NonNullable<FunctionVersion['status']>['conditions'] = []) =>
    all.filter(({ type }) => type !== 'Built');
  return deepEqual(others(conditions), others(before.status?.conditions))
    ? undefined
    : notAllowed(node, 'conditions but Built');
}

const maxLogBytes = 8 * 1024;
