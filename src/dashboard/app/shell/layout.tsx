import { useSignalEffect } from '@preact/signals';
import { kinds } from '../cluster/kinds.ts';
import { pageAt } from '../pages/index.ts';
import { PalettePlace } from '../palette/palette.tsx';
import { isPaletteOpen } from '../palette/state.ts';
import { DialogPlace, Notices } from './dialog.tsx';
import { Icon, icons, Logo } from './icon.tsx';
import { pageHref } from './plan/addresses.ts';
import { place } from './router.ts';
import { isNarrow } from './screen.ts';
import { isSideOpen, Side } from './side.tsx';

/** The bar above the page on a narrow screen. */
function Bar() {
  return (
    <header class="bar">
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Pages and kinds"
        aria-expanded={isSideOpen.value}
        onClick={() => {
          isSideOpen.value = true;
        }}
      >
        <Icon path={icons.menu} />
      </button>
      <a class="brand" href={pageHref('')}>
        <Logo />
        minik8s
      </a>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Search or act"
        onClick={() => {
          isPaletteOpen.value = true;
        }}
      >
        <Icon path={icons.search} />
      </button>
    </header>
  );
}

function Content() {
  const [path = '', ...rest] = place.value.segments;
  const page = pageAt(path);
  if (kinds.value.length === 0) return <p class="empty pulse">Loading…</p>;
  return page ? <page.component rest={rest} /> : <p class="empty">There is no page {path}.</p>;
}

/** The frame of all pages: navigation and the page of the address. */
export function Layout() {
  useSignalEffect(() => {
    place.value;
    isSideOpen.value = false;
  });
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      {isNarrow.value && <Bar />}
      <Side />
      {isSideOpen.value && (
        <button
          type="button"
          class="cover"
          aria-label="Close the navigation"
          onClick={() => {
            isSideOpen.value = false;
          }}
        />
      )}
      <div class="content">
        <main id="main" tabIndex={-1}>
          <Content />
        </main>
      </div>
      <PalettePlace />
      <DialogPlace />
      <Notices />
    </div>
  );
}
