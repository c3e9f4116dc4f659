/** Changes of objects by merge patches. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { patchTypes } from '../../../apimachinery/patch.ts';
import { objectPath } from '../../../client/resource-path.ts';
import { may } from '../cluster/access.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { sendJson } from '../cluster/request.ts';

/** Returns the object in the form that readers of fields take. */
export const fieldsOf = (kind: ApiKind, object: KubeObject): JsonObject => ({ ...object, kind: kind.kind });

export const mayPatch = (kind: ApiKind, { metadata }: KubeObject, subresource = ''): boolean =>
  may('patch', kind, metadata.namespace ?? '', { name: metadata.name, subresource });

export async function mergePatch(
  kind: ApiKind,
  { metadata }: KubeObject,
  patch: JsonObject,
  subresource = '',
): Promise<void> {
  const path = objectPath(kind, metadata.name, metadata.namespace, subresource);
  await sendJson('PATCH', path, patch, patchTypes.merge);
}
