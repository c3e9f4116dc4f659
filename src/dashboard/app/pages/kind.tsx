/** The table of any kind, custom ones too, and the pages of its objects. */
import { kindsByKey } from '../cluster/kinds.ts';
import { ObjectPage } from '../object/object-page.tsx';
import { namespace as scope } from '../shell/scope.ts';
import { KindTable } from '../table/kind-table.tsx';
import type { Page, PageProps } from './page.ts';

function KindPage({ rest: [key = '', namespace = '', name, tab = ''] }: PageProps) {
  const kind = kindsByKey.value.get(key);
  if (!kind) return <p class="empty">The server has no kind {key}.</p>;
  if (name === undefined)
    return <KindTable key={key} kind={kind} namespace={kind.namespaced ? scope.value : ''} />;
  const place = namespace === '-' ? '' : namespace;
  return <ObjectPage key={`${key}/${place}/${name}`} kind={kind} namespace={place} name={name} tab={tab} />;
}

export const kindPage: Page = { path: 'k', title: 'Objects', component: KindPage };
