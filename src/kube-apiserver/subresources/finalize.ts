/** PUT namespaces/NAME/finalize: the only way to change a namespace's finalizers; the last one lets it go. */
import { type Namespace, namespaceResource, validateFinalizers } from '../../api/core/v1/namespace.ts';
import { newInvalid } from '../../apimachinery/status-error.ts';
import { respondObject } from '../../apiserver/encoding/answer.ts';
import { updateObject } from '../../apiserver/registry/update.ts';
import type { RequestScope } from '../../apiserver/request-scope.ts';
import { readObjectBody } from '../../apiserver/verbs/read-object.ts';
import { writeOptions } from '../../apiserver/write-options.ts';

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
      // Only the finalizers are new, and nobody else checks them.
      namespace.spec = wanted.spec ?? {};
      const causes = validateFinalizers(namespace);
      if (causes.length > 0) throw newInvalid(namespaceResource, info.name, causes);
      if (uid) namespace.metadata.uid = uid;
      if (resourceVersion) namespace.metadata.resourceVersion = resourceVersion;
      return namespace;
    },
  });
  return respondObject(scope, 200, { object });
}
