/** Resolves paths of the gateway below /trigger to paths of the API. */

import { storagePrefix } from '../../../apimachinery/resource-definition.ts';
import type { Cache, IndexDeclaration } from '../../../storage/cache.ts';
import { type Trigger, triggerResource } from '../api/trigger.ts';
import { triggerAt } from '../api/trigger-path.ts';

/** Triggers by namespace and path, as they are in a URL. */
const triggersByPath: IndexDeclaration = {
  name: 'triggers by path',
  prefix: storagePrefix(triggerResource),
  keysOf: (object) => {
    const path = (object as Trigger).spec.http?.path;
    return path === undefined ? [] : [`${object.metadata.namespace}${path}`];
  },
};

/** Returns the API path for `/trigger/NAMESPACE/PATH`; undefined if no trigger has the path. */
export const triggerPaths =
  (cache: Cache) =>
  (path: string): string | undefined => {
    const [, root, namespace = '', ...rest] = path.split('/');
    if (root !== 'trigger' || rest.length === 0) return undefined;
    const wanted = `/${rest.join('/')}`;
    const found = cache.index(triggersByPath).get(`${namespace}${wanted}`);
    const trigger = triggerAt(
      found.map(({ object }) => object as Trigger),
      wanted,
    );
    return (
      trigger &&
      `/apis/minik8s.io/v1/namespaces/${trigger.metadata.namespace}/triggers/${trigger.metadata.name}/invoke`
    );
  };
