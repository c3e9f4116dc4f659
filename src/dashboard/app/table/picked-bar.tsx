/** The bar above a table with the number of selected rows and the actions on them. */
import { useMemo } from 'preact/hooks';
import { actionsOnSeveral } from '../actions/several/index.ts';
import { rulesVersion } from '../cluster/access.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import type { TableRow } from '../cluster/plan/table-rows.ts';
import { orNotify } from '../shell/dialog.tsx';

interface Props {
  readonly kind: ApiKind;
  /** The selected rows; they are in the table, but the filter may hide some. */
  readonly rows: readonly TableRow[];
  readonly hidden: number;
  readonly clear: () => void;
}

export function PickedBar({ kind, rows, hidden, clear }: Props) {
  const places = useMemo(() => rows.map(({ metadata }) => metadata), [rows]);
  const actions = useMemo(() => actionsOnSeveral(kind, places), [kind, places, rulesVersion.value]);
  return (
    <section class="picked-bar" aria-label="Actions on the selected rows">
      <span role="status">
        {rows.length.toLocaleString('en')} selected
        {hidden > 0 && `, ${hidden.toLocaleString('en')} of them hidden by the filter`}
      </span>
      {actions.map((action) => (
        <button
          key={action.title}
          type="button"
          class={action.isDangerous ? 'danger' : undefined}
          onClick={() => void orNotify(() => action.run(kind, rows))}
        >
          {action.title}
        </button>
      ))}
      <button type="button" onClick={clear}>
        Clear the selection
      </button>
    </section>
  );
}
