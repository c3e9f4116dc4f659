/** DELETE of one object. */
import type { Status } from '../../apimachinery/status-error.ts';
import { respondObject, respondOther } from '../encoding/answer.ts';
import { type Deleted, deleteObject } from '../registry/delete.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { warner } from '../write-options.ts';
import { type DeleteBody, readDeleteOptions } from './delete-options.ts';

export async function remove(scope: RequestScope): Promise<Response> {
  const options = await readDeleteOptions(scope);
  const { server, definition, served, info, user, aside } = scope;
  const { preconditions, dryRun } = options;
  const { namespace, name } = info;
  const warn = warner(scope);
  const request = { definition, namespace, name, user, dryRun, options, preconditions, served, warn, aside };
  return respondDeleted(scope, await deleteObject(server, request), options);
}

/**
 * Answers with the object while it exists, and for some kinds always; otherwise with a Status, whose uid
 * kubectl compares. An unfinished delete is 202 only for clients that sent `orphanDependents: false`, as
 * upstream.
 */
function respondDeleted(
  scope: RequestScope,
  { gone, object }: Deleted,
  { withDependents }: Pick<DeleteBody, 'withDependents'>,
): Response {
  const { definition, served } = scope;
  if (!gone) return respondObject(scope, withDependents ? 202 : 200, { object });
  if (definition.deleteAnswers === 'object') return respondObject(scope, 200, { object });
  const status: Omit<Status, 'code'> = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name,
      ...(served.group && { group: served.group }),
      kind: definition.plural,
      uid: object.metadata.uid,
    },
  };
  return respondOther(scope, 200, status);
}
