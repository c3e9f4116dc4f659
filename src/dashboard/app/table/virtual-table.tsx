/** A table of any number of rows: only those in view are in the document. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isNarrow, now } from '../shell/screen.ts';
import { textOf } from './plan/cells.ts';
import type { ShownColumn } from './plan/columns.ts';
import type { Share } from './plan/picked.ts';
import type { SearchableRow } from './plan/searchable-row.ts';
import type { Order } from './plan/sort.ts';
import { scrollTo, type Viewport, windowOf } from './plan/window.ts';

/** The selection of rows. */
export interface Picking {
  readonly share: Share;
  isPicked(row: SearchableRow): boolean;
  /** Selects or deselects the row of an index; with `isRange` also the rows since the last one. */
  onPick(index: number, isRange: boolean): void;
  /** Selects or deselects all rows. */
  onAll(): void;
}

interface Props {
  readonly label: string;
  readonly columns: readonly ShownColumn[];
  /** Widths of the columns in characters. */
  readonly widths: readonly number[];
  readonly rows: readonly SearchableRow[];
  readonly order: Order | undefined;
  readonly onOrder: (column: string) => void;
  readonly hrefOf: (row: SearchableRow) => string;
  /** Absent if rows cannot be selected. */
  readonly picking: Picking | undefined;
}

const rowHeights = { wide: 34, narrow: 44 } as const;
const rowHeight = () => (isNarrow.value ? rowHeights.narrow : rowHeights.wide);

/** Pixels of a character of the cells, and of the space around them. */
const characterWidth = 7.6;
const cellSpace = 30;
/** Pixels of the column by which rows are selected. */
const pickWidth = 52;

export function VirtualTable(props: Props) {
  const { label, columns, widths, rows } = props;
  const frame = useRef<HTMLElement>(null);
  const viewport = useSignal({ scrollTop: 0, height: 800 });
  const focused = useSignal(0);
  useLayoutEffect(
    () =>
      observe(frame.current, (size) => {
        viewport.value = size;
      }),
    [],
  );
  const whole: Viewport = { ...viewport.value, rowHeight: rowHeight(), count: rows.length };
  const shown = windowOf(whole);
  useEffect(() => frame.current?.scrollTo(0, 0), [props.order, label]);

  const moveTo = (index: number) => {
    const target = Math.max(0, Math.min(index, rows.length - 1));
    focused.value = target;
    frame.current?.scrollTo(0, scrollTo(target, whole, rowHeight()));
    focusWhenDrawn(frame.current, target);
  };
  const current = Math.min(focused.value, Math.max(0, rows.length - 1));
  const reachable = current >= shown.first && current < shown.end ? current : shown.first;
  const pickSpace = props.picking ? pickWidth : 0;
  const minWidth = widths.reduce((sum, width) => sum + width * characterWidth + cellSpace, pickSpace);
  return (
    <section class="rows" ref={frame} aria-label={label}>
      <table
        aria-rowcount={rows.length + 1}
        style={{ minWidth: isNarrow.value ? undefined : `${minWidth}px` }}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (event.key.toLowerCase() === 'x') pickFocused(event, props.picking);
          const step = stepOf(event.key, Math.floor(whole.height / whole.rowHeight) - 1);
          if (step === undefined) return;
          event.preventDefault();
          moveTo(current + step);
        }}
      >
        <colgroup>
          {props.picking && <col class="pick" />}
          {columns.map(({ name }, index) => (
            <col key={name} style={{ width: `${(widths[index] ?? 10) * characterWidth + cellSpace}px` }} />
          ))}
        </colgroup>
        <Head {...props} />
        <tbody>
          <Space key="above" height={shown.above} span={columns.length + (props.picking ? 1 : 0)} />
          {rows.slice(shown.first, shown.end).map((row, offset) => (
            <Row
              key={row.row.metadata.uid}
              row={row}
              index={shown.first + offset}
              columns={columns}
              href={props.hrefOf(row)}
              isReachable={shown.first + offset === reachable}
              picking={props.picking}
            />
          ))}
          <Space key="below" height={shown.below} span={columns.length + (props.picking ? 1 : 0)} />
        </tbody>
      </table>
    </section>
  );
}

/** Selects or deselects the row with the focus: `x` the row alone, `X` all rows since the last one. */
function pickFocused(
  event: { readonly target: EventTarget | null; readonly key: string },
  picking?: Picking,
) {
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>('tr[data-index]') : null;
  if (row) picking?.onPick(Number(row.dataset.index), event.key === 'X');
}

/** Maximum number of frames until a row is drawn after the table was scrolled to it. */
const drawnWithin = 30;

/** Moves the focus to a row as soon as it is in the document. */
function focusWhenDrawn(frame: HTMLElement | null, index: number, left = drawnWithin): void {
  const link = frame?.querySelector<HTMLElement>(`tr[data-index="${index}"] a`);
  if (link) link.focus({ preventScroll: true });
  else if (left > 0) requestAnimationFrame(() => focusWhenDrawn(frame, index, left - 1));
}

/** Reports the scroll position and the height of an element; returns a function that ends this. */
function observe(
  element: HTMLElement | null,
  report: (size: { readonly scrollTop: number; readonly height: number }) => void,
): () => void {
  if (!element) return () => undefined;
  const read = () => report({ scrollTop: element.scrollTop, height: element.clientHeight });
  const observer = new ResizeObserver(read);
  observer.observe(element);
  element.addEventListener('scroll', read, { passive: true });
  read();
  return () => {
    observer.disconnect();
    element.removeEventListener('scroll', read);
  };
}

/** Returns by how many rows a key moves. */
function stepOf(key: string, page: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  };
  return Object.hasOwn(steps, key) ? steps[key] : undefined;
}

const Space = ({ height, span }: { readonly height: number; readonly span: number }) => (
  <tr class="space">
    <td colSpan={span} style={{ height: `${height}px` }} />
  </tr>
);

function Head({ columns, order, onOrder, picking }: Props) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {picking && (
          <th scope="col" class="pick">
            <label>
              <span class="hidden-label">Select all rows that are shown</span>
              <input
                type="checkbox"
                checked={picking.share === 'all'}
                indeterminate={picking.share === 'some'}
                onClick={() => picking.onAll()}
              />
            </label>
          </th>
        )}
        {columns.map(({ name, description }) => {
          const direction = order?.column === name ? order.direction : undefined;
          return (
            <th key={name} scope="col" aria-sort={direction ?? 'none'}>
              <button type="button" title={description} onClick={() => onOrder(name)}>
                {name}
                <span aria-hidden="true">
                  {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
                </span>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

interface RowProps {
  readonly row: SearchableRow;
  readonly index: number;
  readonly columns: readonly ShownColumn[];
  readonly href: string;
  /** True for the one row whose link the Tab key reaches; the arrow keys lead to the others. */
  readonly isReachable: boolean;
  readonly picking: Picking | undefined;
}

function Row({ row, index, columns, href, isReachable, picking }: RowProps) {
  const { metadata } = row.row;
  const isPicked = picking?.isPicked(row) === true;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  return (
    <tr
      aria-rowindex={index + 2}
      data-index={index}
      class={[isLeaving ? 'leaving' : '', isPicked ? 'picked' : ''].join(' ').trim() || undefined}
    >
      {picking && (
        <td class="pick">
          <label>
            <span class="hidden-label">Select {metadata.name}</span>
            <input
              type="checkbox"
              checked={isPicked}
              tabIndex={isReachable ? 0 : -1}
              onClick={(event) => picking.onPick(index, event.shiftKey)}
            />
          </label>
        </td>
      )}
      {columns.map((column) => (
        <td key={column.name}>
          {column.format === 'name' ? (
            <a href={href} tabIndex={isReachable ? 0 : -1} title={metadata.name}>
              {metadata.name}
            </a>
          ) : (
            <Cell column={column} row={row} />
          )}
        </td>
      ))}
    </tr>
  );
}

const stateColumns = new Set(['status', 'phase', 'state']);

function Cell({ column, row }: { readonly column: ShownColumn; readonly row: SearchableRow }) {
  const text = textOf(column, row.row, now.value);
  if (text === '<none>' || text === '') return <span class="none">–</span>;
  if (row.health !== undefined && stateColumns.has(column.name.toLowerCase())) {
    return (
      <span class="state" title={text}>
        <span class={`dot ${row.health}`} aria-hidden="true" />
        {text}
      </span>
    );
  }
  return <span title={text.length > 30 ? text : undefined}>{text}</span>;
}
