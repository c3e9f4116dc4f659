/** The one list of the app's pages. */
import { kindPage } from './kind.tsx';
import { overviewPage } from './overview.tsx';
import type { Page } from './page.ts';

export const pages: readonly Page[] = [overviewPage, kindPage];

export const pageAt = (path: string): Page | undefined => pages.find((page) => page.path === path);
