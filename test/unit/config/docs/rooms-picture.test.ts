/** Picture of the folders of src/: docs/pictures/rooms.svg, which `npm run docs:rooms` writes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { layoutOf, reduced, rowsOf } from '../../../../config/docs/layered-graph.ts';
import { graphOf, roomsPicture } from '../../../../config/docs/rooms-picture.ts';
import { importsIn, importsOf, sourceFiles } from '../../../fixtures/imports.ts';

const root = join(import.meta.dirname, '../../../..');
const graph = (arrows: Record<string, string[]>) =>
  new Map(Object.entries(arrows).map(([source, targets]) => [source, new Set(targets)]));

describe('docs/pictures/rooms.svg', () => {
  const imports = importsIn(sourceFiles());

  it('is the output of npm run docs:rooms', () => {
    const committed = readFileSync(join(root, 'docs/pictures/rooms.svg'), 'utf8');
    assert.ok(committed === roomsPicture(imports), 'the imports have changed: run npm run docs:rooms');
  });

  it('shows each folder of src/ once, in boxes that do not overlap', () => {
    const whole = reduced(graphOf(imports));
    const { rows } = layoutOf(whole, (name) => 20 + 9 * name.length);
    const names = rows.flat().flatMap(({ name }) => name ?? []);
    assert.deepEqual(names.toSorted(), [...whole.keys()]);
    for (const row of rows)
      for (const [index, cell] of row.entries()) {
        const next = row[index + 1];
        assert.ok(!next || cell.x + cell.width / 2 < next.x - next.width / 2);
      }
  });
});

describe('the graph of the folders', () => {
  it('has an arrow for an import of another folder, and none for imports within a folder or of a package', () => {
    const imports = importsOf(
      'src/kubelet/pods/a.ts',
      "import '../node/b.ts';\nimport type { C } from '../../base/c.ts';\nimport 'yaml';",
    );
    assert.deepEqual(graphOf(imports), graph({ base: [], kubelet: ['base'] }));
  });

  it('leaves out an arrow that follows from other arrows, even over a long path', () => {
    assert.deepEqual(
      reduced(graph({ a: ['b', 'd'], b: ['c'], c: ['d'], d: [] })),
      graph({ a: ['b'], b: ['c'], c: ['d'], d: [] }),
    );
  });

  it('has each folder one row above the highest that it imports', () => {
    const rows = rowsOf(graph({ a: ['b', 'd'], b: ['c'], c: [], d: [] }));
    assert.deepEqual(Object.fromEntries(rows), { a: 2, b: 1, c: 0, d: 0 });
  });

  it('draws an arrow through each row between its ends', () => {
    const { arrows } = layoutOf(graph({ a: ['b', 'd'], b: ['c'], c: [], d: [] }), () => 10);
    assert.deepEqual(
      arrows.map((cells) => cells.map(({ row }) => row)),
      [
        [2, 1],
        [2, 1, 0],
        [1, 0],
      ],
    );
  });
});
