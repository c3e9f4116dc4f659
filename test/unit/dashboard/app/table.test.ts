import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rowEvent, rowOf } from '../../../../src/dashboard/app/cluster/plan/table-rows.ts';
import { shownColumns, widthsOf } from '../../../../src/dashboard/app/table/plan/columns.ts';
import { countHealth, healthOf } from '../../../../src/dashboard/app/table/plan/health.ts';
import { RowCache, selectedRows } from '../../../../src/dashboard/app/table/plan/selected-rows.ts';
import {
  nextOrder,
  orderOf,
  orderText,
  sorted,
  sortKeyOf,
} from '../../../../src/dashboard/app/table/plan/sort.ts';
import { scrollTo, windowOf } from '../../../../src/dashboard/app/table/plan/window.ts';

const columns = ['Name', 'Ready', 'Status', 'Restarts', 'IP'].map((name) => ({
  name,
  type: 'string',
  format: name === 'Name' ? 'name' : '',
  priority: name === 'IP' ? 1 : 0,
}));

const metadata = (name: string) => ({
  name,
  namespace: 'shop',
  uid: name,
  resourceVersion: '7',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

const table = (...rows: readonly (readonly string[])[]) => ({
  metadata: { resourceVersion: '9' },
  columnDefinitions: columns,
  rows: rows.map((cells) => ({ cells, object: { metadata: metadata(cells[0] ?? '') } })),
});

const rowsOf = ({ rows = [] }: ReturnType<typeof table>) => rows.map(rowOf);

describe('the order of cells', () => {
  const cases: readonly [smaller: unknown, greater: unknown][] = [
    [3, 12],
    ['3', '12'],
    ['90s', '2m5s'],
    ['5h3m', '2d'],
    ['500Mi', '1Gi'],
    ['50m', '90m'],
    ['1/3', '3/3'],
    ['2/2', '3/3'],
    ['1 (3m ago)', '12'],
    [false, true],
  ];
  for (const [smaller, greater] of cases)
    it(`puts ${smaller} before ${greater}`, () => {
      assert.deepEqual(sorted([greater, smaller], 'ascending', sortKeyOf), [smaller, greater]);
      assert.deepEqual(sorted([smaller, greater], 'descending', sortKeyOf), [greater, smaller]);
    });

  it('puts empty cells last in both directions', () => {
    for (const direction of ['ascending', 'descending'] as const)
      assert.equal(sorted(['<none>', 'b', 'a'], direction, sortKeyOf).at(-1), '<none>');
  });

  it('sorts texts by the numbers in them', () => {
    assert.deepEqual(sorted(['vm10', 'vm9'], 'ascending', sortKeyOf), ['vm9', 'vm10']);
  });

  it('is ascending after a click, descending after the second, and that of the server after the third', () => {
    const first = nextOrder(undefined, 'Age');
    const second = nextOrder(first, 'Age');
    assert.deepEqual(
      [orderText(first), orderText(second), nextOrder(second, 'Age')],
      ['Age', '-Age', undefined],
    );
    assert.deepEqual(orderOf('-Age'), second);
  });
});

describe('the window of a long table', () => {
  const viewport = { scrollTop: 0, height: 680, rowHeight: 34, count: 10_000 };

  it('has the rows in view, a few others, and the height of all rows', () => {
    for (const scrollTop of [0, 33, 34_000, 339_320, 1e9]) {
      const { first, end, above, below } = windowOf({ ...viewport, scrollTop });
      const top = Math.min(Math.floor(scrollTop / 34), 9_980);
      assert.ok(first <= top && end >= Math.min(top + 20, 10_000), `${scrollTop}`);
      assert.ok(end - first <= 60, `${end - first} rows are drawn`);
      assert.equal(above + below + (end - first) * 34, 340_000);
    }
  });

  it('scrolls to a row only if it is out of view', () => {
    assert.equal(scrollTo(5, { ...viewport, scrollTop: 100 }, 34), 100);
    assert.equal(scrollTo(1, { ...viewport, scrollTop: 100 }, 34), 34);
    assert.equal(scrollTo(100, viewport, 34), 100 * 34 + 34 + 34 - 680);
  });
});

describe('the health of a row', () => {
  const cases: readonly [cells: readonly string[], health: string | undefined][] = [
    [['a', '1/1', 'Running'], 'good'],
    [['a', '0/1', 'Running'], 'waiting'],
    [['a', '0/1', 'CrashLoopBackOff'], 'bad'],
    [['a', '0/1', 'Completed'], 'good'],
    [['a', '0/1', 'Init:0/2'], 'waiting'],
    [['a', '0/1', 'Init:Error'], 'bad'],
    [['a', '', 'Ready'], 'good'],
    [['a', '', 'NotReady'], 'bad'],
    [['a', '', 'Bound'], 'good'],
    [['a', '', 'Weird'], undefined],
  ];
  for (const [cells, health] of cases)
    it(`is ${health} for ${cells.slice(1).join(' ')}`, () => {
      assert.equal(healthOf(columns, cells), health);
    });

  it('is counted for all rows', () => {
    assert.deepEqual(countHealth([{ health: 'bad' }, { health: undefined }, { health: 'bad' }]), {
      good: 0,
      waiting: 0,
      bad: 2,
    });
  });
});

describe('a table', () => {
  it('shows only the name and the states on a narrow screen', () => {
    const names = (isNarrow: boolean, isWide: boolean) =>
      shownColumns({ columns, hasNamespaces: true, isWide, isNarrow }).map(({ name }) => name);
    assert.deepEqual(names(true, false), ['Name', 'Ready', 'Status']);
    assert.deepEqual(names(false, false), ['Name', 'Namespace', 'Ready', 'Status', 'Restarts']);
    assert.deepEqual(names(false, true), ['Name', 'Namespace', 'Ready', 'Status', 'Restarts', 'IP']);
  });

  it('selects rows by a filter, in the order of a column', () => {
    const rows = rowsOf(
      table(
        ['a', '1/1', 'Running', '12', '10.0.0.1'],
        ['b', '1/1', 'Running', '3', '10.0.0.2'],
        ['c', '0/1', 'Pending', '0', '<none>'],
      ),
    );
    const all = new RowCache().of(columns, rows);
    const shown = shownColumns({ columns, hasNamespaces: true, isWide: false, isNarrow: false });
    const names = (filter: string, order = '') =>
      selectedRows(all, filter, shown, orderOf(order)).map(({ row }) => row.metadata.name);
    assert.deepEqual(names('', 'Restarts'), ['c', 'b', 'a']);
    assert.deepEqual(
      selectedRows(all.toReversed(), '', shown, undefined).map(({ row }) => row.metadata.name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(names('is:ready', '-Restarts'), ['a', 'b']);
    assert.deepEqual(names('ip:10.0.0.2'), ['b']);
    assert.deepEqual(names('ns:shop not:ready'), ['c']);
    assert.ok(widthsOf(shown, all).every((width) => width >= 5));
  });

  it('prepares a row for searches once, as long as the columns are the same', () => {
    const cache = new RowCache();
    const rows = rowsOf(table(['a', '1/1', 'Running', '0', '']));
    assert.equal(cache.of(columns, rows)[0], cache.of(columns, rows)[0]);
    assert.notEqual(cache.of(columns, rows)[0], cache.of([...columns], rows)[0]);
  });

  it('turns the events of a watch into events of rows, and keeps the version of a bookmark', () => {
    const object = { apiVersion: '', kind: 'Table', ...table(['a', '1/1', 'Running', '0', '']) };
    const [added] = rowEvent({ type: 'ADDED', object: object as never });
    assert.equal(added?.object.metadata.name, 'a');
    assert.deepEqual(added?.object.cells[2], 'Running');
    const [bookmark] = rowEvent({
      type: 'BOOKMARK',
      object: { kind: 'Table', metadata: { resourceVersion: '12' }, rows: [] } as never,
    });
    assert.equal(bookmark?.object.metadata.resourceVersion, '12');
  });
});
