/** The table of any kind, custom ones too. */
import { kindsByKey } from '../cluster/kinds.ts';
import { namespace } from '../shell/scope.ts';
import { KindTable } from '../table/kind-table.tsx';
import type { Page, PageProps } from './page.ts';

function KindPage({ rest: [key = ''] }: PageProps) {
  const kind = kindsByKey.value.get(key);
  if (!kind) return <p class="empty">The server has no kind {key}.</p>;
  return <KindTable key={kind.key} kind={kind} namespace={kind.namespaced ? namespace.value : ''} />;
}

export const kindPage: Page = { path: 'k', title: 'Objects', component: KindPage };
