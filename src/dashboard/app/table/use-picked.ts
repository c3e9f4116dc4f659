/** The selected rows of a table, as long as they exist. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { actionsOnSeveral } from '../actions/several/index.ts';
import { rulesVersion } from '../cluster/access.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { nonePicked, shareOf, stillThere, toggled, toggledAll, toggledRange } from './plan/picked.ts';
import type { SearchableRow } from './plan/searchable-row.ts';
import type { Picking } from './virtual-table.tsx';

const uidOf = ({ row }: SearchableRow): string => row.metadata.uid;

/**
 * Returns the selection among all rows, and what a table needs to show it; no `picking` if the user may not
 * act on any row.
 */
export function usePicked(
  kind: ApiKind,
  namespace: string,
  { all, rows }: { readonly all: readonly SearchableRow[]; readonly rows: readonly SearchableRow[] },
) {
  const state = useSignal(nonePicked);
  useEffect(() => {
    state.value = nonePicked;
  }, [kind, namespace]);
  const picked = useMemo(() => {
    if (state.value.uids.size === 0) return state.value;
    return stillThere(state.value, new Set(all.map(uidOf)));
  }, [state.value, all]);
  const order = useMemo(() => rows.map(uidOf), [rows]);
  const mayAct = useMemo(() => {
    const namespaces = new Set(all.map(({ row }) => row.metadata.namespace ?? ''));
    const places = [...namespaces].map((one) => ({ namespace: one }));
    return actionsOnSeveral(kind, places).length > 0;
  }, [kind, all, rulesVersion.value]);
  const share = useMemo(() => shareOf(picked, order), [picked, order]);
  const picking: Picking = {
    share,
    isPicked: (row) => picked.uids.has(uidOf(row)),
    onPick: (index, isRange) => {
      const uid = order[index];
      if (uid !== undefined) state.value = isRange ? toggledRange(picked, uid, order) : toggled(picked, uid);
    },
    onAll: () => {
      state.value = toggledAll(picked, order);
    },
  };
  const pickedRows = useMemo(
    () =>
      picked.uids.size === 0 ? [] : all.filter((row) => picked.uids.has(uidOf(row))).map(({ row }) => row),
    [picked, all],
  );
  const hidden = pickedRows.length - order.filter((uid) => picked.uids.has(uid)).length;
  const clear = () => {
    state.value = nonePicked;
  };
  return { picking: mayAct ? picking : undefined, pickedRows, hidden, clear };
}
