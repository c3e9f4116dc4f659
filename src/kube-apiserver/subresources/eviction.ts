/** POST pods/NAME/eviction: a delete that `kubectl drain` asks for. */
import { podResource } from '../../api/core/v1/pod.ts';
import { newBadRequest } from '../../apimachinery/status-error.ts';
import { respondOther } from '../../apiserver/encoding/answer.ts';
import { deleteObject } from '../../apiserver/registry/delete.ts';
import { isDryRun, type RequestScope } from '../../apiserver/request-scope.ts';
import { parseDeleteFields } from '../../apiserver/verbs/delete-options.ts';
import { objectField, readKind, stringField } from '../../apiserver/verbs/read-object.ts';

export async function evictPod(scope: RequestScope): Promise<Response> {
  const queryDryRun = isDryRun(scope, 'CreateOptions');
  const eviction = await readKind(scope, 'policy.v1.Eviction');
  const { server, info, user } = scope;
  const named = stringField(objectField(eviction, 'metadata'), 'name');
  if (named && named !== info.name) {
    throw newBadRequest('name in URL does not match name in Eviction object');
  }
  const options = parseDeleteFields(objectField(eviction, 'deleteOptions'), []);
  await deleteObject(server, {
    definition: podResource,
    namespace: info.namespace,
    name: info.name,
    user,
    dryRun: queryDryRun || options.dryRun,
    options,
    preconditions: options.preconditions,
  });
  const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return respondOther(scope, 201, done);
}
