/** The place in the app as a signal, and navigation between places without loading the page again. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { base, type Place, placeOf } from './plan/addresses.ts';

const current = signal<Place>(placeOf(location.pathname, location.search));

export const place: ReadonlySignal<Place> = current;

function read(): void {
  current.value = placeOf(location.pathname, location.search);
}

export function navigate(href: string): void {
  history.pushState(null, '', href);
  read();
  document.getElementById('main')?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Changes the query of the address without a new entry in the history; '' removes a value. */
export function replaceQuery(values: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  history.replaceState(null, '', location.pathname + (query.size > 0 ? `?${query}` : ''));
  read();
}

/** Makes links of the app open without loading the page; the browser handles clicks with modifier keys. */
export function followLinks(): void {
  addEventListener('popstate', read);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || !isPlain(event) || !isOwn(link)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

const isPlain = ({ defaultPrevented, button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  !defaultPrevented && button === 0 && ![metaKey, ctrlKey, shiftKey, altKey].includes(true);

/** Returns whether a link leads to a page of the app, in the same window. */
const isOwn = (link: HTMLAnchorElement): boolean =>
  link.target === '' &&
  !link.hasAttribute('download') &&
  link.origin === location.origin &&
  link.pathname.startsWith(`${base}/`) &&
  link.getAttribute('href')?.startsWith('#') === false;
