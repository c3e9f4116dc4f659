/** The live table of a kind, with a filter and an order that are part of the address. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import type { TableColumn } from '../cluster/plan/table-rows.ts';
import { watchTable } from '../cluster/watch.ts';
import { objectHref } from '../shell/plan/addresses.ts';
import { titleOf } from '../shell/plan/kind-groups.ts';
import { place, replaceQuery } from '../shell/router.ts';
import { ScopeChoice } from '../shell/scope-choice.tsx';
import { isNarrow } from '../shell/screen.ts';
import { PickedBar } from './picked-bar.tsx';
import { widthsOf } from './plan/columns.ts';
import { countHealth } from './plan/health.ts';
import type { SearchableRow } from './plan/searchable-row.ts';
import { nextOrder, orderText } from './plan/sort.ts';
import { usePicked } from './use-picked.ts';
import { useRows } from './use-rows.ts';
import { type Picking, VirtualTable } from './virtual-table.tsx';

interface Props {
  readonly kind: ApiKind;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

export function KindTable({ kind, namespace }: Props) {
  const table = useMemo(() => watchTable(kind, { namespace }), [kind, namespace]);
  const { items, synced, error, refused } = table.rows.value;
  const selected = useRows(kind, namespace, table);
  const { picking, pickedRows, hidden, clear } = usePicked(kind, namespace, selected);
  const title = titleOf(kind);
  useEffect(() => {
    document.title = `${title} · minik8s`;
  }, [title]);
  return (
    <div class="page filled">
      <div class="head">
        <h1>{title}</h1>
        <span class="count" role="status">
          {synced ? countText(selected.rows.length, items.length) : 'Loading…'}
        </span>
        <States filter={selected.filter} rows={selected.all} />
        <span class="grow" />
        <Filter key={kind.key} value={selected.filter} />
        {kind.namespaced && <ScopeChoice />}
        <WideChoice columns={table.columns.value} />
      </div>
      {error !== undefined && (
        <p class={refused ? 'notice bad' : 'notice'} role="alert">
          {refused ? refusalText(title, namespace, error) : `The connection is lost. Trying again: ${error}`}
        </p>
      )}
      {picking && pickedRows.length > 0 && (
        <PickedBar kind={kind} rows={pickedRows} hidden={hidden} clear={clear} />
      )}
      {!refused && <Rows kind={kind} isSynced={synced} picking={picking} {...selected} />}
    </div>
  );
}

interface RowsProps extends ReturnType<typeof useRows> {
  readonly kind: ApiKind;
  readonly isSynced: boolean;
  readonly picking: Picking | undefined;
}

function Rows({ kind, isSynced, picking, filter, order, columns, all, rows }: RowsProps) {
  const widths = useMemo(() => widthsOf(columns, all), [columns, all]);
  const title = titleOf(kind);
  if (isSynced && rows.length === 0)
    return <p class="empty">{filter === '' ? `No ${title} here.` : `Nothing here matches ${filter}`}</p>;
  return (
    <VirtualTable
      label={title}
      columns={columns}
      widths={widths}
      rows={rows}
      order={order}
      picking={picking}
      onOrder={(column) => replaceQuery({ sort: orderText(nextOrder(order, column)) })}
      hrefOf={({ row: { metadata } }) => objectHref(kind.key, metadata.namespace ?? '', metadata.name)}
    />
  );
}

/** Returns why nothing is shown; a user who may not list all namespaces has to choose one. */
const refusalText = (title: string, namespace: string, error: string): string =>
  namespace === '' ? `${error}. If you may see the ${title} of one namespace, choose it above.` : error;

const states = [
  { health: 'bad', title: 'in trouble' },
  { health: 'waiting', title: 'not ready yet' },
] as const;

/** The numbers of rows with problems and of rows that are not ready yet; a click shows only these rows. */
function States({ filter, rows }: { readonly filter: string; readonly rows: readonly SearchableRow[] }) {
  const counts = useMemo(() => countHealth(rows), [rows]);
  return (
    <>
      {states
        .filter(({ health }) => counts[health] > 0)
        .map(({ health, title }) => {
          const own = `is:${health}`;
          return (
            <button
              key={health}
              type="button"
              class="state-filter"
              aria-pressed={filter === own}
              onClick={() => replaceQuery({ q: filter === own ? '' : own })}
            >
              <span class={`dot ${health}`} aria-hidden="true" />
              {counts[health].toLocaleString('en')} {title}
            </button>
          );
        })}
    </>
  );
}

/** Lets the user show the columns of low priority too; absent on a narrow screen. */
function WideChoice({ columns }: { readonly columns: readonly TableColumn[] }) {
  if (isNarrow.value || !columns.some(({ priority = 0 }) => priority > 0)) return null;
  return (
    <label class="scope">
      <input
        type="checkbox"
        checked={place.value.query.get('wide') === '1'}
        onChange={(event) => replaceQuery({ wide: event.currentTarget.checked ? '1' : '' })}
      />
      All columns
    </label>
  );
}

const countText = (shown: number, all: number) =>
  shown === all ? all.toLocaleString('en') : `${shown.toLocaleString('en')} of ${all.toLocaleString('en')}`;

/** The field that filters the rows; `/` moves the cursor there. */
function Filter({ value }: { readonly value: string }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey)
        return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  return (
    <div class="filter">
      <input
        ref={input}
        type="search"
        aria-label="Filter the rows"
        placeholder="Filter: word, not:ready, node:vm2, app=web"
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => replaceQuery({ q: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') replaceQuery({ q: '' });
        }}
      />
    </div>
  );
}
