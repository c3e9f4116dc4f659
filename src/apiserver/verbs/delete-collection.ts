/** DELETE of a collection: deletes every object that the selectors match, each by itself. */
import { parseListQuery } from '../../apimachinery/list-options.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { selectionOf } from '../reads/selection.ts';
import { deleteObject } from '../registry/delete.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { warner } from '../write-options.ts';
import { readDeleteOptions } from './delete-options.ts';
import { readPage } from './page.ts';

export async function removeCollection(scope: RequestScope): Promise<Response> {
  const { server, definition, served, info, user, aside } = scope;
  const options = await readDeleteOptions(scope);
  const { preconditions, dryRun } = options;
  const warn = warner(scope);
  const query = { ...parseListQuery(scope.query), watch: false, limit: 0, continue: '' };
  const selection = selectionOf(served, info.namespace, query);
  const page = await readPage(server, selection, { ...query, resourceVersion: undefined }, scope);
  for (const { object } of page.items) {
    const { name, namespace = '' } = object.metadata;
    const request = {
      definition,
      namespace,
      name,
      user,
      dryRun,
      options,
      preconditions,
      served,
      warn,
      aside,
    };
    try {
      await deleteObject(server, request);
    } catch (error) {
      // The object was deleted meanwhile, or replaced by another one of the same name.
      if (!isNotFound(error) && !(isConflict(error) && preconditions.uid !== undefined)) throw error;
    }
  }
  const metadata = { resourceVersion: String(page.revision) };
  // The answer has the objects as they were before the delete, as upstream's; a client that needs their
  // current state lists again.
  return scope.encoder.list(scope, metadata, page.items);
}
