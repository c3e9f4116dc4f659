import { computed } from '@preact/signals';
import { may } from '../cluster/access.ts';
import { kinds } from '../cluster/kinds.ts';
import { kindHref } from '../shell/plan/addresses.ts';
import { namespace } from '../shell/scope.ts';
import type { Page } from './page.ts';

const listed = computed(() => kinds.value.filter((kind) => may('list', kind, namespace.value)));

function Overview() {
  return (
    <section class="page">
      <h1>Kinds</h1>
      <ul class="kind-list">
        {listed.value.map((kind) => (
          <li key={kind.key}>
            <a href={kindHref(kind.key)}>{kind.kind}</a>
            <span class="faint">{kind.group || 'core'}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export const overviewPage: Page = { path: '', title: 'Overview', group: 'Cluster', component: Overview };
