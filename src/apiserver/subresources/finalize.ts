/** PUT namespaces/NAME/finalize: the only way to change a namespace's finalizers; the last one lets it go. */
import { type Namespace, namespaceResource } from '../../api/core/v1/namespace.ts';
import { updateObject } from '../registry/update.ts';
import type { RequestScope } from '../request-scope.ts';
import { respondObject } from '../verbs/get.ts';
import { readObjectBody } from '../verbs/read-object.ts';
import { writeOptions } from '../write-options.ts';

export async function finalizeNamespace(scope: RequestScope): Promise<Response> {
  const options = writeOptions(scope, 'UpdateOptions');
  const wanted = (await readObjectBody(scope, options)) as Namespace;
  const { server, info } = scope;
  const object = await updateObject(server, {
    definition: namespaceResource,
    namespace: '',
    name: info.name,
    part: 'main',
    subresource: 'finalize',
    options,
    trusted: true,
    change(current) {
      const { uid, resourceVersion } = wanted.metadata;
      const namespace = current as Namespace;
      namespace.spec = { ...namespace.spec, finalizers: wanted.spec?.finalizers ?? [] };
      if (uid) namespace.metadata.uid = uid;
      if (resourceVersion) namespace.metadata.resourceVersion = resourceVersion;
      return namespace;
    },
  });
  return respondObject(scope, 200, { object });
}
