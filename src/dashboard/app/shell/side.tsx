/** The navigation: pages, and the kinds that the user may list. */
import { computed, signal } from '@preact/signals';
import { may } from '../cluster/access.ts';
import { kinds } from '../cluster/kinds.ts';
import { type Session, session, signOut } from '../cluster/session.ts';
import { pages } from '../pages/index.ts';
import { pageGroups } from '../pages/page.ts';
import { isPaletteOpen } from '../palette/state.ts';
import { Icon, icons, Logo } from './icon.tsx';
import { kindHref, pageHref } from './plan/addresses.ts';
import { kindGroups, titleOf } from './plan/kind-groups.ts';
import { place } from './router.ts';
import { namespace } from './scope.ts';
import { shortcutKey } from './screen.ts';
import { isShown } from './shown-pages.ts';
import { nextTheme, theme } from './theme.ts';

/** True while the navigation covers a narrow screen. */
export const isSideOpen = signal(false);

const groups = computed(() =>
  kindGroups(kinds.value.filter((kind) => kind.verbs.includes('list') && may('list', kind, namespace.value))),
);

/** Headings whose kinds are shown at first. */
const open = new Set(['Workloads', 'minik8s', 'Network', 'Configuration', 'Storage', 'Cluster', 'Custom']);

function PageLinks({ current }: { readonly current: string }) {
  const shown = pages.filter(isShown);
  return (
    <>
      {pageGroups
        .map((title) => ({ title, list: shown.filter(({ group }) => group === title) }))
        .filter(({ list }) => list.length > 0)
        .map(({ title, list }) => (
          <div key={title}>
            <h2>{title}</h2>
            {list.map((page) => (
              <a
                key={page.path}
                href={pageHref(page.path)}
                aria-current={page.path === current ? 'page' : undefined}
              >
                {page.icon && <Icon path={page.icon} />}
                {page.title}
              </a>
            ))}
          </div>
        ))}
    </>
  );
}

function KindLinks({ current }: { readonly current: string | undefined }) {
  return (
    <>
      {groups.value.map(({ title, kinds: list }) => (
        <details key={title} open={open.has(title) || list.some(({ key }) => key === current)}>
          <summary>{title}</summary>
          {list.map((kind) => (
            <a
              key={kind.key}
              href={kindHref(kind.key)}
              title={kind.group === '' ? undefined : kind.group}
              aria-current={kind.key === current ? 'page' : undefined}
            >
              {titleOf(kind)}
            </a>
          ))}
        </details>
      ))}
    </>
  );
}

const themeIcons = { system: icons.screen, light: icons.sun, dark: icons.moon } as const;

function userOf(current: Session): string {
  if (current.state === 'signed in') return current.identity.user;
  return (current.state === 'by proxy' && current.user) || 'by proxy';
}

function SideFoot() {
  const current = session.value;
  return (
    <div class="side-foot">
      <span class="user">{userOf(current)}</span>
      <button
        type="button"
        class="quiet icon-only"
        aria-label={`Colors: ${theme.value}. Change them`}
        title={`Colors: ${theme.value}`}
        onClick={nextTheme}
      >
        <Icon path={themeIcons[theme.value]} />
      </button>
      {current.state === 'signed in' && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Sign out"
          title="Sign out"
          onClick={() => void signOut()}
        >
          <Icon path={icons.out} />
        </button>
      )}
    </div>
  );
}

export function Side() {
  const [path = '', key] = place.value.segments;
  return (
    <div class={isSideOpen.value ? 'side open' : 'side'}>
      <a class="brand" href={pageHref('')}>
        <Logo />
        minik8s
      </a>
      <button
        type="button"
        class="search-button"
        onClick={() => {
          isPaletteOpen.value = true;
        }}
      >
        <Icon path={icons.search} />
        Search or act
        <kbd>{shortcutKey} K</kbd>
      </button>
      <nav class="side-pages" aria-label="Pages and kinds">
        <PageLinks current={path} />
        <KindLinks current={path === 'k' ? key : undefined} />
      </nav>
      <SideFoot />
    </div>
  );
}
