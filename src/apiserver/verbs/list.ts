/** GET of a collection. */
import { type ListQuery, parseListQuery } from '../../apimachinery/list-options.ts';
import type { ListMeta } from '../../apimachinery/meta.ts';
import { selectionOf } from '../reads/selection.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { type Page, readPage } from './page.ts';
import { watchCollection } from './watch.ts';

export async function list(scope: RequestScope): Promise<Response> {
  const query = parseListQuery(scope.query);
  return query.watch ? watchCollection(scope, query) : listCollection(scope, query);
}

async function listCollection(scope: RequestScope, query: ListQuery): Promise<Response> {
  const selection = selectionOf(scope.served, scope.info.namespace, query);
  const page = await readPage(scope.server, selection, query, scope);
  return scope.encoder.list(scope, listMeta(page), page.items);
}

function listMeta(page: Page): ListMeta {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue && { continue: page.continue }),
    ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
  };
}
