import { kinds } from '../cluster/kinds.ts';
import { pageAt, pages } from '../pages/index.ts';
import { pageHref } from './plan/addresses.ts';
import { place } from './router.ts';
import { nextTheme, theme } from './theme.ts';

/** The frame of all pages: navigation, head and the page of the address. */
export function Layout() {
  const [path = '', ...rest] = place.value.segments;
  const page = pageAt(path);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <nav aria-label="Pages">
        {pages
          .filter(({ group }) => group !== undefined)
          .map((each) => (
            <a key={each.path} href={pageHref(each.path)} aria-current={each === page ? 'page' : undefined}>
              {each.title}
            </a>
          ))}
        <button type="button" onClick={nextTheme}>
          Colors: {theme}
        </button>
      </nav>
      <main id="main" tabIndex={-1}>
        {kinds.value.length === 0 ? (
          <p class="faint">Loading…</p>
        ) : page ? (
          <page.component rest={rest} />
        ) : (
          <p>There is no page {path}.</p>
        )}
      </main>
    </div>
  );
}
