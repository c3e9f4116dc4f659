import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecord, type JsonObject } from '../../../../src/apimachinery/equality.ts';
import { columnsOfFile } from '../../../../src/cli/printers/custom-columns.ts';
import { objectFormat } from '../../../../src/cli/printers/object-format.ts';
import { headerOf, readTable, rowsOf, type TableView } from '../../../../src/cli/printers/server-table.ts';
import { sortBy } from '../../../../src/cli/printers/sort-by.ts';
import { cellText, TableWriter } from '../../../../src/cli/printers/table-writer.ts';

test('columns are three apart and at least six wide; the last one is not padded', () => {
  const text = new TableWriter().format([
    ['A', 'NAME', 'LAST'],
    ['x', 'a-long-name', ''],
    ['ü', 'b', 'end'],
  ]);
  assert.equal(text, 'A     NAME          LAST\nx     a-long-name   \nü     b             end\n');
});

test('the rows of a watch keep the columns of the headers; a longer value widens its column', () => {
  const writer = new TableWriter();
  assert.equal(
    writer.format([
      ['NAME', 'AGE'],
      ['long-one', '1s'],
    ]),
    'NAME       AGE\nlong-one   1s\n',
  );
  assert.equal(writer.format([['b', '2s']]), 'b          2s\n');
  assert.equal(writer.format([['even-longer-one', '2s']]), 'even-longer-one   2s\n');
});

const cells: [value: unknown, text: string][] = [
  ['x', 'x'],
  [0, '0'],
  [true, 'true'],
  [null, '<none>'],
  ['one\ntwo', 'one...'],
  ['one\rtwo', 'one...'],
  [{ a: 1 }, '{"a":1}'],
];
for (const [value, text] of cells)
  test(`the cell of ${JSON.stringify(value)} shows ${text}`, () => assert.equal(cellText(value), text));

const table = {
  kind: 'Table',
  columnDefinitions: [
    { name: 'Name', format: 'name', priority: 0 },
    { name: 'Ready', priority: 0 },
    { name: 'IP', priority: 1 },
  ],
  rows: [
    {
      cells: ['web', '1/1', '10.0.0.1'],
      object: { metadata: { name: 'web', namespace: 'default', labels: { b: '2', 'x.io/a': '1' } } },
    },
  ],
};
const plain: TableView = {
  wide: false,
  withNamespace: false,
  showLabels: false,
  labelColumns: [],
  kindPrefix: '',
};
const views: [view: Partial<TableView>, header: string, row: string][] = [
  [{}, 'NAME READY', 'web 1/1'],
  [{ wide: true }, 'NAME READY IP', 'web 1/1 10.0.0.1'],
  [{ withNamespace: true }, 'NAMESPACE NAME READY', 'default web 1/1'],
  [{ kindPrefix: 'deployment.apps' }, 'NAME READY', 'deployment.apps/web 1/1'],
  [{ showLabels: true }, 'NAME READY LABELS', 'web 1/1 b=2,x.io/a=1'],
  [{ labelColumns: ['x.io/a', 'c'] }, 'NAME READY A C', 'web 1/1 1 '],
];
for (const [view, header, row] of views) {
  test(`a table with the view ${JSON.stringify(view)} has the header ${header}`, () => {
    const read = readTable(table, 0);
    assert.equal(headerOf(read, { ...plain, ...view }).join(' '), header);
    assert.equal(rowsOf(read, { ...plain, ...view })[0]?.join(' '), row);
  });
}

test('objects of a server without tables are shown by name and age', () => {
  const object = { metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' } };
  const read = readTable({ kind: 'ThingList', items: [object] }, Date.UTC(2026, 0, 1, 0, 5));
  assert.deepEqual(
    [headerOf(read, plain), ...rowsOf(read, plain)],
    [
      ['NAME', 'AGE'],
      ['x', '5m'],
    ],
  );
});

const object = {
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'web' },
  spec: { b: 1, a: 'yes' },
};
const formats: [output: string, text: string][] = [
  ['name', 'deployment.apps/web\n'],
  ['yaml', 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  a: "yes"\n  b: 1\n'],
  ['jsonpath={.spec.b}', '1'],
  ['jsonpath-as-json={.spec.b}', '[\n    1\n]\n'],
  ['custom-columns=NAME:.metadata.name,X:.spec.x', 'NAME   X\nweb    <none>\n'],
];
for (const [output, text] of formats) {
  test(`-o ${output} prints ${JSON.stringify(text)}`, () =>
    assert.equal(objectFormat(output)?.(object), text));
}
test('-o json is indented by four, with sorted keys', () => {
  const text = objectFormat('json')?.(object) ?? '';
  assert.deepEqual(JSON.parse(text), object);
  assert.match(text, /^\{\n {4}"apiVersion": "apps\/v1",\n {4}"kind"[\s\S]*"a": "yes",\n {8}"b": 1/);
});
test('a tab in a cell ends it and a line break ends its line, as kubectl aligns them', () => {
  // kubectl 1.32 printed these lines.
  const writer = new TableWriter();
  const rows = [
    ['plain', 'one'],
    ['tab\there', 'two'],
    ['new\nline', 'three'],
    ['', 'four'],
    ['long long long', 'five'],
  ];
  assert.equal(
    writer.format(rows, ['A', 'N']),
    'A       N\n' +
      'plain   one\n' +
      'tab     here   two\n' +
      'new\n' +
      'line             three\n' +
      '                 four\n' +
      'long long long   five\n',
  );
  assert.equal(writer.format([['x', 'y']]), 'x                y\n', 'later rows keep the widths');
});

test('the headers of custom columns are printed once, and later objects below them', () => {
  const columns = objectFormat('custom-columns=NAME:.metadata.name,SPEC:.spec,X:');
  assert.equal(
    columns?.({ items: [object, { metadata: { name: 'other' }, spec: [1, null, 'a b', { c: true }] }] }),
    'NAME    SPEC                        X\n' +
      'web     map[a:yes b:1]              <none>\n' +
      'other   [1 <nil> a b map[c:true]]   <none>\n',
  );
  assert.equal(columns?.(object), 'web     map[a:yes b:1]              <none>\n');
  const bare = objectFormat('custom-columns=:.metadata.name', { noHeaders: true });
  assert.equal(bare?.(object), 'web\n');
});

for (const [text, columns] of [
  [
    'A  B\n.a\t{.b}\n',
    [
      { header: 'A', field: '.a' },
      { header: 'B', field: '{.b}' },
    ],
  ],
  ['', undefined],
  ['A B\n.a\n', undefined],
] as const)
  test(`a file of columns with ${JSON.stringify(text)} is ${columns ? 'read' : 'rejected'}`, () => {
    const read = () => columnsOfFile(text, 'f');
    if (columns) assert.deepEqual(read(), columns);
    else assert.throws(read, { name: 'UsageError', message: /^f: expected one line/ });
  });

for (const [values, sorted] of [
  [
    ['c10', 'c9', 'b'],
    ['b', 'c10', 'c9'],
  ],
  [
    ['2Gi', '100Mi', '1Gi'],
    ['100Mi', '1Gi', '2Gi'],
  ],
  [
    [10, 9, -1, undefined],
    [undefined, -1, 9, 10],
  ],
  [
    [true, false],
    [false, true],
  ],
  [
    [['b'], ['a', 'z'], ['a']],
    [['a'], ['a', 'z'], ['b']],
  ],
] as const)
  test(`the values ${JSON.stringify(values)} are sorted as ${JSON.stringify(sorted)}`, () => {
    const list: JsonObject[] = values.map((value) => (value === undefined ? {} : { at: { value } }));
    sortBy(list, '.at.value', (item) => item);
    assert.deepEqual(
      list.map(({ at }) => (isRecord(at) ? at.value : undefined)),
      sorted,
    );
  });

for (const output of [
  'xml',
  'json=x',
  'jsonpath',
  'custom-columns=NAME',
  'custom-columns-file=/nonexistent',
]) {
  test(`-o ${output} is rejected`, () => assert.throws(() => objectFormat(output), { name: 'UsageError' }));
}
