/** GET of a collection. */
import { type ListQuery, parseListQuery } from '../../apimachinery/list-options.ts';
import type { ListMeta } from '../../apimachinery/meta.ts';
import { protobufType } from '../../apimachinery/protobuf/envelope.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import { protobufList } from '../negotiation/protobuf.ts';
import type { RequestScope } from '../request-scope.ts';
import { respond } from '../respond.ts';
import { selectionOf } from '../selection.ts';
import type { StoredObject } from '../stored-object.ts';
import { metadataOf, parseIncludeObject, partialHead, partialObject, tableHead, tableRow } from '../table.ts';
import { respondCollection } from './collection-body.ts';
import { type Page, readPage } from './page.ts';
import { watchCollection } from './watch.ts';

export async function list(scope: RequestScope): Promise<Response> {
  const query = parseListQuery(scope.query);
  return query.watch ? watchCollection(scope, query) : listCollection(scope, query);
}

async function listCollection(scope: RequestScope, query: ListQuery): Promise<Response> {
  const { server, served, info, form } = scope;
  const include = parseIncludeObject(scope.query.get('includeObject'));
  const selection = selectionOf(served, info.namespace, query);
  const page = await readPage(server, selection, query, scope.signal);
  const metadata = listMeta(page);
  const weigh = (item: StoredObject) => item.bytes.length;
  if (form.encoding === 'protobuf') {
    const body = await protobufList(scope, metadata, page.items);
    return respond(200, body, { ...scope.headers, 'content-type': protobufType });
  }
  switch (form.type) {
    case 'table': {
      const tableForm = { definition: served, version: form.version, include, now: server.clock.now() };
      const render = ({ object }: StoredObject) => JSON.stringify(tableRow(tableForm, object));
      const head = tableHead(tableForm, metadata);
      return respondCollection(scope, { head, field: 'rows', items: page.items, render, weigh });
    }
    case 'metadata': {
      const { apiVersion, kind } = partialHead(form.version);
      const head = { kind: `${kind}List`, apiVersion, metadata };
      const render = served.conversion
        ? ({ object }: StoredObject) => JSON.stringify(metadataOf(asServed(served, object), form.version))
        : ({ bytes }: StoredObject) => partialObject(bytes, form.version);
      return respondCollection(scope, { head, field: 'items', items: page.items, render, weigh });
    }
    case 'object': {
      const head = { kind: `${served.kind}List`, apiVersion: apiVersionOf(served), metadata };
      if (served.conversion) {
        const render = ({ object }: StoredObject) => JSON.stringify(asServed(served, object));
        return respondCollection(scope, { head, field: 'items', items: page.items, render, weigh });
      }
      const render = ({ bytes }: StoredObject) => bytes;
      // Nothing is read for it that is not written.
      return respondCollection(scope, { head, field: 'items', items: page.items, render, weigh: () => 0 });
    }
  }
}

function listMeta(page: Page): ListMeta {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue && { continue: page.continue }),
    ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
  };
}
