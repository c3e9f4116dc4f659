/** The commands that the palette finds besides objects: pages, recent objects, and settings of the app. */
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import { session, signOut } from '../cluster/session.ts';
import { watchAll } from '../cluster/watch.ts';
import { pages } from '../pages/index.ts';
import type { Command } from '../pages/page.ts';
import { pageHref } from '../shell/plan/addresses.ts';
import { navigate } from '../shell/router.ts';
import { namespace } from '../shell/scope.ts';
import { isShown } from '../shell/shown-pages.ts';
import { theme } from '../shell/theme.ts';
import { recent, recentHref } from './recent.ts';

export function commands(): readonly Command[] {
  return [
    ...recent.value.map((each) => ({
      title: each.name,
      words: kindsByKey.value.get(each.key)?.kind ?? each.key,
      run: () => navigate(recentHref(each)),
    })),
    ...pages.filter(isShown).map(({ title, path }) => ({
      title,
      words: 'page go to',
      run: () => navigate(pageHref(path)),
    })),
    ...pages.filter(isShown).flatMap((page) => page.commands?.() ?? []),
    ...namespaceCommands(),
    ...(['system', 'light', 'dark'] as const).map((choice) => ({
      title: `Colors: ${choice}`,
      words: 'theme mode',
      run: () => {
        theme.value = choice;
      },
    })),
    ...(session.value.state === 'signed in' ? [{ title: 'Sign out', words: 'log out', run: signOut }] : []),
  ];
}

function namespaceCommands(): Command[] {
  const kind = kindsByKey.value.get('namespaces');
  if (!kind || !may('list', kind)) return [];
  const names = watchAll(kind, { metadataOnly: true }).value.items.map(({ metadata }) => metadata.name);
  return ['', ...names].map((name) => ({
    title: name === '' ? 'All namespaces' : `Namespace ${name}`,
    words: 'switch scope',
    run: () => {
      namespace.value = name;
    },
  }));
}
