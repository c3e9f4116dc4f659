/** Decides which pages of the navigation the user sees. */
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import type { Page } from '../pages/page.ts';
import { namespace } from './scope.ts';

export function isShown(page: Page): boolean {
  if (page.group === undefined) return false;
  if (page.needs === undefined) return true;
  const kind = kindsByKey.value.get(page.needs);
  return kind !== undefined && may('list', kind, namespace.value);
}
