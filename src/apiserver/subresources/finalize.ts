/** PUT namespaces/NAME/finalize: the only way to change a namespace's finalizers; the last one lets it go. */
import { type Namespace, namespaceResource, validateFinalizers } from '../../api/core/v1/namespace.ts';
import { newInvalid } from '../../apimachinery/status-error.ts';
import { updateObject } from '../registry/update.ts';
import { isDryRun, type RequestScope } from '../request-scope.ts';
import { respondObject } from '../verbs/get.ts';
import { readObjectBody } from '../verbs/read-object.ts';

export async function finalizeNamespace(scope: RequestScope): Promise<Response> {
  const dryRun = isDryRun(scope, 'UpdateOptions');
  const wanted = (await readObjectBody(scope, 'UpdateOptions')) as Namespace;
  const { server, info, user } = scope;
  const object = await updateObject(server, {
    definition: namespaceResource,
    namespace: '',
    name: info.name,
    part: 'main',
    subresource: 'finalize',
    user,
    dryRun,
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
