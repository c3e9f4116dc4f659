/** The rows of a live table that the address selects by its filter and orders. */
import { useMemo } from 'preact/hooks';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import type { LiveTable } from '../cluster/watch.ts';
import { place } from '../shell/router.ts';
import { isNarrow } from '../shell/screen.ts';
import { shownColumns } from './plan/columns.ts';
import { RowCache, selectedRows } from './plan/selected-rows.ts';
import { orderOf } from './plan/sort.ts';

export function useRows(kind: ApiKind, namespace: string, table: LiveTable) {
  const definitions = table.columns.value;
  const { items } = table.rows.value;
  const { query } = place.value;
  const filter = query.get('q') ?? '';
  const isWide = query.get('wide') === '1';
  const hasNamespaces = kind.namespaced && namespace === '';
  const cache = useMemo(() => new RowCache(), [kind, namespace]);
  const columns = useMemo(
    () => shownColumns({ columns: definitions, hasNamespaces, isWide, isNarrow: isNarrow.value }),
    [definitions, hasNamespaces, isWide, isNarrow.value],
  );
  const orderInAddress = query.get('sort') ?? '';
  const order = useMemo(() => orderOf(orderInAddress), [orderInAddress]);
  const all = useMemo(() => cache.of(definitions, items), [cache, definitions, items]);
  const rows = useMemo(() => selectedRows(all, filter, columns, order), [all, filter, columns, order]);
  return { filter, order, columns, all, rows };
}
