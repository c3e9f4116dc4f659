/**
 * Access of nodes to images: every node reads which images are held, and gets the content of an image only
 * for a pod that is bound to it.
 */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Admission } from '../../../apiserver/admission/plugin.ts';
import type { EngineContext } from '../../../apiserver/server-context.ts';
import { findObject } from '../../../apiserver/stored-object.ts';
import {
  always,
  type NodeAccess,
  type NodeCondition,
  notAllowed,
} from '../../../kube-apiserver/authorization/node-access.ts';
import { archives, type Image, imageResource } from '../api/image.ts';
import { fullImageName, objectNameOf } from '../api/image-name.ts';

const { group, plural } = imageResource;

/**
 * `shared`: images that nodes need besides those of their pods, such as those that functions are built
 * from.
 */
export const imageNodeAccess = (
  server: Pick<EngineContext, 'cache' | 'store'>,
  shared: readonly string[],
): NodeAccess => ({
  rules: [
    { group, resources: [plural], verbs: ['get', 'list', 'watch'], when: always },
    { group, resources: [`${plural}/status`], verbs: ['patch'], when: always },
    { group, resources: [archives], verbs: ['get'], when: isWanted(server, shared) },
  ],
  needsOf: (pod) => [{ resource: archives, names: objectNamesOf(imagesIn(pod)), inCluster: true }],
  restrictions: { [`${group}/${plural}`]: { check: restrictImage } },
});

/** Returns the names of the Images that these names of images may refer to. */
export function objectNamesOf(images: Iterable<string>): readonly string[] {
  const full = [...images].flatMap((image) => fullImageName(image) ?? []);
  return [...new Set(full.map(objectNameOf))];
}

/** Returns the images of the containers and the volumes of a pod. */
export function imagesIn({ spec }: Pod): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  const mounted = volumes.flatMap(({ image }) => image?.reference ?? []);
  return [
    ...[...containers, ...initContainers, ...ephemeralContainers].map(({ image }) => image ?? ''),
    ...mounted,
  ].filter((image) => image !== '');
}

const isWanted = (
  server: Pick<EngineContext, 'cache' | 'store'>,
  shared: readonly string[],
): NodeCondition => {
  const names = new Set(objectNamesOf(shared));
  return async (request, node, { isNeeded }) => {
    if (request.name === '') return false;
    if (names.has(request.name) || (await isNeeded(request, node))) return true;
    const image = await findObject(server, imageResource, '', request.name);
    return image?.spec.allNodes === true;
  };
};

/** A node may report in the status that it has the image, or no longer has it, under its own name. */
function restrictImage(node: string, { subresource, object, old }: Admission): string | undefined {
  const [next, before] = [object as Image | undefined, old as Image | undefined];
  if (subresource !== 'status' || !next || !before)
    return notAllowed(node, 'anything but the status of an image');
  const others = ({ status = {} }: Image) => {
    const { nodes = {}, ...rest } = status;
    return [rest, Object.fromEntries(Object.entries(nodes).filter(([name]) => name !== node))];
  };
  if (!deepEqual(others(next), others(before)))
    return notAllowed(node, 'the status of an image except its own entry of status.nodes');
  const own = next.status?.nodes?.[node];
  return own === undefined || own === next.status?.content?.config.digest
    ? undefined
    : notAllowed(node, 'status.nodes to a digest that the image does not have');
}
